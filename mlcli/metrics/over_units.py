"""A score over the units that were drawn: rows, or groups of rows that hang together, each with its share in the
error.

The score of a cell is the mean of its parts: of its splits, or of the rounds of them that judge every row once.
What a unit adds to the error is summed over all parts that judge it, so that a row which is judged ten times is
one row still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array, Rows
from mlcli.metrics.base import Metric, Score, Undefined
from mlcli.metrics.influence import influence, units_by_class
from mlcli.metrics.intervals import counted, effective_rows
from mlcli.metrics.pooling import joined, units_of
from mlcli.tasks.classification import LabelAnswers

WHOLE = 0.05
"""Units that are worth less than all of them by no more than this weigh the same."""


@dataclass(frozen=True, eq=False)
class OverUnits:
    """A score with the share of each unit in its error; ``count`` are the units, as many as they weigh.

    Of groups of uneven sizes a few have most of the error, and its degrees of freedom are theirs.
    ``spread`` is the sum of the squared shares as if every unit had been judged once: repeats make answers
    steadier, but teach nothing of other training rows.
    """

    value: float
    shares: Array
    count: float
    noun: str
    spread: float

    @property
    def counted(self) -> str:
        """How many units there are, in words; beside heavy rows or large groups others count for little."""
        if len(self.shares) - self.count < WHOLE:
            return f"{self.count:.0f} {self.noun}"
        groups = f"{len(self.shares)} groups, worth {self.count:.1f} of one size"
        return groups if self.noun == "groups" else counted(self.count)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the error."""
        return self.count - 1

    @property
    def error(self) -> float:
        """The standard error, if units are drawn independently; 0 where no spread is seen."""
        return math.sqrt(self.spread * self.count / self.freedom) if self.freedom > 0 else 0.0

    def with_more(self, rows: float, score: float) -> OverUnits:
        """The same with so many rows more that have this score, where the score is a mean of rows."""
        count, far = self.count + rows, score - self.value
        spread = (self.spread * self.count**2 + rows * far**2 * self.count / count) / count**2
        return replace(self, value=self.value + rows * far / count, count=count, spread=spread)


def scores_of(metric: Metric, parts: Sequence[Answers]) -> list[Score]:
    """The score of each part."""
    return [metric.compute(part) for part in parts]


def over_units(metric: Metric, parts: Sequence[Answers], grouped: bool = True) -> OverUnits | None:
    """The mean score of parts over their units; None where it is undefined or only resampling tells its error.

    What compares rows with each other, such as an area, has its error from whole rounds, also where its value is
    the mean of smaller splits: of three rows of a class, their own mean hides a third of the spread.
    """
    rounds = rounds_of_rows(parts)
    wholes = [[joined(round_)] if metric.by_rounds else round_ for round_ in rounds]
    even = [part for whole in wholes for part in whole] if metric.scale != "logit" else parts
    scores = scores_of(metric, even)
    known = [score for score in scores if not isinstance(score, Undefined)]
    value = float(np.mean(known)) if len(known) == len(scores) else np.nan
    shares = [_of_round(metric, round_, grouped) for round_ in wholes] if np.isfinite(value) else []
    found = [one for one in shares if one is not None]
    return _together(value, found) if found and len(found) == len(rounds) else None


@dataclass(frozen=True, eq=False)
class _Shares:
    """What units add to the error of a score, and what they weigh."""

    units: Rows
    shares: Array
    weights: Array
    noun: str

    def summed(self) -> _Shares:
        """Each unit once."""
        units, place = np.unique(self.units, return_inverse=True)
        weights = np.zeros(len(units))
        weights[place] = self.weights
        summed: Array = np.bincount(place, self.shares, len(units)).astype(np.float64)
        return _Shares(units, summed, weights, self.noun)


def _together(value: float, rounds: Sequence[_Shares]) -> OverUnits:
    """The rounds as one: each unit with its mean share, and with the spread that one round has."""
    every = _joined(rounds, 1 / len(rounds)).summed()
    spreads = [(one.shares**2).sum() * len(one.units) / len(every.units) for one in rounds]
    return OverUnits(value, every.shares, effective_rows(every.weights), every.noun, float(np.mean(spreads)))


def _joined(several: Sequence[_Shares], factor: float) -> _Shares:
    units = np.concatenate([one.units for one in several])
    shares = np.concatenate([one.shares for one in several]) * factor
    return _Shares(units, shares, np.concatenate([one.weights for one in several]), several[0].noun)


def _of_round(metric: Metric, parts: Sequence[Answers], grouped: bool) -> _Shares | None:
    scores = scores_of(metric, parts)
    known = [score for score in scores if not isinstance(score, Undefined)]
    if len(known) < len(parts):
        return None
    mean = float(np.mean(known))
    found = [_of_part(metric, part, score - mean, grouped) for part, score in zip(parts, known, strict=True)]
    shares = [one for one in found if one is not None]
    return _joined(shares, 1 / len(parts)).summed() if len(shares) == len(parts) else None


def _of_part(metric: Metric, part: Any, above: float, grouped: bool) -> _Shares | None:
    """The shares of the rows or groups of one part, whose score is so far above the mean."""
    if metric.per_unit is not None:
        return _of_values(metric.per_unit(part), part, above)
    moved = influence(metric, part)
    if moved is None:
        return None
    counting = part.weights > 0
    weights = part.weights[counting]
    shares = weights * (moved[counting] + above) / weights.sum()
    units = units_of(part) if grouped else None
    if units is None:
        return _Shares(part.rows[counting], shares, weights, "rows")
    groups, place = np.unique(units[counting], return_inverse=True)
    of_groups, weigh = (np.bincount(place, of_rows).astype(np.float64) for of_rows in (shares, weights))
    return _Shares(groups, of_groups, weigh, "groups")


def _of_values(values: Array, part: Any, above: float) -> _Shares:
    """Of a metric that is the plain mean of units; these are known by the first of their rows."""
    known = ~np.isnan(values)
    first = np.full(len(values), np.iinfo(np.int64).max)
    np.minimum.at(first, part.group, part.rows)
    shares = (values[known] - values[known].mean() + above) / known.sum()
    return _Shares(first[known], shares, np.ones(len(shares)), "groups")


def parts_of(metric: Metric, splits: Sequence[Answers], pooled: bool) -> Sequence[Any]:
    """What a metric is taken over: the splits, or rounds of them where these are too small for it."""
    if pooled or len(splits) == 1:
        return [joined(splits)]
    if metric.pooling == "always" or rare_class(metric, splits):
        return [joined(round_) for round_ in rounds_of_rows(splits)]
    return splits


def rounds_of_rows(splits: Sequence[Answers]) -> list[list[Answers]]:
    """Consecutive splits as rounds in which no row is judged twice."""
    rounds: list[list[Answers]] = [[]]
    seen = np.zeros(1 + max(int(answers.rows.max(initial=0)) for answers in splits), bool)
    for answers in splits:
        if seen[answers.rows].any():
            rounds.append([])
            seen[:] = False
        rounds[-1].append(answers)
        seen[answers.rows] = True
    return rounds


def rare_class(metric: Metric, splits: Sequence[Answers]) -> str:
    """The first class of which splits have too few rows for a metric, of all rounds the first; or nothing.

    An area needs a row of each class; the mean rate of classes is up to 0.07 too low where a split has one or two.
    """
    first = rounds_of_rows(splits)[0]
    if metric.pooling == "never" or len(first) == 1 or not isinstance(first[0], LabelAnswers):
        return ""
    judged = joined(first)
    rows, least = units_by_class(judged), len(first) * fewest_of_a_class(metric)
    return next((name for name, count in zip(judged.classes, rows, strict=True) if 0 < count < least), "")


def fewest_of_a_class(metric: Metric) -> int:
    """So many rows of each class a split needs for a metric to be the mean of splits."""
    return 3 if metric.of_tallies is not None else 1
