"""Scores by what a protocol swept over, or by the stages of fits: a table and curves below those of a dataset."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from mlcli.core.findings import Curve
from mlcli.metrics.base import Metric, Summary
from mlcli.report.document import Content, Element, GridCell, Heading, grid, notes, strong
from mlcli.report.numbers import decimals_of, fixed, short
from mlcli.report.scoring.curves import Series, band, series_of
from mlcli.report.scoring.scored import Group, badness
from mlcli.report.views.score_table import BEST, score_cell

ALIKE = "~"
READING = {
    "training rows": "the scores and tests further up are those of the largest size",
    "series": "the means further up are over all of these",
    "stages": "the scores further up are of the whole fits",
    "lines": "the scores further up are those with all labels, over all of these; bands: one standard deviation",
}

T = TypeVar("T")


def scores_by_series(group: Group, metric: Metric) -> Iterator[Element]:
    """One metric: a line for each value, a column for each model that was judged there, and their curves."""
    found = [series for one in group for series in series_of(one)]
    for over in dict.fromkeys(series.over for series in found if not series.line):
        of_models = {group[series.scored]: series for series in found if series.over == over and not series.line}
        yield from _table_of_series(of_models, metric, f"{metric.name} by {over}")
    for one in dict.fromkeys(series.scored for series in found if series.line):
        lines = {series.line: series for series in found if series.scored is one}
        over = next(iter(lines.values())).over
        yield from _table_of_series(lines, metric, f"{group[one]}: {metric.name} by {over}")


def _table_of_series(several: Mapping[str, Series], metric: Metric, title: str) -> Iterator[Element]:
    """A column for each series, by its name, and a curve for each below the table."""
    of_all, first = list(several.values()), next(iter(several.values()))
    values = sorted({value for series in of_all for value in series.answers})
    table = [
        {series: series.summary(metric, value) for series in of_all if value in series.answers} for value in values
    ]
    learned = [_rows_learned_from(of_all, value) for value in values]
    differ = len(set(learned)) > 1 and not first.line
    rows: list[list[Content]] = []
    for value, known, summaries in zip(values, learned, table, strict=True):
        of_models = _score_cells(metric, value, summaries)
        rows.append(
            [strong(short(value)), *[known] * differ, *(of_models.get(one, GridCell("")) for one in of_all)]
        )
    header = [first.over, *["rows learned from"] * differ, *several]
    yield Heading(title)
    yield grid(header, rows, right=range(len(header)))
    means = [[line[series].mean if series in line else None for line in table] for series in of_all]
    spreads = [[line[series].std if series in line else None for line in table] for series in of_all]
    bands = [map(band, *ends) for ends in zip(means, spreads, strict=True)] if first.line else []
    yield Curve("", first.over, tuple(values), _named_lines(several, means), bands=_named_lines(several, bands))
    alike = any(cell.text.startswith(ALIKE) for row in rows for cell in row if isinstance(cell, GridCell))
    signs = f"{BEST} is the best of its line" + f"; {ALIKE} is not distinguishable from it at 5 %" * alike
    yield notes(f"{signs}; {READING.get(first.over) or READING['lines' if first.line else first.kind]}")


def _named_lines(names: Iterable[str], lines: Iterable[Iterable[T]]) -> tuple[tuple[str, tuple[T, ...]], ...]:
    return tuple(zip(names, map(tuple, lines), strict=False))


def _rows_learned_from(several: Sequence[Series], value: float) -> str:
    learned = [rows for series in several for rows in series.learned_from(value)]
    return f"{min(learned)} to {max(learned)}" if min(learned) < max(learned) else short(learned[0])


def _score_cells(metric: Metric, value: float, summaries: Mapping[Series, Summary]) -> dict[Series, GridCell]:
    """The cells of one value: the best marked, and those that no test tells from it."""
    decimals = decimals_of(metric, list(summaries.values()))
    means = {series: summary.mean for series, summary in summaries.items() if summary.mean is not None}
    ranked = sorted(means, key=lambda series: badness(metric, means[series]))
    best = fixed(means[ranked[0]], decimals) if len(set(means.values())) > 1 else None
    known = [series for series in ranked if math.isfinite(means[series])]
    alike = [series for series in known[1:] if known[0].is_like(series, metric, value)]
    return {
        series: score_cell(summary, decimals, best, ALIKE if series in alike else "")
        for series, summary in summaries.items()
    }
