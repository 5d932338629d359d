"""Scores by what the splits of a protocol sweep over, such as the share of labelled rows: a line each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlcli.experiment.spec.cells import CellResult
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.difference import Difference, compare
from mlcli.metrics.summary import summarise
from mlcli.report.document import Block, Cell, Content, Heading, grid, notes
from mlcli.report.numbers import HEIGHTS, fixed, short
from mlcli.report.scored import Scored, judged, swept_over, training_parts
from mlcli.report.scores import BEST, badness, decimals_of, reach_of

ALIKE = "~"


def series_of(result: CellResult) -> dict[str, list[int]]:
    """The places of the splits by the value that their labels begin with; none where nothing is swept over."""
    if not swept_over(result):
        return {}
    places: dict[str, list[int]] = {}
    for place, split in enumerate(result.splits):
        places.setdefault(split.label.partition(", ")[0], []).append(place)
    return places


def scores_by_series(group: Sequence[Scored], names: Mapping[Scored, str], metric: Metric) -> Iterator[Block]:
    """One metric, a line for each value and a column for each model that was judged; a curve below each column."""
    swept = [one for one in group if one.done and swept_over(one.result)]
    if not swept:
        return
    what = swept_over(swept[0].result)
    values = list(series_of(swept[0].result))
    table = [[_summary(one, metric, value) for one in swept] for value in values]
    lines = [_line(swept, metric, value, summaries) for value, summaries in zip(values, table, strict=True)]
    header = [what, "rows learned from", *(names[one] for one in swept)]
    yield Heading(f"{metric.name} by {what}")
    yield grid(header, [*lines, _curves(table)], right=range(1, len(header)))
    alike = any(isinstance(cell, Cell) and cell.text.startswith(ALIKE) for line in lines for cell in line)
    signs = f"{BEST} is the best of its line" + f"; {ALIKE} is not distinguishable from it at 5 %" * alike
    yield notes(f"{signs}; the means further up are over all of these")


def summaries_by_series(one: Scored) -> dict[str, dict[str, Summary]]:
    """Each metric, by name, at each value that the protocol sweeps over; none where it sweeps over nothing."""
    values = series_of(one.result) if one.done else {}
    return {value: {metric.name: _summary(one, metric, value) for metric in one.metrics} for value in values}


def _curves(table: Sequence[Sequence[Summary]]) -> list[Content]:
    """The means of each column as a curve, all columns between the lowest and the highest of them all."""
    means = [summary.mean for line in table for summary in line if summary.mean is not None]
    known = [mean for mean in means if math.isfinite(mean)]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    columns = (
        "".join(_height(summary.mean, low, high) for summary in column) for column in zip(*table, strict=True)
    )
    return [Cell("curve", "weak"), "", *columns]


def _height(mean: float | None, low: float, high: float) -> str:
    if mean is None or not math.isfinite(mean):
        return " "
    share = (mean - low) / (high - low) if high > low else 0.0
    return HEIGHTS[round(share * (len(HEIGHTS) - 1))]


def _line(swept: Sequence[Scored], metric: Metric, value: str, summaries: Sequence[Summary]) -> list[Content]:
    decimals = decimals_of(metric, summaries)
    means = [summary.mean for summary in summaries if summary.mean is not None]
    best = fixed(min(means, key=lambda mean: badness(metric, mean)), decimals) if len(set(means)) > 1 else None
    learned = [swept[0].result.splits[place].train_rows for place in series_of(swept[0].result)[value]]
    rows = f"{min(learned)} to {max(learned)}" if min(learned) < max(learned) else short(learned[0])
    alike = _alike(swept, metric, value, summaries)
    scores = (
        _score(summary, decimals, best, ALIKE if one in alike else "")
        for one, summary in zip(swept, summaries, strict=True)
    )
    return [Cell(value, "strong"), rows, *scores]


def _alike(swept: Sequence[Scored], metric: Metric, value: str, summaries: Sequence[Summary]) -> list[Scored]:
    """The models that no test tells from the best at one value."""
    known = [
        (badness(metric, summary.mean), place)
        for place, summary in enumerate(summaries)
        if summary.mean is not None and math.isfinite(summary.mean)
    ]
    if not known:
        return []
    best = swept[min(known)[1]]
    others = [swept[place] for _, place in known if swept[place] is not best]
    return [one for one in others if not _difference(best, one, metric, value).distinguishable]


def _difference(best: Scored, other: Scored, metric: Metric, value: str) -> Difference:
    first, second = _answers(best, value), _answers(other, value)
    return compare(metric, first, second, _train_rows(best, value), best.result.pooled)


def _answers(one: Scored, value: str) -> list[Any]:
    answers = judged(one.result)
    return [answers[place] for place in series_of(one.result)[value]]


def _train_rows(one: Scored, value: str) -> list[int]:
    parts = training_parts(one.result)
    return [parts[place] for place in series_of(one.result)[value]]


def _summary(one: Scored, metric: Metric, value: str) -> Summary:
    return summarise(metric, _answers(one, value), _train_rows(one, value))


def _score(summary: Summary, decimals: int | None, best: str | None, sign: str) -> Cell:
    if summary.mean is None:
        return Cell("undefined", "weak")
    mean, reach = fixed(summary.mean, decimals), reach_of(summary)
    text = mean + ("" if reach is None else f" ±{fixed(reach, decimals)}")
    return Cell(BEST + text, "best") if mean == best else Cell(sign + text)
