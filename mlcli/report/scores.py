"""The table of models of one dataset: baseline first, the best of each metric marked, nothing left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlcli.metrics.base import Metric, Summary
from mlcli.report.document import Block, Cell, Content, Grid, grid, notes
from mlcli.report.numbers import decimals_for, fixed
from mlcli.report.scored import Scored

BEST = "*"
UNIT_DECIMALS = 3
LEGEND_OF_BEST = f"{BEST} is the best of its column; "
LEGEND = "± reaches to the farther end of the 95 % interval"


def table_of_models(
    scored: Sequence[Scored], names: Mapping[Scored, str], metrics: Sequence[Metric]
) -> Iterator[Block]:
    """The scores of the cells that are done, and what became of the others."""
    done = [one for one in scored if one.done]
    if done:
        yield _scores(done, names, metrics)
        yield notes(LEGEND_OF_BEST * (len(done) > 1) + LEGEND, *_intervals(done, metrics))
    others = [one for one in scored if not one.done]
    if others:
        yield grid(["model", "status", "why"], [_undone(one, names[one]) for one in others])


def _scores(done: Sequence[Scored], names: Mapping[Scored, str], metrics: Sequence[Metric]) -> Grid:
    columns = [_column(metric, [one.summaries[metric.name] for one in done]) for metric in metrics]
    rows = [[Cell(names[one], "strong"), *cells] for one, *cells in zip(done, *columns, strict=True)]
    return grid(["model", *(metric.name for metric in metrics)], rows, right=range(1, len(metrics) + 1))


def _column(metric: Metric, summaries: Sequence[Summary]) -> list[Cell]:
    means = [summary.mean for summary in summaries if summary.mean is not None]
    decimals = decimals_of(metric, summaries)
    best = min((badness(metric, mean) for mean in means), default=None) if len(summaries) > 1 else None
    return [_score(summary, decimals, metric, best) for summary in summaries]


def badness(metric: Metric, mean: float) -> float:
    """A number that is smaller for a better mean."""
    return {"high": -mean, "low": mean, "zero": abs(mean)}[metric.better]


def _score(summary: Summary, decimals: int, metric: Metric, best: float | None) -> Cell:
    if summary.mean is None:
        return Cell("undefined", "weak")
    text = fixed(summary.mean, decimals)
    reach = reach_of(summary)
    text += "" if reach is None else f" ±{fixed(reach, decimals)}"
    return Cell(BEST + text, "best") if badness(metric, summary.mean) == best else Cell(text)


def decimals_of(metric: Metric, summaries: Iterable[Summary]) -> int:
    """Decimals for scores of one metric: three where it is bounded, else by the size of score and interval."""
    if metric.low is not None and metric.high is not None:
        return UNIT_DECIMALS
    return decimals_for(max(abs(summary.mean or 0.0), reach_of(summary) or 0.0) for summary in summaries)


def reach_of(summary: Summary) -> float | None:
    """How far the interval reaches from the mean, on its longer side."""
    if summary.mean is None or summary.low is None or summary.high is None:
        return None
    reach = max(summary.high - summary.mean, summary.mean - summary.low)
    return reach if math.isfinite(reach) else None


def _intervals(done: Sequence[Scored], metrics: Sequence[Metric]) -> Iterable[str]:
    """How the intervals were made, metrics of one way together; remarks on single ones are in --json."""
    ways: dict[str, list[str]] = {}
    for metric in metrics:
        summaries = [one.summaries[metric.name] for one in done]
        for way in dict.fromkeys(
            summary.interval.partition(";")[0] for summary in summaries if reach_of(summary) is not None
        ):
            ways.setdefault(way, []).append(metric.name)
    return (f"interval of {', '.join(of)}: {way}" for way, of in ways.items())


def _undone(one: Scored, name: str) -> list[Content]:
    return [Cell(name, "strong"), Cell(one.result.status, "bad"), one.result.why or one.result.cell.skipped]
