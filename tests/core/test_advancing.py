"""How far a long loop is: told by the outermost, forgotten at its end."""

from __future__ import annotations

from mlcli.core.advancing import Advancing


def test_the_outermost_loop_says_how_far_it_is() -> None:
    known, seen = Advancing(), []
    for _ in known.over(range(4)):
        seen.append(known.share)
        for _ in known.over(range(100)):
            assert known.share == seen[-1]
    assert seen == [0.0, 0.25, 0.5, 0.75]
    assert known.share is None


def test_a_loop_that_breaks_is_forgotten() -> None:
    known = Advancing()
    loop = known.over(range(3))
    next(loop)
    loop.close()
    assert known.share is None
