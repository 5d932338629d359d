"""runs: list, show, verify, repeat and merge stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlcli import __version__
from mlcli.cli._completion import run_numbers
from mlcli.cli._console import show_as
from mlcli.cli._options import CodeOptions, Format, Jobs, StoreToRead, ViewOptions
from mlcli.core.errors import ExitCode

if TYPE_CHECKING:
    from mlcli.experiment.spec.cells import CellResult
    from mlcli.experiment.store.runs import RunFacts
    from mlcli.experiment.store.transfer import Carried

RunName = Annotated[
    str,
    typer.Argument(metavar="RUN", help="A run by its number, or its experiment file.", autocompletion=run_numbers),
]
SomeNumbers = Annotated[list[int] | None, typer.Argument(metavar="ID", help="Runs by number. [default: all]")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A store with exported runs.")]

SUBCOMMANDS = ("list", "show", "verify", "rerun", "merge", "gc", "remove", "export", "import")
EXAMPLES = (
    "mlcli runs show 1 --store runs.db",
    "mlcli runs list --store runs.db",
    "mlcli runs verify experiments/weather.yaml",
    "mlcli runs rerun 1 --store runs.db --jobs 4",
    "mlcli runs remove 1 2 --store runs.db",
    "mlcli runs merge shards/*.db --store runs.db",
)


def runs_command(*, ctx: typer.Context, store: StoreToRead = None, format: Format = "text") -> None:
    """List, show, verify, repeat and merge stored runs.

    mlcli runs alone lists them; mlcli runs show 3 shows the results of one.
    """
    if ctx.invoked_subcommand is None:
        list_command(store=store, format=format)


def list_command(*, store: StoreToRead = None, format: Format = "text") -> None:
    """List the runs of a store."""
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store
    from mlcli.report.views.runs import MOST_LISTED, runs_of
    from mlcli.scoring.runs import RunsRecord

    path = store or DEFAULT_PLACE
    with stored_run_shown(path), Store.read(path) as opened:
        runs = opened.runs
        show_as(
            format, lambda: runs_of(runs.all(MOST_LISTED), runs.count()), lambda: RunsRecord(tuple(runs.all()))
        )


def show_command(*, run: RunName, store: StoreToRead = None, views: ViewOptions, format: Format = "text") -> None:
    """Show the results of a run.

    The tables are made from the store: neither data nor methods are needed.
    With --format csv there is a row for each model and metric.
    """
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.experiment.store.store import store_of
    from mlcli.report.formats._registry import CSV
    from mlcli.report.views.results import results_of
    from mlcli.report.views.score_rows import scores_as_table
    from mlcli.scoring.model_results import score_result
    from mlcli.scoring.records import experiment_record

    details = views.details()
    about, results, _ = stored_run(run, store)
    with stored_run_shown(store_of(run, store)):
        scores = [score_result(result, about.metrics) for result in results]
        show_as(
            format,
            lambda: scores_as_table(scores) if format == CSV else results_of(scores, details),
            lambda: experiment_record(
                scores, curves=details.curves, fair=details.fair, similarity=details.similarity
            ),
        )


def verify_command(*, run: RunName, store: StoreToRead = None, format: Format = "text") -> None:
    """Check the scores of a run.

    They are computed again from the stored predictions. If predictions, scores
    or intervals differ from those of the run, the differences are shown and the
    exit code is 6.
    """
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.experiment.store.store import store_of
    from mlcli.report.views.runs import verified_of
    from mlcli.scoring.model_results import score_result
    from mlcli.scoring.runs import SCORES, verification_record, verified_cells

    about, results, kept = stored_run(run, store, SCORES)
    with stored_run_shown(store_of(run, store)):
        cells = verified_cells([score_result(result, about.metrics) for result in results], kept[SCORES])
        show_as(format, verified_of, verification_record, about, cells)
    if any(cell.faults for cell in cells):
        raise typer.Exit(ExitCode.STORE)


def rerun_command(
    *, run: RunName, store: StoreToRead = None, jobs: Jobs = None, format: Format = "text", code: CodeOptions
) -> None:
    """Repeat a run, and compare the predictions.

    Nothing is taken from the store and nothing is kept. Differences are shown,
    with the versions of packages that have changed, and the exit code is 8. On
    another CPU predictions need only be close, and the report says how close.
    """
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.cli._progress import Progress
    from mlcli.experiment.run.reproduction import (
        PLUGINS,
        refuse_missing_plugins,
        rerun_cells,
        versions_and_hardware,
    )
    from mlcli.experiment.store.store import store_of
    from mlcli.report.views.runs import rerun_of
    from mlcli.scoring.runs import VERSIONS, agrees, rerun_record

    about, results, kept = stored_run(run, store, VERSIONS, PLUGINS)
    with stored_run_shown(store_of(run, store)):
        refuse_missing_plugins(results, kept[PLUGINS])
        with Progress([result.cell for result in results]) as progress:
            cells = rerun_cells(results, jobs, progress)
        now = versions_and_hardware()
        show_as(format, rerun_of, rerun_record, about, cells, kept[VERSIONS], now)
    if not all(agrees(cell, kept[VERSIONS], now) for cell in cells):
        raise typer.Exit(ExitCode.UNMET)


def merge_command(
    *,
    stores: Annotated[list[Path], typer.Argument(metavar="STORE", help="Stores, such as those of shards.")],
    store: StoreToRead = None,
    format: Format = "text",
) -> None:
    """Merge other stores into this one, and join shards.

    All runs and results of the other stores are copied. Shards come from
    mlcli run --shard; while some are missing the others wait in the store, and
    mlcli run does only what is missing.
    """
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store
    from mlcli.experiment.store.transfer import merge

    place = store or DEFAULT_PLACE
    for path in stores:
        Store.read(path).close()  # all of them can be read, or nothing is changed
    with Store.open(place) as target:
        carried = merge([path for path in stores if not place.samefile(path)], target)
    _show_carried(carried, place, format)


def gc_command(*, store: StoreToRead = None, format: Format = "text") -> None:
    """Delete results that no run needs.

    The file shrinks. An interrupted run may still need any result, so nothing is
    deleted while one is in the list: finish or remove it first.
    """
    from mlcli.experiment.store.housekeeping import collect
    from mlcli.experiment.store.store import Store
    from mlcli.report.views.runs import freed_of
    from mlcli.scoring.runs import HousekeepingRecord

    path = _existing_store(store)
    with Store.open(path) as opened:
        freed = collect(opened)
    show_as(format, lambda: freed_of(freed, path), lambda: HousekeepingRecord(__version__, freed))


def remove_command(
    *,
    numbers: Annotated[
        list[int], typer.Argument(metavar="ID", help="Runs by number.", autocompletion=run_numbers)
    ],
    store: StoreToRead = None,
    format: Format = "text",
) -> None:
    """Remove runs from the list.

    Their results stay in the store, so that the same work is not done again,
    until mlcli runs gc deletes them.
    """
    from mlcli.experiment.store.housekeeping import remove_runs
    from mlcli.experiment.store.store import Store
    from mlcli.report.views.runs import removed_of
    from mlcli.scoring.runs import RemovedRecord

    path = _existing_store(store)
    with Store.open(path) as opened:
        remove_runs(opened, numbers)
    show_as(format, lambda: removed_of(numbers, path), lambda: RemovedRecord(tuple(numbers)))


def export_command(
    *, output: File, numbers: SomeNumbers = None, store: StoreToRead = None, format: Format = "text"
) -> None:
    """Write runs with their results to a file.

    The file is a store itself: mlcli runs list --store FILE shows what it holds.
    """
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store
    from mlcli.experiment.store.transfer import export

    with Store.read(store or DEFAULT_PLACE) as opened:
        carried = export(opened, output, numbers or ())
    _show_carried(carried, output, format)


def import_command(
    *, file: File, numbers: SomeNumbers = None, store: StoreToRead = None, format: Format = "text"
) -> None:
    """Copy runs of another store into this one.

    Runs that are in this store already stay as they are.
    """
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store
    from mlcli.experiment.store.transfer import carry

    path = store or DEFAULT_PLACE
    with Store.read(file) as source, Store.open(path) as target:
        carried = carry(source, target, numbers or ())
    _show_carried(carried, path, format)


def stored_run(name: str, store: Path | None, *kept: str) -> tuple[RunFacts, list[CellResult], dict[str, Any]]:
    """A run, its results, and what was kept of it under each name."""
    from mlcli.experiment.store.store import Store, number_of, store_of

    with Store.read(store_of(name, store)) as opened:
        about, results = opened.runs.one(number_of(name, opened))
        return about, results, {name: opened.runs.kept(about.id, name) for name in kept}


def _show_carried(carried: Carried, path: Path, format: str) -> None:
    from mlcli.report.views.runs import carried_of
    from mlcli.scoring.runs import HousekeepingRecord

    show_as(format, lambda: carried_of(carried, path), lambda: HousekeepingRecord(__version__, carried))


def _existing_store(store: Path | None) -> Path:
    """The path of a store that must exist: none is made for housekeeping."""
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store

    path = store or DEFAULT_PLACE
    Store.read(path).close()
    return path
