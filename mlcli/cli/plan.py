"""plan: show the cells that experiment files would run, and run nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.cli._options import Format, Specs, StoreToRead

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import Cell
    from mlcli.experiment.store.estimates import CellEstimate

EXAMPLES = ("mlcli plan experiments/weather.yaml",)


def plan_command(specs: Specs, store: StoreToRead = None, format: Format = "text") -> None:
    """Show the cells that experiment files would run, and run nothing.

    Steps that a model needs (impute, one-hot, standardise) are inserted and
    shown; models that cannot do a dataset's task are named with the reason, and
    so is what cannot be done well, such as a class with fewer rows than folds.
    Seconds and memory are learned from what the store has of such cells.
    """
    from mlcli.checks.audit import BEFORE_IT_RUNS, with_issues
    from mlcli.cli._console import show_as
    from mlcli.cli._running import usual_store_of
    from mlcli.experiment.spec.file import read_experiment
    from mlcli.experiment.spec.plan import plan
    from mlcli.report.views.plan import plan_as_json, plan_of

    experiments = [read_experiment(spec) for spec in specs]
    plans = [with_issues(plan(one), BEFORE_IT_RUNS) for one in experiments]
    cells = [cell for each in plans for cell in each]
    known = [one for each in plans for one in _estimates(each, store or usual_store_of(each.experiment))]
    show_as(format, plan_of, plan_as_json, cells, known)


def _estimates(cells: Sequence[Cell], place: Path) -> Sequence[CellEstimate | None]:
    if not place.exists():
        return [None] * len(cells)
    from mlcli.experiment.store.estimates import estimates
    from mlcli.experiment.store.store import Store

    with Store.read(place) as opened:
        return estimates(cells, opened)
