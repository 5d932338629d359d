"""Scores by what was swept over, such as the share of labelled rows, or by the stages of a fit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mlcli.core.findings import Curve
from mlcli.experiment.run.split_results import each
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.difference import compare
from mlcli.metrics.summary import summarise
from mlcli.report.document import Content, Element, Field, Heading, grid, notes
from mlcli.report.numbers import fixed, short
from mlcli.report.scored import Names, Scored, judged, swept_over, training_answers, training_parts
from mlcli.report.scores import BEST, badness, decimals_of, score_cell

ALIKE = "~"
READING = {
    "series": "the means further up are over all of these",
    "stages": "the scores further up are of the whole fits",
    "lines": "the scores further up are those with all labels, over all of these; bands: one standard deviation",
}

Summaries = Sequence[Summary | None]
"""Of one metric by what was swept over; None where a model was not judged."""


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


def scores_by_series(group: Sequence[Scored], names: Names, metric: Metric) -> Iterator[Element]:
    """One metric: a line for each value, a column for each model that was judged there, and their curves."""
    found = [series for one in group for series in series_of(one)]
    for over in dict.fromkeys(series.over for series in found if not series.line):
        of_models = [series for series in found if series.over == over and not series.line]
        title = f"{metric.name} by {over}"
        yield from _compared(of_models, [names[series.one] for series in of_models], metric, title)
    for one in dict.fromkeys(series.one for series in found if series.line):
        lines = [series for series in found if series.one is one]
        title = f"{names[one]}: {metric.name} by {lines[0].over}"
        yield from _compared(lines, [series.line for series in lines], metric, title)


def summaries_of(series: Series) -> dict[float, dict[str, Summary]]:
    """Each metric, by name, at each value."""
    metrics = series.one.metrics
    return {value: {one.name: series.summary(one, value) for one in metrics} for value in series.answers}


def _sweep(one: Scored) -> Series | None:
    """The splits by the coordinates at which their protocol has put them."""
    over, answers = swept_over(one.result), judged(one.result)
    if not over:
        return None
    places: dict[float, list[int]] = {}
    for place, split in enumerate(one.result.splits):
        assert split.coordinate is not None
        places.setdefault(split.coordinate.value, []).append(place)
    at, learned = (
        {value: [given[place] for place in some] for value, some in places.items()} if given else {}
        for given in (answers, training_answers(one.result))
    )
    return Series(one, over, places, at, "series", learned)


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


def _compared(several: Sequence[Series], columns: Sequence[str], metric: Metric, title: str) -> Iterator[Element]:
    over = several[0].over
    values = sorted({value for series in several for value in series.answers})
    table = [
        [series.summary(metric, value) if value in series.answers else None for series in several]
        for value in values
    ]
    by_line = any(series.line for series in several)
    learned = [_rows_learned_from(several, value) for value in values]
    differ = len(set(learned)) > 1 and not by_line
    rows = [
        [Field(written, "strong"), *[known] * differ, *_line(several, metric, value, summaries)]
        for written, known, value, summaries in zip(map(short, values), learned, values, table, strict=True)
    ]
    header = [over, *["rows learned from"] * differ, *columns]
    yield Heading(title)
    yield grid(header, rows, right=range(len(header)))
    bands = _bands(columns, table) if by_line else ()
    yield Curve("", over, tuple(values), _curves(columns, table), bands=bands)
    alike = any(cell.text.startswith(ALIKE) for row in rows for cell in row if isinstance(cell, Field))
    signs = f"{BEST} is the best of its line" + f"; {ALIKE} is not distinguishable from it at 5 %" * alike
    yield notes(f"{signs}; {READING['lines' if by_line else several[0].kind]}")


def _curves(names: Sequence[str], table: Sequence[Summaries]) -> tuple[tuple[str, tuple[float | None, ...]], ...]:
    means = [[None if summary is None else summary.mean for summary in line] for line in table]
    return tuple(zip(names, zip(*means, strict=True), strict=True))


def _bands(
    names: Sequence[str], table: Sequence[Summaries]
) -> tuple[tuple[str, tuple[tuple[float, float] | None, ...]], ...]:
    """From a standard deviation below each mean to one above it, over the repeats."""
    lines = [[None if summary is None else band(summary.mean, summary.std) for summary in line] for line in table]
    return tuple(zip(names, zip(*lines, strict=True), strict=True))


def band(mean: float | None, spread: float | None) -> tuple[float, float] | None:
    """From one spread below a mean to one above it, where both are known."""
    return None if mean is None or spread is None else (mean - spread, mean + spread)


def _rows_learned_from(several: Sequence[Series], value: float) -> str:
    learned = [rows for series in several for rows in series.learned_from(value)]
    return f"{min(learned)} to {max(learned)}" if min(learned) < max(learned) else short(learned[0])


def _line(several: Sequence[Series], metric: Metric, value: float, summaries: Summaries) -> list[Content]:
    known = [summary for summary in summaries if summary is not None]
    decimals = decimals_of(metric, known)
    means = [summary.mean for summary in known if summary.mean is not None]
    best = fixed(min(means, key=lambda mean: badness(metric, mean)), decimals) if len(set(means)) > 1 else None
    alike = _alike(several, metric, value, summaries)
    return [
        Field("") if summary is None else score_cell(summary, decimals, best, ALIKE if series in alike else "")
        for series, summary in zip(several, summaries, strict=True)
    ]


def _alike(several: Sequence[Series], metric: Metric, value: float, summaries: Summaries) -> list[Series]:
    """Those that no test tells from the best at one value."""
    known = [
        (badness(metric, summary.mean), place)
        for place, summary in enumerate(summaries)
        if summary is not None and summary.mean is not None and math.isfinite(summary.mean)
    ]
    if not known:
        return []
    best = several[min(known)[1]]
    others = [several[place] for _, place in known if several[place] is not best]
    return [series for series in others if best.is_like(series, metric, value)]
