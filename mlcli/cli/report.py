"""report: write a stored run or a saved model as an HTML page."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from mlcli.cli._app import run_numbers
from mlcli.cli._options import CodeOptions, Force, Format, StoreToRead
from mlcli.cli._outputs import refuse_to_fill, refuse_to_replace, write_page, write_pictures
from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean

HTML = "html"
PICTURE_FORMATS = ("svg", "png", "pdf")

EXAMPLES = (
    "mlcli report 1 --store runs.db -o iris.html",
    "mlcli report experiments/weather.yaml --pictures figures --picture-format pdf",
)


def report_command(
    *,
    source: Annotated[
        str,
        typer.Argument(
            metavar="RUN|FILE",
            help="A run by number, its experiment file, or a saved model.",
            autocompletion=run_numbers,
        ),
    ],
    store: StoreToRead = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The HTML page to write. [default: report.html]"),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", metavar="DIR", help="Write each picture of the report to this folder."),
    ] = None,
    picture_format: Annotated[
        str,
        typer.Option(
            "--picture-format",
            metavar="NAME",
            help=f"The format of the pictures: {', '.join(PICTURE_FORMATS)}.",
            autocompletion=lambda: list(PICTURE_FORMATS),
        ),
    ] = "svg",
    force: Force = False,
    format: Format = HTML,
    code: CodeOptions,
) -> None:
    """Write a stored run or a saved model as an HTML page.

    The page has a summary, then for each dataset the tables, pictures and
    tests, how the results were produced, and how to cite them. It works offline.
    Models are not run again, except for pictures of the best one. In any format
    but html, the report is printed.
    """
    from mlcli.api.models import load
    from mlcli.api.stored_runs import report_run
    from mlcli.cli._console import remark, show_line, show_result, stored_run_shown
    from mlcli.data.shipped import FILE_SUFFIXES
    from mlcli.experiment.store.store import SUFFIXES, is_number, store_of
    from mlcli.report.formats.html import refuse_without_extra

    if output is not None and format != HTML:
        hint = f"leave out -o, and end the command with > {output}"
        raise UsageError(f"-o is where a page is written; --format {format} is printed", hint=hint)
    if picture_format not in PICTURE_FORMATS:
        what = f"there is no format '{picture_format}' of pictures"
        raise UsageError(what, hint=did_you_mean(picture_format, PICTURE_FORMATS, "formats"))
    page, suffix = output or Path("report.html"), Path(source).suffix.lower()
    if suffix in FILE_SUFFIXES:
        raise UsageError(f"{source} is a table, not a run or a model", hint=f"mlcli eval {source} --html {page}")
    is_run = is_number(source) or suffix in SUFFIXES
    if not is_run and not suffix and not Path(source).exists():
        hint = "such as mlcli report 1, mlcli report experiment.yaml or mlcli report tree.mlcli"
        raise UsageError(f"'{source}' is no number of a run, and no file", hint=hint)
    if format == HTML or pictures is not None:
        refuse_without_extra()
    if format == HTML:
        refuse_to_replace(page, force)
    if pictures is not None:
        refuse_to_fill(pictures, force)
    with stored_run_shown(store_of(source, store)) if is_run else nullcontext():
        report = report_run(source, store) if is_run else load(source)
        if format == HTML:
            show_line(write_page(report.document, page))
        else:
            show_result(report, format)
        if pictures is not None:
            (show_line if format == HTML else remark)(write_pictures(report.document, pictures, picture_format))
