"""Every experiment that is shipped runs to the end, as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.file import check, read_experiment
from mlcli.experiment.spec.plan import plan

EXPERIMENTS = sorted((Path(__file__).parent.parent.parent / "experiments").glob("*.yaml"))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_a_shipped_experiment_is_without_fault_and_all_its_cells_are_done(path: Path) -> None:
    assert check(path) == []
    results = run(plan(read_experiment(path)), jobs=1)
    assert {result.status for result in results} <= {"done", "skipped"}
    assert any(result.status == "done" for result in results)


def test_the_quickstart_is_there() -> None:
    assert "quickstart" in {path.stem for path in EXPERIMENTS}
