"""Scores as one rectangular table: a row for each model, metric and point of a sweep, with every digit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mlcli.core.registry import MODELS
from mlcli.experiment.results import JUDGED, TRAINING, each
from mlcli.experiment.spec.labels import settings_of
from mlcli.metrics.base import Summary
from mlcli.metrics.bias_variance import Decomposition
from mlcli.report.document import Document, grid
from mlcli.report.views.plan import protocol_words, steps_of
from mlcli.scoring.curves import requested_decomposition, series_of, summaries_of, terms_by_name
from mlcli.scoring.model_results import ModelResult, coordinate_name

HEADER = (
    *("dataset", "model", "parameters", "metric", "value", "low", "high", "sd", "part", "over", "at"),
    *("status", "why", "kind", "steps", "protocol", "seed", "rows", "splits", "fit_seconds", "predict_seconds"),
)
"""The columns of scores; those of the second line are the same for every score of a model."""

Row = Mapping[str, str]


def scores_as_table(scored: Iterable[ModelResult]) -> Document:
    """The table of all models; one that has no scores has a row that says why."""
    return table_of_rows(row for result in scored for row in score_rows(result))


def table_of_rows(rows: Iterable[Row]) -> Document:
    """A table with the columns of scores, empty where a row has no such value."""
    return (grid(HEADER, ([row.get(name, "") for name in HEADER] for row in rows), keys=2),)


def score_rows(result: ModelResult) -> Iterator[Row]:
    """Every score of a model: on test rows, on training rows, and at each point of its sweep or stages.

    The points of a sweep have no score in common: a mean over training sizes would be that of none.
    """
    about = _about(result)
    if not result.summaries:
        yield about
    if not coordinate_name(result.cell_result):
        yield from _rows_of_summaries(about, result.summaries)
        for metric, mean in result.training.items():
            yield {**about, "part": TRAINING, "metric": metric, "value": repr(float(mean))}
    if isinstance(decomposition := requested_decomposition(result), Decomposition):
        yield from rows_of_terms(result, decomposition)
    for series in series_of(result):
        for value, summaries in summaries_of(series).items():
            point = {"model": series.named(about["model"]), "over": series.over, "at": repr(float(value))}
            yield from _rows_of_summaries({**about, **point}, summaries)


def rows_of_terms(result: ModelResult, decomposition: Decomposition) -> Iterator[Row]:
    """The error of a model and its parts by bias and variance."""
    about = _about(result)
    for name, value in terms_by_name(decomposition).items():
        yield {**about, "part": JUDGED, "metric": name, "value": repr(float(value))}


def _rows_of_summaries(about: Row, summaries: Mapping[str, Summary]) -> Iterator[Row]:
    """A row for each metric, with its interval, or why it has no value."""
    for metric, summary in summaries.items():
        numbers = {"value": summary.mean, "low": summary.low, "high": summary.high, "sd": summary.std}
        texts = {name: "" if value is None else repr(float(value)) for name, value in numbers.items()}
        why = {"why": summary.why} if summary.why else {}
        yield {**about, "part": JUDGED, "metric": metric, **texts, **why}


def _about(result: ModelResult) -> dict[str, str]:
    """The columns that are the same for every score of a model."""
    cell, splits = result.cell, result.splits
    return {
        "dataset": cell.dataset.name,
        "model": cell.label,
        "parameters": "" if cell.model.saved else settings_of(cell.model, MODELS),
        "status": result.status,
        "why": "; ".join(result.why.splitlines()),
        "kind": cell.kind,
        "steps": steps_of(cell),
        "protocol": protocol_words(cell),
        "seed": str(cell.seed),
        "rows": str(cell.labelled_rows),
        "splits": str(len(splits)),
        "fit_seconds": f"{sum(each(splits, 'fit_seconds')):.6f}",
        "predict_seconds": f"{sum(each(splits, 'predict_seconds')):.6f}",
    }
