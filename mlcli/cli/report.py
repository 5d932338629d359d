"""report: write a stored run, or a saved model, as one page of HTML."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from mlcli.cli._declaring import argument, option
from mlcli.cli._options import Format, StoreToRead
from mlcli.cli._outputs import Force, PageOptions, PictureFormat, Pictures
from mlcli.cli.verify import stored_run
from mlcli.report.document import Document

HTML = "html"
Shown = tuple[Callable[[], Document], Callable[[], Any]]
"""A report, and its plain values."""

EXAMPLES = (
    "mlcli report 1 --store runs.db -o iris.html",
    "mlcli report experiments/weather.yaml --pictures figures --picture-format pdf",
)


def report_command(
    source: str = argument("RUN|FILE", "A run by number, its experiment file, or a model that was saved."),
    output: Path | None = option("--output -o", "FILE", "Where the page is written. [default: report.html]"),
    pictures: Pictures = None,
    picture_format: PictureFormat = "svg",
    store: StoreToRead = None,
    force: Force = False,
    format: Format = "html",
) -> None:
    """Write a stored run, or a saved model, as one page of HTML.

    Summary over datasets, then each dataset with tables, pictures and tests,
    how it was made and how to cite it. The page needs no network. Of a run
    nothing is run again, but for pictures of the best model's behaviour. In any
    other format it is printed.
    """
    from mlcli.cli._boundary import stored_run_shown
    from mlcli.cli._console import remark, show_as, show_line
    from mlcli.core.errors import UsageError
    from mlcli.data.shipped import FILE_SUFFIXES
    from mlcli.experiment.store.store import SUFFIXES, is_number, store_of

    if output is not None and format != HTML:
        hint = f"leave out -o, and end the command with > {output}"
        raise UsageError(f"-o is where a page is written; --format {format} is printed", hint=hint)
    page = output or Path("report.html")
    pages = PageOptions(page if format == HTML else None, pictures, picture_format, force)
    if Path(source).suffix.lower() in FILE_SUFFIXES:
        raise UsageError(f"{source} is a table, not a run or a model", hint=f"mlcli eval {source} --html {page}")
    is_run = is_number(source) or Path(source).suffix.lower() in SUFFIXES
    if not is_run and not Path(source).suffix and not Path(source).exists():
        hint = "such as mlcli report 1, mlcli report experiment.yaml or mlcli report tree.mlcli"
        raise UsageError(f"'{source}' is no number of a run, and no file", hint=hint)
    with stored_run_shown(store_of(source, store)) if is_run else nullcontext():
        document, values = _of_run(source, store, format) if is_run else _of_model(Path(source))
        if format != HTML:
            show_as(format, document, values)
        pages.write(document, say=show_line if format == HTML else remark)


def _of_run(source: str, place: Path | None, format: str) -> Shown:
    from mlcli.experiment.run.reproduction import PLUGINS
    from mlcli.report.formats._registry import CSV
    from mlcli.report.views.full_report import provenance_of_run, report_of
    from mlcli.report.views.results_as_json import results_as_json
    from mlcli.report.views.runs import VERSIONS
    from mlcli.report.views.score_rows import scores_as_table
    from mlcli.scoring.model_results import score_result

    about, results, kept = stored_run(source, place, VERSIONS, PLUGINS)
    made = provenance_of_run(about, kept[VERSIONS], kept[PLUGINS] or ())
    found = [score_result(result, about.metrics) for result in results]
    if format == CSV:
        return lambda: scores_as_table(found), lambda: results_as_json(found)
    return lambda: report_of(found, made), lambda: results_as_json(found)


def _of_model(file: Path) -> Shown:
    from mlcli.experiment.saved.model_file import load_model
    from mlcli.report.views.trained_model import saved_model_as_json, saved_model_of

    saved = load_model(file)
    return lambda: saved_model_of(file.name, saved), lambda: saved_model_as_json(saved)
