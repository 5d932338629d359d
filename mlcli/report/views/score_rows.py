"""Scores as one rectangular table: a row for each model, metric and point of a sweep, with every digit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlcli.core.registry import MODELS
from mlcli.experiment.run.split_results import JUDGED, TRAINING, each
from mlcli.experiment.spec.labels import settings_of
from mlcli.metrics.base import Summary
from mlcli.metrics.bias_variance import Decomposition
from mlcli.report.document import Document, grid
from mlcli.report.views.plan import protocol_words
from mlcli.report.views.remarks import steps_of
from mlcli.scoring.curves import requested_decomposition, series_of, summaries_of, terms_by_name
from mlcli.scoring.model_results import ModelResult, coordinate_name

SCORE = ("dataset", "model", "parameters", "metric", "value", "low", "high", "sd", "part", "over", "at")
CELL = ("status", "why", "kind", "steps", "protocol", "seed", "rows", "splits", "fit_seconds", "predict_seconds")
"""What is the same for every score of a model."""

Row = Mapping[str, str]


def scores_as_table(scored: Iterable[ModelResult]) -> Document:
    """The table of all cells; one that has no scores has a row that says why."""
    return table_of_rows(row for result in scored for row in score_rows(result))


def table_of_rows(rows: Iterable[Row]) -> Document:
    """A table with the columns of scores, empty where a row has no such value."""
    header = (*SCORE, *CELL)
    return (grid(header, ([row.get(name, "") for name in header] for row in rows), keys=2),)


def score_rows(model_result: ModelResult) -> Iterator[Row]:
    """Every score of a cell: of the judged rows, of the training rows, and at each point of its sweep or stages.

    The points of a sweep have no score in common: a mean over training sizes would be that of none.
    """
    about = about_cell(model_result)
    if not model_result.summaries:
        yield about
    if not coordinate_name(model_result.cell_result):
        yield from rows_of_summaries(about, model_result.summaries)
        for metric, mean in model_result.training.items():
            yield {**about, "part": TRAINING, "metric": metric, "value": repr(float(mean))}
    if isinstance(decomposition := requested_decomposition(model_result), Decomposition):
        yield from rows_of_terms(model_result, decomposition)
    for series in series_of(model_result):
        for value, summaries in summaries_of(series).items():
            point = {"model": series.named(about["model"]), "over": series.over, "at": repr(float(value))}
            yield from rows_of_summaries({**about, **point}, summaries)


def rows_of_terms(model_result: ModelResult, decomposition: Decomposition) -> Iterator[Row]:
    """The error of a cell and its parts by bias and variance."""
    for name, value in terms_by_name(decomposition).items():
        yield {**about_cell(model_result), "part": JUDGED, "metric": name, "value": repr(float(value))}


def rows_of_summaries(about: Row, summaries: Mapping[str, Summary]) -> Iterator[Row]:
    """A row for each metric, with its interval, or why it has no value."""
    for metric, summary in summaries.items():
        ends = (summary.mean, summary.low, summary.high, summary.std)
        numbers = dict(zip(("value", "low", "high", "sd"), map(_number_text, ends), strict=True))
        why = {"why": summary.why} if summary.why else {}
        yield {**about, "part": JUDGED, "metric": metric, **numbers, **why}


def about_cell(model_result: ModelResult) -> dict[str, str]:
    """What was judged, how, and how it ended."""
    cell, splits = model_result.cell, model_result.splits
    return {
        "dataset": cell.dataset.name,
        "model": cell.label,
        "parameters": "" if cell.model.saved else settings_of(cell.model, MODELS),
        "status": model_result.status,
        "why": "; ".join((model_result.why).splitlines()),
        "kind": cell.kind,
        "steps": steps_of(cell),
        "protocol": protocol_words(cell),
        "seed": str(cell.seed),
        "rows": str(cell.labelled_rows),
        "splits": str(len(splits)),
        "fit_seconds": _seconds_text(each(splits, "fit_seconds")),
        "predict_seconds": _seconds_text(each(splits, "predict_seconds")),
    }


def _seconds_text(seconds: Sequence[float]) -> str:
    return f"{sum(seconds):.6f}"


def _number_text(value: float | None) -> str:
    return "" if value is None else repr(float(value))
