"""data: list the shipped datasets, profile a file, or compare two files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlcli.cli._completion import column_names, data_names
from mlcli.cli._console import remark, show_as
from mlcli.cli._options import ColumnOptions, Format
from mlcli.cli._outputs import PageOptions
from mlcli.core.errors import UsageError

if TYPE_CHECKING:
    from mlcli.data.dataset import Dataset

Make = Callable[[], Any]
"""What makes a document, or plain values."""

EXAMPLES = (
    "mlcli data iris",
    "mlcli data",
    "mlcli data iris --plot petal_length --plot petal_width",
    "mlcli data my.csv --write-sidecar",
    "mlcli data last_year.csv this_year.csv",
)


def data_command(
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA", help="A CSV file or a shipped dataset; two are compared.", autocompletion=data_names
        ),
    ] = None,
    columns: ColumnOptions,
    plot: Annotated[
        list[str] | None,
        typer.Option(
            "--plot",
            metavar="COLUMN",
            help="Draw a column; given twice, two columns against each other.",
            autocompletion=column_names,
        ),
    ] = None,
    write_sidecar: Annotated[
        bool,
        typer.Option("--write-sidecar", help="Write what was inferred to a sidecar beside the file, for review."),
    ] = False,
    pages: PageOptions,
    format: Format = "text",
) -> None:
    """List the shipped datasets, profile a file, or compare two files.

    A profile shows the kind of each column and how it was found, missing
    values, ranges, small histograms, the balance of the classes, and warnings.
    Two files are compared column by column, and by a model that tries to tell
    their rows apart.
    """
    if not files:
        if write_sidecar or any(vars(columns).values()) or plot or pages.wanted:
            raise UsageError("a file is missing", hint="such as mlcli data my.csv --write-sidecar")
        _list(format)
        return
    if len(files) > 2:
        raise UsageError(f"two files can be compared, {len(files)} were given", hint="leave the others out")
    if plot and len(files) == 2:
        raise UsageError("--plot draws one file, and two were given", hint="leave one of them out")
    from mlcli.data.load import load

    dataset = load(files[0], target=columns.target, task=columns.task, drop=columns.drop or ())
    if write_sidecar:
        from mlcli.data.write_sidecar import write_sidecar as write

        written = write(dataset, overwrite=pages.force)
        remark(f"wrote {written}: correct what is wrong there, and it is used from now on")
    if len(files) == 2:
        document, plain = _compared(dataset, files[1])
    else:
        document, plain = _drawn(dataset, plot) if plot else _profiled(dataset)
    show_as(format, document, plain)
    pages.write(document)


def _compared(dataset: Dataset, against: str) -> tuple[Make, Make]:
    from mlcli.experiment.drift import drift_between
    from mlcli.report.views.dataset import drift_of
    from mlcli.scoring.files import drift_record

    drift = drift_between(dataset, against)
    return lambda: drift_of(drift), lambda: drift_record(drift)


def _drawn(dataset: Dataset, columns: list[str]) -> tuple[Make, Make]:
    from mlcli.report.document import explained
    from mlcli.report.views.dataset import plot_of

    picture = plot_of(dataset, columns)
    return lambda: explained([picture]), lambda: picture


def _profiled(dataset: Dataset) -> tuple[Make, Make]:
    from mlcli.checks.audit import issues_of_data
    from mlcli.data.profile import profile
    from mlcli.report.views.dataset import profile_of

    issues = issues_of_data(dataset)
    found = profile(dataset, [issue.sentence for issue in issues])
    tables = [finding for issue in issues for finding in issue.shown]
    return lambda: profile_of(found, tables), lambda: found


def _list(format: str) -> None:
    from mlcli.data.shipped import shipped
    from mlcli.report.views.dataset import shipped_datasets_of
    from mlcli.scoring.files import ShippedDataset, ShippedDatasets

    names = ShippedDatasets(tuple(ShippedDataset(*entry) for entry in shipped().items()))
    show_as(format, lambda: shipped_datasets_of(shipped()), lambda: names)
