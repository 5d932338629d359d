"""Results as one table with a row for each cell and every digit, for spreadsheets and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.core.registry import MODELS
from mlcli.experiment.run.split_results import each
from mlcli.experiment.spec.labels import settings_of
from mlcli.metrics.base import Summary
from mlcli.report.document import Document, grid
from mlcli.report.remarks import steps_of
from mlcli.report.results import protocol_words
from mlcli.report.scored import Scored

ABOUT = ("dataset", "kind", "model", "parameters", "steps", "protocol", "seed", "rows", "splits", "status", "why")
ENDS = ("mean", "low", "high")


def cells_of(found: Sequence[Scored]) -> Document:
    """What each cell was, and its scores with the ends of their intervals; empty where there is none."""
    metrics = list(dict.fromkeys(metric.name for one in found for metric in one.metrics))
    titles = (title for name in metrics for title in (name, f"{name}-low", f"{name}-high"))
    header = [*ABOUT, *titles, "fit-seconds", "predict-seconds"]
    return (grid(header, [[*_about(one), *_scores(one, metrics), *_seconds(one)] for one in found], keys=3),)


def _about(one: Scored) -> Iterator[str]:
    cell = one.cell
    yield from (cell.dataset.name, cell.kind, cell.label)
    yield "" if cell.model.saved else settings_of(cell.model, MODELS)
    yield from (steps_of(cell), protocol_words(cell))
    yield from map(str, (cell.seed, cell.labelled_rows, len(one.result.splits), one.result.status))
    yield "; ".join((one.result.why or cell.skipped).splitlines())


def _scores(one: Scored, metrics: Sequence[str]) -> Iterator[str]:
    for name in metrics:
        summary: Summary | None = one.summaries.get(name)
        for end in ENDS:
            value = None if summary is None else getattr(summary, end)
            yield "" if value is None else repr(float(value))


def _seconds(one: Scored) -> Iterator[str]:
    for name in ("fit_seconds", "predict_seconds"):
        yield f"{sum(each(one.result.splits, name)):.6f}"
