"""report: write a stored run or a saved model as an HTML page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from mlcli.cli._completion import run_numbers
from mlcli.cli._options import CodeOptions, Force, Format, StoreToRead
from mlcli.cli._outputs import refuse_to_fill, refuse_to_replace, write_page, write_pictures
from mlcli.cli.runs import stored_run
from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.report.document import Document

HTML = "html"
PICTURE_FORMATS = ("svg", "png", "pdf")
Shown = tuple[Callable[[], Document], Callable[[], Any]]
"""A report, and its plain values."""

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
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.cli._console import remark, show_as, show_line
    from mlcli.data.shipped import FILE_SUFFIXES
    from mlcli.experiment.store.store import SUFFIXES, is_number, store_of
    from mlcli.report.formats.html import refuse_without_extra

    if output is not None and format != HTML:
        hint = f"leave out -o, and end the command with > {output}"
        raise UsageError(f"-o is where a page is written; --format {format} is printed", hint=hint)
    if picture_format not in PICTURE_FORMATS:
        what = f"there is no format '{picture_format}' of pictures"
        raise UsageError(what, hint=did_you_mean(picture_format, PICTURE_FORMATS, "formats"))
    page = output or Path("report.html")
    if Path(source).suffix.lower() in FILE_SUFFIXES:
        raise UsageError(f"{source} is a table, not a run or a model", hint=f"mlcli eval {source} --html {page}")
    is_run = is_number(source) or Path(source).suffix.lower() in SUFFIXES
    if not is_run and not Path(source).suffix and not Path(source).exists():
        hint = "such as mlcli report 1, mlcli report experiment.yaml or mlcli report tree.mlcli"
        raise UsageError(f"'{source}' is no number of a run, and no file", hint=hint)
    if format == HTML or pictures is not None:
        refuse_without_extra()
    if format == HTML:
        refuse_to_replace(page, force)
    if pictures is not None:
        refuse_to_fill(pictures, force)
    with stored_run_shown(store_of(source, store)) if is_run else nullcontext():
        document, values = _of_run(source, store, format) if is_run else _of_model(Path(source))
        if format == HTML:
            show_line(write_page(document(), page))
        else:
            show_as(format, document, values)
        if pictures is not None:
            (show_line if format == HTML else remark)(write_pictures(document(), pictures, picture_format))


def _of_run(source: str, path: Path | None, format: str) -> Shown:
    from mlcli.experiment.run.reproduction import PLUGINS
    from mlcli.report.formats._registry import CSV
    from mlcli.report.views.full_report import provenance_of_run, report_of
    from mlcli.report.views.score_rows import scores_as_table
    from mlcli.scoring.model_results import score_result
    from mlcli.scoring.records import experiment_record
    from mlcli.scoring.runs import VERSIONS

    about, results, kept = stored_run(source, path, VERSIONS, PLUGINS)
    made = provenance_of_run(about, kept[VERSIONS], kept[PLUGINS] or ())
    model_results = [score_result(result, about.metrics) for result in results]
    if format == CSV:
        return lambda: scores_as_table(model_results), lambda: experiment_record(model_results)
    return lambda: report_of(model_results, made), lambda: experiment_record(model_results)


def _of_model(file: Path) -> Shown:
    from mlcli.experiment.saved.model_file import load_model
    from mlcli.report.views.trained_model import saved_model_of, saved_model_record

    saved = load_model(file)
    return lambda: saved_model_of(file.name, saved), lambda: saved_model_record(saved)
