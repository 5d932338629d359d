"""runs: list the runs in a store, or show one again without running it."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._options import Classes, Curves, Format, StoreToRead, Verbose

Number = Annotated[int | None, typer.Argument(metavar="ID", help="A run, by its number in the list.")]

EXAMPLES = (
    "mlcli runs 1 --store runs.db",
    "mlcli runs --store runs.db",
)


def runs_command(
    number: Number = None,
    store: StoreToRead = None,
    classes: Classes = False,
    curves: Curves = False,
    verbose: Verbose = False,
    format: Format = "text",
) -> None:
    """List the runs in a store, or show one again without running it.

    Tables are made from stored answers: neither data nor methods are needed.
    With --format csv a run has a row for each cell.
    """
    from mlcli.cli._console import show_as
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store
    from mlcli.report.as_json import results_as_json
    from mlcli.report.cells import cells_of
    from mlcli.report.formats import CSV
    from mlcli.report.lists import runs_as_json, runs_of
    from mlcli.report.results import Parts, results_of
    from mlcli.report.scored import scored

    with Store.read(store or DEFAULT_PLACE) as opened:
        if number is None:
            known = opened.runs.all()
            show_as(format, lambda: runs_of(known), lambda: runs_as_json(known))
            return
        about, results = opened.runs.one(number)
    found = [scored(result, about.metrics) for result in results]
    show_as(
        format,
        lambda: cells_of(found) if format == CSV else results_of(found, Parts(verbose, classes, curves)),
        lambda: results_as_json(found, curves=curves),
    )
