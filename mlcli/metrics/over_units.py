"""The influence of rows on a score, and the standard error of the score over rows or groups of rows.

The score of a cell is the mean of its parts: of its splits, or of the rounds of splits that test every row once.
The contributions of a unit (a row or a group) to the error are summed over all parts, so that a row that is
tested ten times is still one row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mlcli.core.answers import Answers, ClassAnswers
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.metrics.base import (
    Metric,
    Ranking,
    Rounds,
    Score,
    by_others,
    defined,
    distinct,
    first_rows,
    joined,
    rounds_of_rows,
    rows_or_groups,
    units_by_class,
    units_of,
)
from mlcli.metrics.confusion import Tallies, counts_of, tallies_of
from mlcli.metrics.intervals import counted_rows, effective_rows
from mlcli.metrics.registry import weighted_mean
from mlcli.tasks.supervised import LabelAnswers

# Influence of rows on a score.
#
# The influence of row i is W ∂score/∂wᵢ, where W is the sum of all weights: how the score would change if rows
# like this one took all the weight (Hampel 1974; Efron 1982, the infinitesimal jackknife). Its weighted mean is
# 0. For a mean of row values it is the value of the row minus the mean. For the area under the ROC curve it
# follows from the placements of DeLong, DeLong & Clarke-Pearson 1988. For a function of the tallies of K classes
# it follows from the 3 K derivatives: a row counts in the tally of its class, of its predicted class, and of the
# right ones if it is.

PSEUDO_ROWS = 1.0
"""This many rows are added to each class, half of them wrong, for errors that were not observed yet."""


def influence(metric: Metric, answers: Any) -> Array | None:
    """The influence of each row on a score; None if only resampling tells."""
    if metric.influence is not None:
        return metric.influence(answers)
    if metric.rankings is not None:
        influences = [_influence_on_area(ranking) for ranking in metric.rankings(answers)]
        defined_influences = [values for values in influences if values is not None]
        if not defined_influences:
            return None
        return np.asarray(answers.weights.sum() * np.mean(defined_influences, axis=0))
    if metric.of_tallies is not None:
        return slopes(_function_of_tallies(metric, answers), tallies_of(answers)).of_rows(
            answers.truth, answers.predicted
        )
    if metric.per_row is None:
        return None
    values = metric.per_row(answers)
    return values - weighted_mean(values, answers.weight)


def variance_when_smoothed(metric: Metric, answers: LabelAnswers) -> tuple[float, float]:
    """A function of counts, and the variance of its influence, with a few errors more than were seen."""
    function, counts = _function_of_tallies(metric, answers), _smoothed_counts(counts_of(answers))
    tallies = Tallies.of(counts)
    influences = slopes(function, tallies).of_cells()
    return float(function(tallies)), float((counts * influences**2).sum() / counts.sum())


def freedom_of_classes(metric: Metric, answers: Any) -> float | None:
    """Welch & Satterthwaite's degrees of freedom if each class has an error of its own; None if none has."""
    if metric.pooling != "where classes are rare" or not isinstance(answers, ClassAnswers):
        return None
    rows = units_by_class(answers)
    if metric.of_tallies is not None and isinstance(answers, LabelAnswers):
        rows = rows + PSEUDO_ROWS
        counts = _smoothed_counts(counts_of(answers))
        influences = slopes(_function_of_tallies(metric, answers), Tallies.of(counts)).of_cells()
        spread = (counts * influences**2).sum(axis=1)
    else:
        influences_of_rows = influence(metric, answers)
        if influences_of_rows is None:
            return None
        labelled = answers.truth >= 0
        squares = (answers.weights * influences_of_rows)[labelled] ** 2
        spread = np.bincount(answers.truth[labelled], squares, len(answers.classes))
    total, by_class = float(spread.sum()), float((spread**2 / np.maximum(rows - 1, 1)).sum())
    return total**2 / by_class if by_class > 0 else None


def _function_of_tallies(metric: Metric, answers: LabelAnswers) -> Callable[[Tallies], Array]:
    """A metric as a function of the tallies of the classes of some answers."""
    of_tallies = metric.of_tallies
    assert of_tallies is not None
    return lambda tallies: of_tallies(tallies, answers.classes)


def _smoothed_counts(counts: Array) -> Array:
    """Counts with PSEUDO_ROWS more of every class that has rows, half of them right."""
    classes = len(counts)
    right = PSEUDO_ROWS / 2 * np.eye(classes)
    wrong = PSEUDO_ROWS / 2 * (1 - np.eye(classes)) / max(classes - 1, 1)
    return np.asarray(counts + np.where(counts.sum(axis=1) > 0, 1.0, 0.0)[:, None] * (right + wrong))


@dataclass(frozen=True, eq=False)
class TallySlopes:
    """The derivatives of a score by the right rows of each class, its true rows, and the rows predicted as it."""

    right: Array
    actual: Array
    predicted: Array

    def of_rows(self, truth: Codes, predicted: Codes) -> Array:
        """The influence of rows of these classes with these predictions."""
        right = np.where(truth == predicted, self.right[truth], 0.0)
        return np.asarray(self.actual[truth] + self.predicted[predicted] + right)

    def of_cells(self) -> Array:
        """The influence of a row in each cell of a confusion matrix."""
        return np.asarray(self.actual[:, None] + self.predicted + np.diag(self.right))


def slopes(function: Callable[[Tallies], Array], tallies: Tallies) -> TallySlopes:
    """The derivatives of a function by the tallies of classes, by central differences; 0 for an empty tally."""
    point = np.stack([tallies.true_positives, tallies.support, tallies.predicted])
    indices = np.argwhere(point > 0)
    # the relative step of the derivative; central differences err by its square
    steps = 1e-4 * point[point > 0]
    derivatives = np.zeros_like(point)
    # as many changed tallies at once as fit into memory
    for subset in np.array_split(np.arange(len(indices)), max(1, len(indices) * point.size // (1 << 20))):
        changed, step = indices[subset], steps[subset]
        values = []
        for sign in (1, -1):
            stacked = np.repeat(point[:, None], len(changed), axis=1)
            stacked[changed[:, 0], np.arange(len(changed)), changed[:, 1]] += sign * step
            values.append(function(Tallies(*stacked)))
        derivatives[tuple(changed.T)] = tallies.support.sum() * (values[0] - values[1]) / (2 * step)
    return TallySlopes(*np.nan_to_num(derivatives))


def _influence_on_area(ranking: Ranking) -> Array | None:
    """The influence of each row on the area under the ROC curve; None if only one class has weight."""
    positives, negatives = ranking.by_level
    total_positive, total_negative = float(positives.sum()), float(negatives.sum())
    if total_positive <= 0 or total_negative <= 0:
        return None
    share_below = (np.cumsum(negatives) - negatives / 2)[ranking.ranks] / total_negative
    share_above = 1 - (np.cumsum(positives) - positives / 2)[ranking.ranks] / total_positive
    area = float(share_below[ranking.positive] @ ranking.weights[ranking.positive]) / total_positive
    influences = np.where(
        ranking.positive, (share_below - area) / total_positive, (share_above - area) / total_negative
    )
    return np.where(ranking.weights > 0, influences, 0.0)


def share_of_ties(rankings: Sequence[Ranking]) -> float:
    """The share of pairs of a row of the class and another that tie, the mean of rankings that have pairs."""
    sides = [ranking.by_level for ranking in rankings]
    ties, pairs = np.array([(of_class @ rest, of_class.sum() * rest.sum()) for of_class, rest in sides]).T
    return float((ties[pairs > 0] / pairs[pairs > 0]).mean())


Crossed = Mapping[str, Rows]
"""Groupings that cross each other, by name, such as the user and the item of each rating."""


@dataclass(frozen=True, eq=False)
class OverUnits:
    """A score with the share of each unit in its error; ``count`` is the effective number of units.

    If groups have uneven sizes, a few have most of the error, and the degrees of freedom are theirs.
    ``spread`` is the sum of the squared shares as if every unit had been tested once: repeats make predictions
    steadier, but add no training rows. For ``crossed`` units, such as ratings of a user and of an item, it is the
    variance of Cameron, Gelbach & Miller.
    """

    value: float
    shares: Array
    count: float
    noun: Literal["rows", "groups"]
    spread: float
    crossed: Crossed = field(default_factory=dict)

    @property
    def counted(self) -> str:
        """How many units there are, in words; beside heavy rows or large groups others count for little."""
        if self.crossed:
            return " and ".join(f"{len(np.unique(codes)):,} {name}" for name, codes in self.crossed.items())
        # nearly equal weights count as equal
        if len(self.shares) - self.count < 0.05:
            return f"{self.count:.0f} {self.noun}"
        groups = f"{len(self.shares)} groups, worth {self.count:.1f} of one size"
        return groups if self.noun == "groups" else counted_rows(self.count)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the error; none of one unit, or of one beside which others weigh little."""
        # if one unit outweighs all others, its variance is unknown
        return self.count - 1 if self.count >= 1.75 else 0.0

    @property
    def error(self) -> float:
        """The standard error, if units are drawn independently; 0 where no spread is seen."""
        return math.sqrt(self.spread * self.count / self.freedom) if self.freedom > 0 else 0.0

    def beside(self, other: OverUnits, difference: float) -> OverUnits:
        """The difference of two scores of the same units."""
        shares = self.shares - other.shares
        return replace(self, value=difference, shares=shares, spread=spread_of(shares, self.crossed))

    def with_more(self, rows: float, score: float) -> OverUnits:
        """The same with so many rows more that have this score, where the score is a mean of rows."""
        count, far = self.count + rows, score - self.value
        spread = (self.spread * self.count**2 + rows * far**2 * self.count / count) / count**2
        return replace(self, value=self.value + rows * far / count, count=count, spread=spread)


def spread_of(shares: Array, crossed: Crossed) -> float:
    """The variance of a sum of shares, which depend on each other within the groups of a crossed grouping.

    For two groupings V₁ + V₂ − V₁₂ (Cameron, Gelbach & Miller 2011, Journal of Business & Economic Statistics 29),
    or the variance by one grouping alone if that is larger.
    """
    if not crossed:
        return float((shares**2).sum())
    groupings = [np.unique(codes, return_inverse=True)[1] for codes in crossed.values()]
    cells = np.ravel_multi_index(groupings, [1 + grouping.max() for grouping in groupings])
    both = np.unique(cells, return_inverse=True)[1]
    *variances, variance_of_both = (
        float((np.bincount(grouping, shares) ** 2).sum()) for grouping in (*groupings, both)
    )
    return max(sum(variances) - variance_of_both, *variances)


def scores_of(metric: Metric, parts: Sequence[Answers]) -> list[Score]:
    """The score of each part."""
    return [metric.compute(part) for part in parts]


def over_units(metric: Metric, parts: Sequence[Answers], grouped: bool = True) -> OverUnits | None:
    """The mean score of parts over their units; None if it is undefined or only resampling tells its error.

    The error of a metric that compares rows with each other, such as an area, comes from whole rounds, even if its
    value is the mean of smaller splits: with three rows of a class, their own mean hides a third of the spread.
    """
    rounds = rounds_of_rows(parts)
    if metric.by_rounds:
        rounds = [[joined(round_)] for round_ in rounds]
    scored_parts = parts if metric.scale == "logit" else [part for round_ in rounds for part in round_]
    scores = scores_of(metric, scored_parts)
    values = defined(scores)
    if len(values) < len(scores) or not np.isfinite(np.mean(values)):
        return None
    shares: list[_Shares] = []
    for round_ in rounds:
        round_shares = _shares_in_round(metric, round_, grouped)
        if round_shares is None:
            return None
        shares.append(round_shares)
    return _over_rounds(float(np.mean(values)), shares)


def mean_over_units(values: Array | Flags, answers: Answers, counted: Flags) -> OverUnits:
    """The mean of the values of the counted rows over their units; each row is tested once."""
    mean = float(np.average(values[counted], weights=answers.weights[counted]))
    influences = np.asarray(values[counted] - mean, np.float64)
    shares = _shares_of_rows(influences, answers, counted, grouped=True)
    return _over_rounds(mean, [_Shares.joined([shares])])


@dataclass(frozen=True, eq=False)
class MetricOfSplits:
    """A metric of one model over its splits, and the parts that it was taken over."""

    metric: Metric
    splits: Sequence[Answers]
    train_rows: Sequence[int]
    parts: Sequence[Any]
    rounds: Rounds | None = None
    unstable: bool = False

    @cached_property
    def one_round(self) -> Any:
        """One prediction for each row."""
        return distinct(joined(self.splits))

    @property
    def repeated(self) -> bool:
        """Whether rows were tested more than once."""
        return len(self.one_round) < sum(map(len, self.splits))

    @cached_property
    def over_units(self) -> OverUnits | None:
        """The score over its units, if its error can be computed from these."""
        if self.rounds is None and by_others(self.splits, self.train_rows):
            return over_units(self.metric, self.parts)
        return None

    @cached_property
    def first_order_values(self) -> Array | None:
        """The deviation of each split from the total score by the influence of its rows: less biased for few."""
        answers = joined(self.splits)
        influences = influence(self.metric, answers)
        if influences is None:
            values = defined(scores_of(self.metric, self.splits))
            return np.array(values) if len(values) == len(self.splits) else None
        counted = answers.weights > 0
        split = np.repeat(np.arange(len(self.splits)), list(map(len, self.splits)))[counted]
        weights = answers.weights[counted]
        sums = np.bincount(split, weights * influences[counted], len(self.splits))
        totals = np.bincount(split, weights, len(self.splits))
        return np.asarray(sums / totals) if (totals > 0).all() else None

    def at_once(self) -> MetricOfSplits:
        """The same for one prediction of each row, as if one model had made them all."""
        return replace(self, splits=[self.one_round], train_rows=[0], parts=[self.one_round], rounds=None)


def class_with_few_rows(splits: MetricOfSplits) -> str:
    """Why the error of an area is unknown: one of its rankings has too few rows, or groups, on one side."""
    if splits.metric.rankings is None:
        return ""
    answers = splits.one_round
    units = rows_or_groups(answers)
    for ranking in splits.metric.rankings(answers):
        fewest = min(
            len(np.unique(units[side & (ranking.weights > 0)])) for side in (ranking.positive, ~ranking.positive)
        )
        # one or two rows of a class do not show how much an area varies: intervals would hold the truth in 20 to
        # 80 %
        if 0 < fewest < 3:
            noun = "rows" if units_of(answers) is None else "groups"
            return f"only {fewest} of the test {noun} {'is' if fewest == 1 else 'are'} of one class"
    return ""


@dataclass(frozen=True, eq=False)
class _Shares:
    """The share of each unit in the error of a score, and its weight."""

    units: Rows
    shares: Array
    weights: Array
    noun: Literal["rows", "groups"]
    crossed: Crossed = field(default_factory=dict)

    @classmethod
    def joined(cls, several: Sequence[_Shares]) -> _Shares:
        """The mean of several, with each unit once."""
        units, first, index = np.unique(
            np.concatenate([part.units for part in several]), return_index=True, return_inverse=True
        )
        weights = np.zeros(len(units))
        weights[index] = np.concatenate([part.weights for part in several])
        shares = np.concatenate([part.shares for part in several]) * (1 / len(several))
        summed = np.bincount(index, shares, len(units)).astype(np.float64)
        crossed = {
            name: np.concatenate([part.crossed[name] for part in several])[first] for name in several[0].crossed
        }
        return cls(units, summed, weights, several[0].noun, crossed)

    def count(self) -> float:
        """The effective number of units; of crossed groupings, the smallest number."""
        groupings = (np.unique(units, return_inverse=True)[1] for units in self.crossed.values() or (self.units,))
        return min(effective_rows(np.bincount(index, self.weights).astype(np.float64)) for index in groupings)


def _over_rounds(value: float, rounds: Sequence[_Shares]) -> OverUnits:
    """The rounds as one: each unit with its mean share, and the spread of one round."""
    mean = _Shares.joined(rounds)
    spreads = [spread_of(part.shares, part.crossed) * len(part.units) / len(mean.units) for part in rounds]
    return OverUnits(value, mean.shares, mean.count(), mean.noun, float(np.mean(spreads)), mean.crossed)


def _shares_in_round(metric: Metric, parts: Sequence[Answers], grouped: bool) -> _Shares | None:
    """The shares of the units of a round; None if a score is undefined or only resampling tells its error."""
    scores = defined(scores_of(metric, parts))
    if len(scores) < len(parts):
        return None
    mean = float(np.mean(scores))
    shares: list[_Shares] = []
    for part, score in zip(parts, scores, strict=True):
        part_shares = _shares_in_part(metric, part, score - mean, grouped)
        if part_shares is None:
            return None
        shares.append(part_shares)
    return _Shares.joined(shares)


def _shares_in_part(metric: Metric, part: Any, deviation: float, grouped: bool) -> _Shares | None:
    """The shares of the rows or groups of one part; ``deviation`` is that of its score from the mean."""
    if metric.per_unit is not None:
        # the metric is the plain mean of units, which are identified by the first of their rows
        values = metric.per_unit(part)
        is_defined = ~np.isnan(values)
        shares = (values[is_defined] - values[is_defined].mean() + deviation) / is_defined.sum()
        units = first_rows(part.group, part.rows, len(values))[is_defined]
        return _Shares(units, shares, np.ones(len(shares)), "groups")
    influences = influence(metric, part)
    if influences is None:
        return None
    counted = part.weights > 0
    return _shares_of_rows(influences[counted] + deviation, part, counted, grouped)


def _shares_of_rows(influences: Array, answers: Answers, counted: Flags, grouped: bool) -> _Shares:
    """The shares of the counted rows, or of their groups."""
    weights = answers.weights[counted]
    shares = weights * influences / weights.sum()
    units = units_of(answers) if grouped else None
    if units is None:
        # which user and item each row belongs to; of an unknown one each row has its own
        own = -1 - answers.rows[counted]
        crossed = {
            name: np.where(codes[counted] < 0, own, codes[counted]).astype(np.intp)
            for name, codes in answers.crossed.items()
        }
        return _Shares(answers.rows[counted], shares, weights, "rows", crossed)
    groups, index = np.unique(units[counted], return_inverse=True)
    shares_of_groups = np.bincount(index, shares).astype(np.float64)
    return _Shares(groups, shares_of_groups, np.bincount(index, weights).astype(np.float64), "groups")
