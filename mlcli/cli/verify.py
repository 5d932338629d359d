"""verify: make every score of a run again from its stored answers, and compare."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._completion import run_numbers
from mlcli.cli._options import Format, StoreToRead
from mlcli.core.errors import ExitCode

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
    from mlcli.cli._console import show_as
    from mlcli.experiment.store.named_runs import number_of, store_of
    from mlcli.experiment.store.store import Store
    from mlcli.report.scored import scored
    from mlcli.report.verified import SCORES, verified, verified_as_json, verified_of

    with Store.read(store_of(run, store)) as opened:
        about, results = opened.runs.one(number_of(run, opened))
        kept = opened.runs.kept(about.id, SCORES)
    cells = verified([scored(result, about.metrics) for result in results], kept)
    show_as(format, lambda: verified_of(about, cells), lambda: verified_as_json(about, cells))
    if any(one.faults for one in cells):
        raise typer.Exit(ExitCode.STORE)
