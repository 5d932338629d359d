"""runs: list, show, verify, repeat and merge stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._app import run_numbers
from mlcli.cli._console import show_result, stored_run_shown
from mlcli.cli._options import CodeOptions, Format, Jobs, StoreToRead, ViewOptions
from mlcli.core.errors import ExitCode

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
    from mlcli.api.stored_runs import list_runs
    from mlcli.experiment.store.store import DEFAULT_PLACE

    path = store or DEFAULT_PLACE
    with stored_run_shown(path):
        show_result(list_runs(path), format)


def show_command(*, run: RunName, store: StoreToRead = None, views: ViewOptions, format: Format = "text") -> None:
    """Show the results of a run.

    The tables are made from the store: neither data nor methods are needed.
    With --format csv there is a row for each model and metric.
    """
    from mlcli.api.stored_runs import show_run
    from mlcli.experiment.store.store import store_of

    details = views.details()
    with stored_run_shown(store_of(run, store)):
        show_result(show_run(run, store, details), format)


def verify_command(*, run: RunName, store: StoreToRead = None, format: Format = "text") -> None:
    """Check the scores of a run.

    They are computed again from the stored predictions. If predictions, scores
    or intervals differ from those of the run, the differences are shown and the
    exit code is 6.
    """
    from mlcli.api.stored_runs import verify_run
    from mlcli.experiment.store.store import store_of

    with stored_run_shown(store_of(run, store)):
        verified = verify_run(run, store)
        show_result(verified, format)
    if verified.failed:
        raise typer.Exit(ExitCode.STORE)


def rerun_command(
    *, run: RunName, store: StoreToRead = None, jobs: Jobs = None, format: Format = "text", code: CodeOptions
) -> None:
    """Repeat a run, and compare the predictions.

    Nothing is taken from the store and nothing is kept. Differences are shown,
    with the versions of packages that have changed, and the exit code is 8. On
    another CPU predictions need only be close, and the report says how close.
    """
    from mlcli.api.stored_runs import rerun
    from mlcli.cli._running import Progress
    from mlcli.experiment.store.store import store_of

    with stored_run_shown(store_of(run, store)):
        repeated = rerun(run, store, jobs=jobs, watch=Progress)
        show_result(repeated, format)
    if repeated.failed:
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
    from mlcli.api.stored_runs import merge_stores

    show_result(merge_stores(stores, store), format)


def gc_command(*, store: StoreToRead = None, format: Format = "text") -> None:
    """Delete results that no run needs.

    The file shrinks. An interrupted run may still need any result, so nothing is
    deleted while one is in the list: finish or remove it first.
    """
    from mlcli.api.stored_runs import collect_garbage

    show_result(collect_garbage(store), format)


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
    from mlcli.api.stored_runs import remove_runs

    show_result(remove_runs(numbers, store), format)


def export_command(
    *, output: File, numbers: SomeNumbers = None, store: StoreToRead = None, format: Format = "text"
) -> None:
    """Write runs with their results to a file.

    The file is a store itself: mlcli runs list --store FILE shows what it holds.
    """
    from mlcli.api.stored_runs import export_runs

    show_result(export_runs(output, numbers or (), store), format)


def import_command(
    *, file: File, numbers: SomeNumbers = None, store: StoreToRead = None, format: Format = "text"
) -> None:
    """Copy runs of another store into this one.

    Runs that are in this store already stay as they are.
    """
    from mlcli.api.stored_runs import import_runs

    show_result(import_runs(file, numbers or (), store), format)
