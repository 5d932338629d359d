"""Who waits is told once that kernels are compiled, and by the outermost of long loops how far it is."""

from __future__ import annotations

import pytest

from mlcli.core import progress as module
from mlcli.core.progress import Advancing, Compiling


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    times: list[float] = []
    monkeypatch.setattr(module, "perf_counter", lambda: times.pop(0) if len(times) > 1 else times[0])
    return times


def test_a_kernel_within_a_kernel_is_counted_once_and_told_once(clock: list[float]) -> None:
    told: list[str] = []
    compiling = Compiling()
    compiling.on_long = lambda: told.append("long")
    clock[:] = [0.0]
    compiling.begin()
    clock[:] = [0.5]
    compiling.begin()
    assert told == []
    clock[:] = [1.5]
    compiling.end()
    clock[:] = [2.0]
    compiling.end()
    assert (told, compiling.seconds) == (["long"], 2.0)


def test_what_is_quick_is_not_told(clock: list[float]) -> None:
    told: list[str] = []
    compiling = Compiling()
    compiling.on_long = lambda: told.append("long")
    for start in (0.0, 5.0):
        clock[:] = [start]
        compiling.begin()
        clock[:] = [start + 0.4]
        compiling.end()
    assert told == []
    assert compiling.seconds == pytest.approx(0.8)


def test_the_clock_of_work_stands_still_while_kernels_are_loaded(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "loading", Compiling())
    clock[:] = [1.0]
    before = module.seconds_of_work()
    with module.loading:
        clock[:] = [3.0]
        assert module.seconds_of_work() == before
    clock[:] = [4.0]
    assert module.seconds_of_work() == before + 1.0


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
