"""Tests of difference: whether two models, tested on the same rows, differ at the 5 % level.

    scores whose error rows tell          paired t over the rows, 30 groups or more, or users and items
    the same of fewer groups; all others  corrected resampled t over the differences of splits (Nadeau & Bengio)
    all others, one split or pooled       paired bootstrap over the rows, or groups

If each row is scored by models that learned from the others, the variance over rows counts 1.75 times: fits
change with their training rows, and differences of two models all the more. Over repeats part of that evens out,
and the variance over the means of rows counts 1.4 times. If a method declares itself unstable it counts twice.
Among several comparisons p is corrected by Holm. Exact McNemar and the 5 × 2 test of Dietterich are made on
request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.serialise import shown
from mlcli.core.tables import Array
from mlcli.metrics.base import (
    Metric,
    Rounds,
    Score,
    Undefined,
    by_round,
    counted_rounds,
    defined,
    joined,
    parts_of,
    rounds_of_rows,
    within_splits,
)
from mlcli.metrics.interval_rules import BECAUSE_SPLITS_DIFFER, FEWEST_GROUPS, beyond_rows
from mlcli.metrics.intervals import (
    LEVEL,
    LITTLE_SPREAD,
    UPPER,
    Interval,
    ScoreEstimate,
    drawn_from,
    over_splits,
    percentile_interval,
    replicates,
)
from mlcli.metrics.over_units import MetricOfSplits, OverUnits, class_with_few_rows, over_units, scores_of

SAME = 1e-9
"""Relative difference below which two scores count as equal: the rest is rounding."""


@dataclass(frozen=True)
class Difference:
    """The first model's score minus the second's, its 95 % interval, and the p of no difference."""

    JSON_PROPERTIES: ClassVar[tuple[str, ...]] = ("distinguishable",)
    mean: float | None = field(metadata=shown("difference"))
    low: float | None = None
    high: float | None = None
    p: float | None = None
    test: str = ""
    why: str = field(default="", metadata=shown(optional=True))
    """Why no test could be made, or a remark on the test."""
    corrected: float | None = field(default=None, metadata=shown("corrected_p"))
    """The p corrected for the number of comparisons, if there are several."""

    @property
    def distinguishable(self) -> bool:
        """Whether the p (corrected, if there is such a p) is below 5 %; False if no test could be made."""
        p = self.p if self.corrected is None else self.corrected
        return p is not None and p < 1 - LEVEL


def holm(family: Sequence[Difference]) -> list[Difference]:
    """The comparisons of one family, each p corrected by Holm 1979; those without a p do not count as tests."""
    tested = [index for index, difference in enumerate(family) if difference.p is not None]
    result = list(family)
    for index, p in zip(tested, holm_corrected([family[index].p or 0.0 for index in tested]), strict=True):
        result[index] = replace(family[index], corrected=p)
    return result


def holm_corrected(family: Sequence[float]) -> list[float]:
    """The p of one family of tests, corrected by Holm 1979."""
    left, reached, results = len(family), 0.0, list(family)
    for index in sorted(range(len(family)), key=lambda index: family[index]):
        reached = max(reached, min(1.0, left * family[index]))
        results[index] = reached
        left -= 1
    return results


@dataclass(frozen=True, eq=False)
class PairedModels:
    """A metric of two models on the same rows in the same splits, and the difference of their mean scores."""

    first: MetricOfSplits
    second: MetricOfSplits
    mean: float

    @property
    def metric(self) -> Metric:
        """The metric of both."""
        return self.first.metric

    def scores_of_splits(self) -> tuple[list[Score], list[Score]]:
        """The scores of each split, of the first model and of the second."""
        return scores_of(self.metric, self.first.splits), scores_of(self.metric, self.second.splits)


def compare(
    metric: Metric,
    a: Sequence[Answers],
    b: Sequence[Answers],
    train_rows: Sequence[int],
    pooled: bool = False,
    rounds: Rounds | None = None,
    test: str = "",
    unstable: bool = False,
) -> Difference:
    """The difference of model ``a`` from model ``b`` on the same splits, with its test.

    If ``rounds`` say which splits sweep over something, the means of rounds are tested. ``test`` is the name of
    one of the tests that are only made on request. ``unstable``: one of the two methods changes a lot with a few
    other training rows.
    """
    same_rows = len(a) == len(b) > 0 and all(
        np.array_equal(first.rows, second.rows) for first, second in zip(a, b, strict=True)
    )
    if not same_rows:
        return Difference(None, why="the two were not tested on the same rows in the same splits")
    metric = within_splits(metric, a, pooled)
    first, second = (
        MetricOfSplits(metric, splits, train_rows, parts_of(metric, splits, pooled), rounds, unstable)
        for splits in (a, b)
    )
    first_scores, second_scores = scores_of(metric, first.parts), scores_of(metric, second.parts)
    if why := _why_undefined(first_scores + second_scores):
        return Difference(None, why=why)
    mean = float(np.mean(np.array(first_scores, np.float64)) - np.mean(np.array(second_scores, np.float64)))
    if few := class_with_few_rows(first):
        return Difference(mean, why=f"not tested: {few}")
    pair = PairedModels(first, second, mean)
    return ON_REQUEST[test](pair) if test else _by_units(pair)


def _why_undefined(scores: Sequence[Score]) -> str:
    """Why scores cannot be compared; empty if they can."""
    for score in scores:
        if isinstance(score, Undefined):
            return f"not defined for both: {score.why}"
    return "" if all(map(math.isfinite, defined(scores))) else "not defined for both: infinite"


def _by_units(pair: PairedModels) -> Difference:
    """Over rows or groups if these tell the error, else over splits; over splits, too, if these disagree."""
    has_splits = len(pair.first.parts) > 1
    first, second = pair.first.over_units, pair.second.over_units
    if first is None or second is None:
        return _by_splits(pair) if has_splits else _by_resampling(pair)
    if first.noun == "groups" and first.count < FEWEST_GROUPS and has_splits:
        return _by_splits(pair)
    units, factor = first.beside(second, pair.mean), _variance_factor(pair.first)
    scale = _size_of_scores(first, second, pair.metric)
    differences = _differences_of_disagreeing_splits(pair, units.spread * factor, units.freedom)
    if differences is not None:
        return _over_differences(pair, differences, scale, f", {BECAUSE_SPLITS_DIFFER}")
    return _over_units(units, factor, scale)


def _variance_factor(splits: MetricOfSplits) -> float:
    """The factor on the variance of rows, since other training rows would give other models."""
    if len(splits.splits) == 1:
        # both models learned from the same single split; saved models do not vary
        return 1.25 if any(splits.train_rows) else 1.0
    if splits.unstable:
        # even with repeats, a few other training rows change one of the methods a lot
        return 2.0
    # repeats average part of it out
    return 1.4 if splits.repeated else 1.75


def _differences_of_disagreeing_splits(pair: PairedModels, variance: float, freedom: float) -> Array | None:
    """The difference in each split, if these vary more than their rows explain; None with repeats."""
    splits = pair.first
    if len(splits.splits) == 1 or splits.repeated:
        return None
    first, second = pair.first.first_order_values, pair.second.first_order_values
    if first is None or second is None or not beyond_rows(first - second, splits.splits, variance, freedom):
        return None
    if splits.parts is not splits.splits:
        return first - second
    scores = np.array(pair.scores_of_splits(), dtype=np.float64)
    return np.asarray(scores[0] - scores[1])


def _size_of_scores(first: OverUnits, second: OverUnits, metric: Metric) -> float:
    largest = max(abs(first.value) + first.error, abs(second.value) + second.error)
    return max(largest, abs(metric.low or 0.0), abs(metric.high or 0.0))


def _over_units(units: OverUnits, factor: float, scale: float) -> Difference:
    """Student's t over differences of units; a sign test if all differ by the same amount.

    ``scale`` is the size of the scores.
    """
    test = f"paired t over {units.counted}" + f", variance × {factor}" * (factor != 1)
    if units.freedom <= 0:
        return Difference(units.value, test=test, why=f"none: one value has no spread ({test})")
    if max(abs(units.value), units.error) <= SAME * scale:
        return Difference(0.0, p=1.0, test=test, why=f"both have the same value for all {units.noun}")
    if units.error > LITTLE_SPREAD * abs(units.value):
        estimate = ScoreEstimate(units.value, units.error * math.sqrt(factor), units.freedom)
        return _difference(units.value, estimate.interval(test), estimate.p_of_zero(), test)
    p = fair_coin_two_sided(int(units.count), 0)
    return Difference(units.value, p=p, test="exact sign test", why=f"all {units.noun} differ by the same amount")


def _by_splits(pair: PairedModels) -> Difference:
    first, second = pair.scores_of_splits()
    if why := _why_undefined(first + second):
        return Difference(pair.mean, why=why)
    values = np.array([first, second], dtype=np.float64)
    return _over_differences(pair, values[0] - values[1], float(np.abs(values).max()))


def _over_differences(pair: PairedModels, differences: Array, scale: float, because: str = "") -> Difference:
    """Nadeau & Bengio's t over the differences of splits, no more certain than the test rows allow.

    ``scale`` is the size of the scores.
    """
    splits, mean = pair.first, pair.mean
    values = by_round(np.where(np.abs(differences) <= SAME * scale, 0.0, differences), splits.rounds)
    estimate = over_splits(values, splits.train_rows, [len(answers) for answers in splits.splits], scale)
    test = f"corrected resampled t over {counted_rounds(values, splits.rounds)}{because}"
    if estimate.error > 0:
        estimate = replace(estimate, mean=mean)
        difference = _difference(mean, estimate.interval(test), estimate.p_of_zero(), test)
        return _no_surer_than(_over_rows(pair), difference)
    if abs(mean) <= SAME * scale:
        return Difference(0.0, p=1.0, test=test, why="both have the same value in every split")
    at_once = PairedModels(pair.first.at_once(), pair.second.at_once(), mean)
    return replace(_by_units(at_once), why="the splits all differ by the same amount, so the rows were tested")


def _over_rows(pair: PairedModels) -> Difference:
    """The test of a difference over test rows alone, as if models did not vary with training rows."""
    first = over_units(pair.metric, pair.first.parts)
    second = over_units(pair.metric, pair.second.parts)
    if first is None or second is None:
        return _by_resampling(pair)
    return _over_units(first.beside(second, pair.mean), 1.0, _size_of_scores(first, second, pair.metric))


def _no_surer_than(rows: Difference, difference: Difference) -> Difference:
    """The larger p and the wider interval of two tests of the same difference."""
    if rows.p is None or difference.p is None or difference.low is None or difference.high is None:
        return difference
    low = difference.low if rows.low is None else min(difference.low, rows.low)
    high = difference.high if rows.high is None else max(difference.high, rows.high)
    if rows.p <= difference.p and (low, high) == (difference.low, difference.high):
        return difference
    p, test = max(rows.p, difference.p), f"{difference.test}, no surer than {rows.test}"
    return replace(difference, low=low, high=high, p=p, test=test)


def _by_resampling(pair: PairedModels) -> Difference:
    if pair.metric.aggregation == "of the fit":
        return Difference(pair.mean, test="two fits", why="no test: one fit of each gives one value")
    a, b = joined(pair.first.splits), joined(pair.second.splits)
    interval, p = paired_bootstrap(pair.metric, a, b)
    return _difference(pair.mean, interval, p, f"paired bootstrap over {drawn_from(a)}")


def _difference(mean: float, interval: Interval, p: float | None, test: str) -> Difference:
    if p is None:
        return Difference(mean, test=test, why=interval.how)
    return Difference(mean, interval.low, interval.high, p, test)


def paired_bootstrap(metric: Metric, a: Answers, b: Answers) -> tuple[Interval, float | None]:
    """How often resampled rows turn the difference round; no p if it is mostly undefined."""
    first, second = replicates(metric, a), replicates(metric, b)
    differences = first - second
    differences[np.abs(differences) <= SAME * np.fmax(np.abs(first), np.abs(second))] = 0.0
    interval = percentile_interval(differences, "bootstrap")
    finite = differences[np.isfinite(differences)]
    fewer = min(int((finite <= 0).sum()), int((finite >= 0).sum()))
    enough = 2 * len(finite) >= len(differences)
    return interval, min(1.0, 2 * (fewer + 1) / (len(finite) + 1)) if enough else None


def fair_coin_two_sided(heads: int, tails: int) -> float:
    """The exact two-sided p of a split at least as uneven as this, if both sides are equally likely."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(heads, tails), heads + tails, 0.5)))


# Tests that are made on request only.


def mcnemar(pair: PairedModels) -> Difference:
    """Only the rows on which the two disagree count: a fair coin decides which of them is right."""
    metric, a, b = pair.metric, pair.first.one_round, pair.second.one_round
    if metric.aggregation != "share of rows" or metric.per_row is None or a.weight is not None:
        why = "McNemar's test is of shares of rows without weights, such as accuracy"
        return Difference(pair.mean, why=why)
    if pair.first.repeated:
        why = "McNemar's test needs one prediction for each row, and repeats give several"
        return Difference(pair.mean, why=why)
    differences = metric.per_row(a) - metric.per_row(b)
    more, less = int((differences > 0).sum()), int((differences < 0).sum())
    interval, p = wald_plus_two(more, less, len(a)), fair_coin_two_sided(more, less)
    return _difference(pair.mean, interval, p, f"exact McNemar over {drawn_from(a)}")


def wald_plus_two(more: int, less: int, rows: int) -> Interval:
    """Interval of a difference of paired shares (Agresti & Min 2005): half a row more in each cell, then Wald."""
    centre = (more - less) / (rows + 2)
    reach = NormalDist().inv_cdf(UPPER) * math.sqrt(more + less + 1 - (more - less) ** 2 / (rows + 2)) / (rows + 2)
    return Interval(centre - reach, centre + reach, "Wald + 2").within(-1.0, 1.0)


def five_by_two(pair: PairedModels) -> Difference:
    """Dietterich 1998: the first of ten differences by the spread within five rounds of two folds.

    The interval is around that first difference, as the test is, so that it leaves out 0 where p is below 5 %.
    """
    mean = pair.mean
    if [len(round_) for round_ in rounds_of_rows(pair.first.splits)] != [2] * 5:
        return Difference(mean, why="the 5 × 2 test needs five repeats of two folds: --folds 2 --repeats 5")
    first, second = pair.scores_of_splits()
    if why := _why_undefined(first + second):
        return Difference(mean, why=why)
    values = np.array([first, second], dtype=np.float64)
    halves = (values[0] - values[1]).reshape(5, 2)
    estimate = ScoreEstimate(float(halves[0, 0]), math.sqrt(float(halves.var(axis=1, ddof=1).mean())), 5)
    if not estimate.error > 0:
        return Difference(mean, why="the 5 × 2 test sees no spread")
    test = "5 × 2 t of Dietterich"
    result = _difference(mean, estimate.interval(test).holding(mean), estimate.p_of_zero(), test)
    if result.distinguishable and estimate.mean * mean < 0:
        why = "its first difference, which it tests, has another sign than the mean"
        return Difference(mean, test=test, why=why)
    return result


def corrected_resampled(pair: PairedModels) -> Difference:
    """Nadeau & Bengio 2003: t over the differences of splits."""
    if len(pair.first.splits) < 2:
        return Difference(pair.mean, why="the corrected resampled t-test needs several splits")
    return _by_splits(pair)


ON_REQUEST: dict[str, Callable[[PairedModels], Difference]] = {
    "mcnemar": mcnemar,
    "5x2": five_by_two,
    "corrected-t": corrected_resampled,
}
"""The tests by name."""
