"""data: list the shipped datasets, profile a file, or compare two files."""

from __future__ import annotations

from typing import Annotated

import typer

from mlcli.cli._app import column_names, data_names
from mlcli.cli._console import remark, show_result
from mlcli.cli._options import ColumnOptions, Format
from mlcli.cli._outputs import PageOptions
from mlcli.core.errors import UsageError

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
    from mlcli.api.datasets import compare_datasets, list_datasets, plot_columns, profile_dataset

    if not files:
        if write_sidecar or any(vars(columns).values()) or plot or pages.wanted:
            raise UsageError("a file is missing", hint="such as mlcli data my.csv --write-sidecar")
        show_result(list_datasets(), format)
        return
    if len(files) > 2:
        raise UsageError(f"two files can be compared, {len(files)} were given", hint="leave the others out")
    if plot and len(files) == 2:
        raise UsageError("--plot draws one file, and two were given", hint="leave one of them out")
    from mlcli.data.load import load

    dataset = load(files[0], target=columns.target, task=columns.task, drop=columns.drop or ())
    if write_sidecar:
        from mlcli.data.write_sidecar import write_sidecar as write

        sidecar = write(dataset, overwrite=pages.force)
        remark(f"wrote {sidecar}: correct what is wrong there, and it is used from now on")
    if len(files) == 2:
        view = compare_datasets(dataset, files[1])
    else:
        view = plot_columns(dataset, plot) if plot else profile_dataset(dataset)
    show_result(view, format)
    pages.write(lambda: view.document)
