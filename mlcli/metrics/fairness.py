"""Fairness: the rates of a class in each group, differences between groups, and predictions of similar rows.

Formula, with the favourable class 1, groups a and b, and differences the largest less the smallest of all groups:
    demographic parity   P(ŷ=1 | a) = P(ŷ=1 | b), the shares selected
    equal opportunity    P(ŷ=1 | y=1, a) = P(ŷ=1 | y=1, b), the true positive rates
    equalised odds       the same of true and of false positive rates; the larger difference, the smaller ratio
    predictive parity    P(y=1 | ŷ=1, a) = P(y=1 | ŷ=1, b), the precisions

A rate of fewer than FEW rows is left out of differences, and shown as a fraction. Rates have Wilson's interval,
the difference of two rates that of Newcombe (1998, his method 10). If a `group` column says which rows depend on
each other, its groups are the sampling units: Wilson's interval then uses the number of independent rows that
would give the same error. The two groups that are compared are those that lie farthest apart, so that the
difference is above 0 by chance alone.

Individual fairness is whether similar rows get similar predictions (Dwork et al. 2012; Zemel et al. 2013):
    consistency = 1 − mean_i |ŷ_i − mean of ŷ over the k rows nearest to i|, with ŷ 1 for the favourable class;
    of all pairs with similarity above a threshold: the share that is decided differently, and the mean
    difference of the probability.

Two rows are as similar as 1 − Gower's distance (1971): the mean over the columns that are not sensitive of |x −
x'| over the column's range, or of whether levels differ; columns in which a cell is empty do not count. A row is
no neighbour of itself; of equally near rows all count. Means are by the weights of rows, those over
pairs by the product of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.rows import SIMILARITY, Groups
from mlcli.core.tables import Array, Flags, Table
from mlcli.metrics.intervals import (
    LITTLE_SPREAD,
    UPPER,
    Interval,
    ScoreEstimate,
    scored_share,
    student_t_quantile,
    wilson,
)
from mlcli.metrics.over_units import OverUnits, mean_over_units
from mlcli.tasks.supervised import LabelAnswers

FEW = 10
"""A rate of fewer rows is not estimated."""
NO_PROBABILITIES = "no probabilities"
TOO_FEW = f"fewer than {FEW} rows"


@dataclass(frozen=True, eq=False)
class ClassFlags:
    """Which rows belong to one class, and which are predicted as it."""

    truth: Flags
    predicted: Flags

    @classmethod
    def of(cls, answers: LabelAnswers, code: int) -> ClassFlags:
        """The flags of one class against the rest."""
        return cls(answers.truth == code, answers.predicted == code)


Selection = Callable[[ClassFlags], Flags]


@dataclass(frozen=True)
class RateDefinition:
    """The rows in the denominator of a rate (``among``), and those in its numerator (``counted``)."""

    among: Selection
    counted: Selection


RATES: dict[str, RateDefinition] = {
    "base-rate": RateDefinition(lambda flags: np.ones_like(flags.truth), lambda flags: flags.truth),
    "selected": RateDefinition(lambda flags: np.ones_like(flags.truth), lambda flags: flags.predicted),
    "tpr": RateDefinition(lambda flags: flags.truth, lambda flags: flags.predicted),
    "fpr": RateDefinition(lambda flags: ~flags.truth, lambda flags: flags.predicted),
    "fnr": RateDefinition(lambda flags: flags.truth, lambda flags: ~flags.predicted),
    "precision": RateDefinition(lambda flags: flags.predicted, lambda flags: flags.truth),
    "accuracy": RateDefinition(
        lambda flags: np.ones_like(flags.truth), lambda flags: flags.truth == flags.predicted
    ),
}
CRITERIA: dict[str, tuple[str, ...]] = {
    "demographic-parity": ("selected",),
    "equal-opportunity": ("tpr",),
    "equalised-odds": ("tpr", "fpr"),
    "predictive-parity": ("precision",),
}
"""The rates that a criterion wants to be the same in all groups."""


@dataclass(frozen=True)
class Rate:
    """A share of some rows of a group with its interval; no value where there are too few of them."""

    value: float | None
    low: float | None
    high: float | None
    rows: int
    why: str = ""
    counted: int | None = None
    """How many of too few rows are counted."""


@dataclass(frozen=True)
class GroupRates:
    """One group: how many rows it has, its rates, and by how much its probabilities are too high."""

    label: str
    rows: int
    rates: Mapping[str, Rate]
    calibration: Rate


@dataclass(frozen=True)
class Gap:
    """How far groups are apart: the largest difference with its interval, the smallest ratio, between which."""

    difference: float | None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    highest: str = ""
    lowest: str = ""
    why: str = ""


def rates_by_group(answers: LabelAnswers, groups: Groups, code: int) -> list[GroupRates]:
    """Every rate of every group, for one class against the rest; each row counts once."""
    sides = ClassFlags.of(answers, code)
    probability = None if answers.probabilities is None else answers.probabilities[:, code]
    result = []
    for index, label in enumerate(groups.labels):
        member = (groups.codes == index) & (answers.weights > 0)
        rates = {
            name: _rate(answers, rate.counted(sides), member & rate.among(sides)) for name, rate in RATES.items()
        }
        too_high = _calibration(answers, None if probability is None else probability - sides.truth, member)
        result.append(GroupRates(label, int((groups.codes == index).sum()), rates, too_high))
    return result


def _rate(answers: LabelAnswers, counted: Flags, among: Flags) -> Rate:
    if (rows := int(among.sum())) < FEW:
        return Rate(None, None, None, rows, TOO_FEW, int((counted & among).sum()))
    share = mean_over_units(counted, answers, among)
    interval = _wilson_over_groups(share) if share.noun == "groups" else wilson(share.value, share.count)
    return Rate(share.value, interval.low, interval.high, rows)


def _wilson_over_groups(share: OverUnits) -> Interval:
    """Wilson's interval for the number of independent rows that would give the share this error."""
    if share.freedom <= 0:
        return Interval(None, None, "none: one group has no spread")
    variance_of_a_row = share.value * (1 - share.value)
    has_spread = share.error**2 > LITTLE_SPREAD**2 * variance_of_a_row
    rows = variance_of_a_row / share.error**2 if has_spread else share.count
    return scored_share(
        share.value, rows, student_t_quantile(UPPER, share.freedom), f"Wilson over {share.counted}"
    )


def _calibration(answers: LabelAnswers, too_high: Array | None, member: Flags) -> Rate:
    """The mean probability less the share of the class."""
    rows = int(member.sum())
    if too_high is None or rows < FEW:
        return Rate(None, None, None, rows, NO_PROBABILITIES if too_high is None else TOO_FEW)
    mean = mean_over_units(too_high, answers, member)
    interval = ScoreEstimate(mean.value, mean.error, mean.freedom).interval(f"t over {mean.noun}")
    return Rate(mean.value, interval.low, interval.high, rows)


def gap(criterion: str, groups: Sequence[GroupRates]) -> Gap:
    """How far the groups are from a criterion; of several rates, the difference that is largest."""
    gaps = [_gap_of_rate(name, groups) for name in CRITERIA[criterion]]
    for gap_of_rate in gaps:
        if gap_of_rate.difference is None:
            return gap_of_rate
    worst = max(gaps, key=lambda gap: gap.difference or 0.0)
    ratios = [gap.ratio for gap in gaps if gap.ratio is not None]
    return Gap(worst.difference, worst.low, worst.high, min(ratios, default=None), worst.highest, worst.lowest)


def _gap_of_rate(name: str, groups: Sequence[GroupRates]) -> Gap:
    valued = [(value, group) for group in groups if (value := group.rates[name].value) is not None]
    if len(valued) < 2:
        return Gap(None, why=f"no two groups have {FEW} rows that its {name} is of")
    high, highest = max(valued, key=lambda pair: pair[0])
    low, lowest = min(valued, key=lambda pair: pair[0])
    top, bottom, between = highest.rates[name], lowest.rates[name], (highest.label, lowest.label)
    difference, ratio = high - low, low / high if high > 0 else None
    if top.low is None or bottom.low is None:
        return Gap(difference, None, None, ratio, *between)
    below = np.hypot(high - top.low, float(bottom.high or 0.0) - low)
    above = np.hypot(float(top.high or 0.0) - high, low - bottom.low)
    ends = max(-1.0, float(difference - below)), min(1.0, float(difference + above))
    return Gap(difference, *ends, ratio, *between)


def differences_under(answers: LabelAnswers, groups: Groups, code: int, rate: str, weightings: Array) -> Array:
    """Largest and smallest value (2 × B) of a rate over groups, under many weightings of the rows.

    Groups with too few rows are left out; NaN where no two are left.
    """
    sides = ClassFlags.of(answers, code)
    among = RATES[rate].among(sides)[:, None] & groups.members & (answers.weights > 0)[:, None]
    enough = among.sum(axis=0) >= FEW
    if enough.sum() < 2:
        return np.full((2, len(weightings)), np.nan)
    among = among[:, enough]
    totals = weightings @ among
    with np.errstate(invalid="ignore", divide="ignore"):
        rates = (weightings @ (among & RATES[rate].counted(sides)[:, None])) / totals
    return np.asarray([rates.max(axis=1), rates.min(axis=1)])


NEIGHBOURS = 5


@dataclass(frozen=True)
class IndividualFairness:
    """How similar the predictions of similar rows are; None where there is nothing to compare."""

    similarity: float
    """How similar two rows must be to be compared."""
    consistency: float | None
    pairs: int
    weight: float
    """Of all pairs."""
    decided_differently: float | None
    probability_difference: float | None


def gower_distances(table: Table) -> Array:
    """The distance of every row to every other; NaN where two rows have no column in common."""
    total = np.zeros((len(table), len(table)))
    present = np.hstack([~np.isnan(table.numbers), table.codes >= 0])
    for values, is_present in zip(table.numbers.T, present.T, strict=False):
        width = float(np.ptp(values[is_present])) if is_present.any() else 0.0
        total += _between_present(np.abs(values[:, None] - values) / (width or 1.0), is_present)
    for codes, is_present in zip(table.codes.T, present.T[table.numbers.shape[1] :], strict=True):
        total += _between_present(codes[:, None] != codes, is_present)
    counted = present.astype(np.float64) @ present.T
    with np.errstate(invalid="ignore"):
        return np.asarray(total / counted)


def _between_present(distance: Array | Flags, is_present: Flags) -> Array | Flags:
    """The distances, 0 where one of the two cells is missing."""
    distance[~is_present] = distance[:, ~is_present] = 0
    return distance


def individual_fairness(
    distances: Array,
    predicted: Array,
    probability: Array | None,
    weights: Array,
    similarity: float = SIMILARITY,
) -> IndividualFairness:
    """Consistency, and the pairs of similar rows; ``predicted`` is 1 for the favourable class."""
    distances = np.where(np.isnan(distances), np.inf, distances)
    np.fill_diagonal(distances, np.inf)
    first, second = np.nonzero(np.triu(distances < 1 - similarity, 1))
    pair_weights = weights[first] * weights[second]

    def mean_difference(values: Array | None) -> float | None:
        if values is None or not len(first):
            return None
        return float(np.average(np.abs(values[first] - values[second]), weights=pair_weights))

    return IndividualFairness(
        similarity,
        _consistency(distances, predicted, weights),
        len(first),
        float(pair_weights.sum()),
        mean_difference(predicted),
        mean_difference(probability),
    )


def _consistency(distances: Array, predicted: Array, weights: Array) -> float | None:
    if len(predicted) <= NEIGHBOURS:
        return None
    farthest = np.partition(distances, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1]
    neighbours = (distances <= farthest[:, None]) & np.isfinite(distances)
    has_any = neighbours.any(axis=1)
    if not has_any.any():
        return None
    mean = (neighbours[has_any] @ (weights * predicted)) / (neighbours[has_any] @ weights)
    return float(1 - np.average(np.abs(predicted[has_any] - mean), weights=weights[has_any]))
