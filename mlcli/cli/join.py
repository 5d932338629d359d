"""join: join two CSV files by a key column."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._options import Force, format_option
from mlcli.cli._outputs import Output, refuse_to_replace
from mlcli.core.errors import UsageError

EXAMPLES = (
    "mlcli join orders.csv customers.csv --on customer",
    "mlcli join orders.csv customers.csv --on customer=id -o both.csv",
)
JoinFormat = Annotated[
    str | None, format_option("The format of the rows or, with -o, of the report. [default: csv, or text with -o]")
]


def join_command(
    *,
    first: Annotated[str, typer.Argument(metavar="A", help="A CSV file or a shipped dataset; its rows are kept.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one; its columns are added.")],
    on: Annotated[
        list[str],
        typer.Option("--on", metavar="COLUMN", help="The key, or its names in both files, A=B; repeatable."),
    ],
    how: Annotated[
        str,
        typer.Option(
            "--how",
            metavar="left|inner|outer",
            help="Keep all rows of A, only rows with a match, or all rows of both.",
        ),
    ] = "left",
    many: Annotated[
        bool, typer.Option("--many", help="Allow keys that B has more than once; they repeat rows of A.")
    ] = False,
    output: Output = None,
    force: Force = False,
    format: JoinFormat = None,
) -> None:
    """Join two CSV files by a key column.

    The result is CSV. Keys without a match, empty keys and repeated keys are
    reported on standard error; with -o the report is the output. Keys that B
    has more than once are refused without --many.
    """
    from mlcli.api.datasets import join_tables
    from mlcli.cli._console import remark, show_result
    from mlcli.cli._outputs import write_rows
    from mlcli.core.names import did_you_mean
    from mlcli.data.join import KEEPS
    from mlcli.report.formats import CSV, TEXT

    if how not in KEEPS:
        raise UsageError(f"--how has no value '{how}'", hint=did_you_mean(how, KEEPS, "values"))
    refuse_to_replace(output, force)
    joined = join_tables(first, second, on, how, many)
    write_rows(joined.table.columns, output, CSV if output else format or CSV)
    if output is not None:
        show_result(joined, format or TEXT)
    else:
        for line in joined.remarks:
            remark(line)
