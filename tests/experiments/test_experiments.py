"""Every experiment that is shipped runs to the end, as it stands: those that a page shows with the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.file import check, read_experiment
from mlcli.experiment.spec.plan import plan
from tests.docs.test_guides import PAGES

pytestmark = pytest.mark.slow

EXPERIMENTS = sorted((Path(__file__).parent.parent.parent / "experiments").glob("*.yaml"))
RUN = re.compile(r"^(?:\$ )?mlcli run experiments/(\w+)\.yaml", re.MULTILINE)
SHOWN = {name for page in PAGES for name in RUN.findall(page.read_text(encoding="utf-8"))}
ALONE = [path for path in EXPERIMENTS if path.stem not in SHOWN]


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_a_shipped_experiment_is_without_fault_and_all_its_cells_are_done(path: Path) -> None:
    assert check(path) == []
    results = run(plan(read_experiment(path)), jobs=1)
    assert {result.status for result in results} <= {"done", "skipped"}
    assert any(result.status == "done" for result in results)


def test_the_quickstart_is_there() -> None:
    assert "quickstart" in {path.stem for path in EXPERIMENTS}
