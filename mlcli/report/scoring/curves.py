"""Scores by what was swept over, such as the share of labelled rows, or by the stages of a fit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

from mlcli.core.findings import Curve
from mlcli.experiment.run.split_results import each
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.difference import compare
from mlcli.metrics.summary import summarise
from mlcli.report.document import Content, Element, Field, Heading, grid, notes, strong
from mlcli.report.numbers import fixed, short
from mlcli.report.scoring.scored import Group, Scored, judged, swept_over, training_answers, training_parts
from mlcli.report.views.score_table import BEST, badness, decimals_of, score_cell

ALIKE = "~"
READING = {
    "series": "the means further up are over all of these",
    "stages": "the scores further up are of the whole fits",
    "lines": "the scores further up are those with all labels, over all of these; bands: one standard deviation",
}

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Series:
    """A cell by the values of something: which splits were answered at each, and what the answers were."""

    one: Scored
    over: str
    places: Mapping[float, Sequence[int]]
    answers: Mapping[float, Sequence[Any]]
    kind: Literal["series", "stages"]
    training: Mapping[float, Sequence[Any]] = field(default_factory=dict)
    """The same about training rows, where models were asked about these, too."""
    line: str = ""
    """Which of several curves of the cell it is."""

    def named(self, name: str) -> str:
        """What it is called, if its cell has this name."""
        return f"{name}, {self.line}" if self.line else name

    def summary(self, metric: Metric, value: float) -> Summary:
        """A metric at a value."""
        return summarise(metric, self.answers[value], self._training_parts(value), self.one.result.pooled)

    def is_like(self, other: Series, metric: Metric, value: float) -> bool:
        """Whether no test tells two cells apart at a value."""
        parts, pooled = self._training_parts(value), self.one.result.pooled
        unsteady = self.one.unsteady or other.one.unsteady
        found = compare(metric, self.answers[value], other.answers[value], parts, pooled, unsteady=unsteady)
        return not found.distinguishable

    def learned_from(self, value: float) -> list[int]:
        """How many rows each split has learned from."""
        return [self.one.result.splits[place].train_rows for place in self.places.get(value, ())]

    def _training_parts(self, value: float) -> list[int]:
        parts = training_parts(self.one.result)
        return [parts[place] for place in self.places[value]]


def series_of(one: Scored) -> list[Series]:
    """What a protocol has swept over, and the stages of the fits, where there are such."""
    if not one.done:
        return []
    lines = dict.fromkeys(at.line for at in each(one.result.splits, "coordinate") if at is not None and at.line)
    found = [_stages(one, line) for line in lines] if lines else [_sweep(one), _stages(one)]
    return [series for series in found if series is not None]


def scores_by_series(group: Group, metric: Metric) -> Iterator[Element]:
    """One metric: a line for each value, a column for each model that was judged there, and their curves."""
    found = [series for one in group for series in series_of(one)]
    for over in dict.fromkeys(series.over for series in found if not series.line):
        of_models = {group[series.one]: series for series in found if series.over == over and not series.line}
        yield from _compared(of_models, metric, f"{metric.name} by {over}")
    for one in dict.fromkeys(series.one for series in found if series.line):
        lines = {series.line: series for series in found if series.one is one}
        over = next(iter(lines.values())).over
        yield from _compared(lines, metric, f"{group[one]}: {metric.name} by {over}")


def summaries_of(series: Series) -> dict[float, dict[str, Summary]]:
    """Each metric, by name, at each value."""
    metrics = series.one.metrics
    return {value: {one.name: series.summary(one, value) for one in metrics} for value in series.answers}


def _sweep(one: Scored) -> Series | None:
    """The splits by the coordinates at which their protocol has put them."""
    if not (over := swept_over(one.result)):
        return None
    places: dict[float, list[int]] = {}
    for place, at in enumerate(each(one.result.splits, "coordinate")):
        places.setdefault(at.value, []).append(place)
    answers, learned = (
        {value: [given[place] for place in some] for value, some in places.items()} if given else {}
        for given in (judged(one.result), training_answers(one.result))
    )
    return Series(one, over, places, answers, "series", learned)


def _stages(one: Scored, line: str = "") -> Series | None:
    """The stages at which every split has answered; a fit that ended before a stage has its last answers there.

    With a line only the splits that lie on it.
    """
    coordinates = each(one.result.splits, "coordinate")
    every = [place for place, at in enumerate(coordinates) if not line or (at is not None and at.line == line)]
    given = each(one.result.splits, "stages"), judged(one.result)
    stages, last = ([of_splits[place] for place in every] for of_splits in given)
    if not (named := next((at.name for of_split in stages for at, _ in of_split), "")):
        return None
    whole = _by_stage(stages, last)
    learned = {} if line else _by_stage(each(one.result.splits, "training_stages"), training_answers(one.result))
    return Series(one, named, dict.fromkeys(whole, every), whole, "stages", learned, line)


def _by_stage(stages: Sequence[Any], last: Sequence[Any]) -> dict[float, list[Any]]:
    """The answers of all splits at each stage that all of them have."""
    by_split = [{at.value: answers for at, answers in of_split} for of_split in stages]
    at = {
        value: [
            known.get(value, last[place] if value > max(known, default=0.0) else None)
            for place, known in enumerate(by_split)
        ]
        for value in sorted({value for known in by_split for value in known})
    }
    return {value: answers for value, answers in at.items() if not any(one is None for one in answers)}


def _compared(several: Mapping[str, Series], metric: Metric, title: str) -> Iterator[Element]:
    """A column for each series, by its name, and a curve for each below the table."""
    of_all, first = list(several.values()), next(iter(several.values()))
    values = sorted({value for series in of_all for value in series.answers})
    table = [
        {series: series.summary(metric, value) for series in of_all if value in series.answers} for value in values
    ]
    learned = [_rows_learned_from(of_all, value) for value in values]
    differ = len(set(learned)) > 1 and not first.line
    rows: list[list[Content]] = [
        [strong(short(value)), *[known] * differ, *(line.get(series, Field("")) for series in of_all)]
        for value, known, line in zip(values, learned, map(partial(_line, metric), values, table), strict=True)
    ]
    header = [first.over, *["rows learned from"] * differ, *several]
    yield Heading(title)
    yield grid(header, rows, right=range(len(header)))
    means = [[line[series].mean if series in line else None for line in table] for series in of_all]
    spreads = [[line[series].std if series in line else None for line in table] for series in of_all]
    bands = [map(band, *ends) for ends in zip(means, spreads, strict=True)] if first.line else []
    yield Curve("", first.over, tuple(values), _by_name(several, means), bands=_by_name(several, bands))
    alike = any(cell.text.startswith(ALIKE) for row in rows for cell in row if isinstance(cell, Field))
    signs = f"{BEST} is the best of its line" + f"; {ALIKE} is not distinguishable from it at 5 %" * alike
    yield notes(f"{signs}; {READING['lines' if first.line else first.kind]}")


def _by_name(names: Iterable[str], lines: Iterable[Iterable[T]]) -> tuple[tuple[str, tuple[T, ...]], ...]:
    return tuple(zip(names, map(tuple, lines), strict=False))


def band(mean: float | None, spread: float | None) -> tuple[float, float] | None:
    """From one spread below a mean to one above it, where both are known."""
    return None if mean is None or spread is None else (mean - spread, mean + spread)


def _rows_learned_from(several: Sequence[Series], value: float) -> str:
    learned = [rows for series in several for rows in series.learned_from(value)]
    return f"{min(learned)} to {max(learned)}" if min(learned) < max(learned) else short(learned[0])


def _line(metric: Metric, value: float, summaries: Mapping[Series, Summary]) -> dict[Series, Field]:
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
