"""verify: make every score of a run again from its stored answers, and compare."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlcli.cli._completion import run_numbers
from mlcli.cli._options import Format, StoreToRead
from mlcli.core.errors import ExitCode

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import CellResult
    from mlcli.experiment.store.runs import RunFacts

RunName = Annotated[
    str,
    typer.Argument(metavar="RUN", autocompletion=run_numbers, help="A run by its number, or its experiment file."),
]

EXAMPLES = ("mlcli verify 1 --store runs.db", "mlcli verify experiments/weather.yaml")


def verify_command(run: RunName, store: StoreToRead = None, format: Format = "text") -> None:
    """Make every score of a run again from its stored answers, and compare.

    Answers have to be those that were stored, and scores and intervals those
    that were shown; any difference is told, and the exit code is then 6.
    """
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.cli._console import show_as
    from mlcli.experiment.store.store import store_of
    from mlcli.report.views.runs import SCORES, verified_as_json, verified_cells, verified_of
    from mlcli.scoring.model_results import score_result

    about, results, kept = stored_run(run, store, SCORES)
    with stored_run_shown(store_of(run, store)):
        cells = verified_cells([score_result(result, about.metrics) for result in results], kept[SCORES])
        show_as(format, verified_of, verified_as_json, about, cells)
    if any(one.faults for one in cells):
        raise typer.Exit(ExitCode.STORE)


def stored_run(name: str, place: Path | None, *kept: str) -> tuple[RunFacts, list[CellResult], dict[str, Any]]:
    """A run, its results, and what was kept of it under each name."""
    from mlcli.experiment.store.store import Store, number_of, store_of

    with Store.read(store_of(name, place)) as opened:
        about, results = opened.runs.one(number_of(name, opened))
        return about, results, {one: opened.runs.kept(about.id, one) for one in kept}
