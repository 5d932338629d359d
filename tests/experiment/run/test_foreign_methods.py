"""A method of somebody else's can only harm its own cell, whatever it does and however many processes work."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.experiment.run.batch import run
from mlcli.experiment.store.store import Store
from tests.experiment import toy

ENDINGS = {
    "stops generating": ("failed", "GeneratorExit"),
    "says half a character": ("failed", "a lone surrogate: \\ud83d"),
    "cannot say why": ("failed", "_WordlessError: without words"),
    "breaks its process": ("died", "exit code 1"),
    "presses Ctrl-C": ("died", "exit code 1"),
    "exits": ("failed", "SystemExit: 4"),
    "leaves in silence": ("died", "exit code 0"),
    "killed": ("died", "signal 9"),
}
ANSWERED = {
    "too few rows": "numbers of shape",
    "too many classes": "numbers of shape",
    "one column": "numbers of shape",
    "not numbers": "not a number",
    "beyond one": "do not sum to 1",
    "words": "numbers of shape",
    "nothing": "numbers of shape",
}


@pytest.mark.parametrize(
    ("how", "jobs"), [*((how, 1) for how in ENDINGS), ("breaks its process", 2), ("exits", 2), ("killed", 2)]
)
def test_a_method_that_ends_badly_ends_its_own_cell(plugin: Path, tmp_path: Path, how: str, jobs: int) -> None:
    status, why = ENDINGS[how]
    with Store.open(tmp_path / "runs.db") as store:
        for _ in range(2):
            troubled, other = run([toy.troubled(how), toy.cell()], jobs=jobs, store=store)
            assert (troubled.status, other.status) == (status, "done")
            assert why in troubled.why


@pytest.mark.parametrize("answers", ANSWERED)
def test_answers_that_are_none_are_refused(plugin: Path, answers: str) -> None:
    troubled, other = run([toy.cell("troubled", params={"answers": answers}), toy.cell()], jobs=1)
    assert (troubled.status, other.status) == ("failed", "done")
    assert ANSWERED[answers] in troubled.why
