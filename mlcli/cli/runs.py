"""runs: list the runs in a store, show one again without running it, and keep the store in order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlcli.cli._completion import run_numbers
from mlcli.cli._console import show_as
from mlcli.cli._declaring import argument
from mlcli.cli._options import Format, StoreToRead, ViewOptions
from mlcli.core.errors import ExitCode

if TYPE_CHECKING:
    from mlcli.experiment.store.transfer import Carried

SomeNumbers = Annotated[list[int] | None, typer.Argument(metavar="ID", help="Runs by number. [default: all]")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A store that holds what was exported.")]

PARTS = ("show", "rm", "gc", "export", "import", "merge", "check")
EXAMPLES = (
    "mlcli runs 1 --store runs.db",
    "mlcli runs --store runs.db",
    "mlcli runs rm 1 2 --store runs.db",
    "mlcli runs merge shards/*.db --store runs.db",
)


def runs_command() -> None:
    """List the runs in a store, show one again without running it, and keep the store in order.

    Without a command: mlcli runs lists all, mlcli runs 3 shows one.
    """


def show_command(
    views: ViewOptions,
    run: str | None = argument("RUN", "A run by its number, or its experiment file.", run_numbers, default=None),
    store: StoreToRead = None,
    format: Format = "text",
) -> None:
    """List all runs, or show one again without running it.

    Tables are made from stored answers: neither data nor methods are needed.
    With --format csv a run has a row for each model and metric.
    """
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store, number_of, store_of
    from mlcli.report.formats._registry import CSV
    from mlcli.report.views.results import results_of
    from mlcli.report.views.results_as_json import results_as_json
    from mlcli.report.views.runs import MOST_LISTED, runs_as_json, runs_of
    from mlcli.report.views.score_rows import scores_as_table
    from mlcli.scoring.model_results import score_result

    place = store or DEFAULT_PLACE if run is None else store_of(run, store)
    details = views.details()
    with stored_run_shown(place), Store.read(place) as opened:
        if run is None:
            runs = opened.runs
            show_as(format, lambda: runs_of(runs.all(MOST_LISTED), runs.count()), lambda: runs_as_json(runs.all()))
            return
        about, results = opened.runs.one(number_of(run, opened))
        found = [score_result(result, about.metrics) for result in results]
        show_as(
            format,
            lambda: scores_as_table(found) if format == CSV else results_of(found, details),
            lambda: results_as_json(
                found, curves=details.curves, fair=details.fair, similarity=details.similarity
            ),
        )


def rm_command(
    numbers: list[int] = argument("ID", "Runs, by their numbers in the list.", run_numbers),
    store: StoreToRead = None,
    format: Format = "text",
) -> None:
    """Remove runs from the list.

    Their answers stay, for whoever asks the same again, until gc removes them.
    """
    from mlcli.experiment.store.housekeeping import remove_runs
    from mlcli.experiment.store.store import Store
    from mlcli.report.views.runs import removed_of

    place = _existing_store(store)
    with Store.open(place) as opened:
        remove_runs(opened, numbers)
    show_as(format, lambda: removed_of(numbers, place), lambda: {"removed": list(numbers)})


def gc_command(store: StoreToRead = None, format: Format = "text") -> None:
    """Remove answers that no run needs.

    The file gets smaller by what they took. A run that was cut short may need
    any answer: while one is in the list and was not made anew, answers are
    kept. Remove it first, or finish it.
    """
    from mlcli.experiment.store.housekeeping import collect
    from mlcli.experiment.store.store import Store
    from mlcli.report.views.runs import freed_of, housekeeping_as_json

    place = _existing_store(store)
    with Store.open(place) as opened:
        freed = collect(opened)
    show_as(format, lambda: freed_of(freed, place), lambda: housekeeping_as_json(freed))


def export_command(
    output: File, numbers: SomeNumbers = None, store: StoreToRead = None, format: Format = "text"
) -> None:
    """Write runs and answers to a file.

    The file is a store itself: mlcli runs --store FILE shows what is in it.
    """
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store
    from mlcli.experiment.store.transfer import export

    with Store.read(store or DEFAULT_PLACE) as opened:
        carried = export(opened, output, numbers or ())
    _show_carried(carried, output, format)


def import_command(
    file: File, numbers: SomeNumbers = None, store: StoreToRead = None, format: Format = "text"
) -> None:
    """Bring runs of another store here.

    Those that are here already stay as they are.
    """
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store
    from mlcli.experiment.store.transfer import carry

    place = store or DEFAULT_PLACE
    with Store.read(file) as source, Store.open(place) as target:
        carried = carry(source, target, numbers or ())
    _show_carried(carried, place, format)


def merge_command(
    stores: list[Path] = argument("STORE", "Stores, such as those of shards."),
    store: StoreToRead = None,
    format: Format = "text",
) -> None:
    """Bring stores together, and join shards.

    All answers and runs of other stores come here. Shards come from
    mlcli run --shard; where some are missing, the others wait here for them,
    and mlcli run does only what is not here.
    """
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store
    from mlcli.experiment.store.transfer import merge

    place = store or DEFAULT_PLACE
    for one in stores:
        Store.read(one).close()  # all of them can be read, or nothing is changed
    with Store.open(place) as target:
        carried = merge([one for one in stores if not place.samefile(one)], target)
    _show_carried(carried, place, format)


def check_command(store: StoreToRead = None, format: Format = "text") -> None:
    """Look for damage in a store.

    Everything that it holds is read; the exit code is 6 where something is wrong.
    """
    from mlcli.experiment.store.store import Store
    from mlcli.report.views.runs import faults_in

    place = _existing_store(store)
    with Store.read(place) as opened:
        faults = opened.faults()
    show_as(format, lambda: faults_in(faults, place), lambda: {"faults": faults})
    if faults:
        raise typer.Exit(ExitCode.STORE)


def _show_carried(carried: Carried, place: Path, format: str) -> None:
    from mlcli.report.views.runs import carried_of, housekeeping_as_json

    show_as(format, lambda: carried_of(carried, place), lambda: housekeeping_as_json(carried))


def _existing_store(store: Path | None) -> Path:
    """The place of a store that must be there: nothing is looked after in one that is made for it."""
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store

    place = store or DEFAULT_PLACE
    Store.read(place).close()
    return place
