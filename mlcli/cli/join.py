"""join: put the columns of two CSV files together by a key, and say which rows found no match."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._outputs import Force, Output, refuse_to_replace
from mlcli.core.errors import UsageError
from mlcli.report.formats import FORMATS, known_format

First = Annotated[str, typer.Argument(metavar="A", help="A CSV file, or a shipped dataset: its rows are kept.")]
Second = Annotated[str, typer.Argument(metavar="B", help="Another: what it says of each key is added.")]
On = Annotated[
    list[str], typer.Option("--on", metavar="COLUMN", help="The key, or A's=B's name of it; repeatable.")
]
How = Annotated[
    str, typer.Option("--how", metavar="left|inner|outer", help="Rows of A; those with a match; all rows of both.")
]
JoinFormat = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        callback=lambda name: name and known_format(name),
        autocompletion=lambda: list(FORMATS),
        help=f"How rows, or with -o the report, are printed: {', '.join(FORMATS)}. [default: csv, or text]",
    ),
]
Many = Annotated[bool, typer.Option("--many", help="Let keys that B has twice multiply rows of A.")]

EXAMPLES = (
    "mlcli join orders.csv customers.csv --on customer",
    "mlcli join orders.csv customers.csv --on customer=id -o both.csv",
)


def join_command(
    first: First,
    second: Second,
    on: On,
    output: Output = None,
    how: How = "left",
    many: Many = False,
    force: Force = False,
    format: JoinFormat = "",
) -> None:
    """Put the columns of two CSV files together by a key, and say which rows found no match.

    Unmatched, empty and doubled keys are reported, beside the CSV on stderr or,
    with -o, as a report. A key that B has twice is refused unless --many.
    """
    from mlcli.cli._console import remark, show_as
    from mlcli.cli._rows import give
    from mlcli.core.names import did_you_mean
    from mlcli.data.join import KEEPS, join, pairs_of_names
    from mlcli.data.new_rows import records_of
    from mlcli.report.formats import CSV, TEXT
    from mlcli.report.joined import as_json, joined_of, remarks_on

    if how not in KEEPS:
        raise UsageError(f"--how has no value '{how}'", hint=did_you_mean(how, KEEPS, "values"))
    refuse_to_replace(output, force)
    a, b = records_of(first), records_of(second)
    found = join(a, b, pairs_of_names(on), how, many)
    give(found.columns, output, CSV if output else format or CSV)
    if output is None:
        for line in remarks_on(found, a.name, b.name):
            remark(line)
        return
    show_as(format or TEXT, lambda: joined_of(found, a.name, b.name), lambda: as_json(found, a.name, b.name))
