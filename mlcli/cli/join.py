"""join: put the columns of two CSV files together by a key, and say which rows found no match."""

from __future__ import annotations

from mlcli.cli._declaring import argument, flag, option
from mlcli.cli._outputs import Force, Output, refuse_to_replace
from mlcli.core.errors import UsageError
from mlcli.report.formats._registry import FORMATS, known_format

EXAMPLES = (
    "mlcli join orders.csv customers.csv --on customer",
    "mlcli join orders.csv customers.csv --on customer=id -o both.csv",
)


def join_command(
    first: str = argument("A", "A CSV file, or a shipped dataset: its rows are kept."),
    second: str = argument("B", "Another: what it says of each key is added."),
    on: list[str] = option("--on", "COLUMN", "The key, or A's=B's name of it; repeatable.", default=...),
    output: Output = None,
    how: str = option(
        "--how", "left|inner|outer", "Rows of A; those with a match; all rows of both.", default="left"
    ),
    many: bool = flag("--many", "Let keys that B has twice multiply rows of A."),
    force: Force = False,
    format: str = option(
        "--format",
        "NAME",
        f"How rows, or with -o the report, are printed: {', '.join(FORMATS)}. [default: csv, or text]",
        lambda: list(FORMATS),
        default="",
        callback=lambda name: name and known_format(name),
    ),
) -> None:
    """Put the columns of two CSV files together by a key, and say which rows found no match.

    Unmatched, empty and doubled keys are reported, beside the CSV on stderr or,
    with -o, as a report. A key that B has twice is refused unless --many.
    """
    from mlcli.cli._console import remark, show_as
    from mlcli.cli._outputs import write_rows
    from mlcli.core.names import did_you_mean
    from mlcli.data.join import KEEPS, join, pairs_of_names
    from mlcli.data.new_rows import records_of
    from mlcli.report.formats._registry import CSV, TEXT
    from mlcli.report.views.two_files import joined_as_json, joined_of, remarks_on

    if how not in KEEPS:
        raise UsageError(f"--how has no value '{how}'", hint=did_you_mean(how, KEEPS, "values"))
    refuse_to_replace(output, force)
    a, b = records_of(first), records_of(second)
    found = join(a, b, pairs_of_names(on), how, many)
    write_rows(found.columns, output, CSV if output else format or CSV)
    if output is None:
        for line in remarks_on(found, a.name, b.name):
            remark(line)
        return
    show_as(format or TEXT, joined_of, joined_as_json, found, a.name, b.name)
