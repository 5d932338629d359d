"""Tests of difference: whether two models, judged on the same rows, can be told apart at 5 %.

The test follows from how the metric comes from its rows:

    two or more splits                       corrected resampled t over the differences of splits (Nadeau & Bengio)
    shares of rows, one split or pooled      exact McNemar; interval by Agresti & Min 2005 (Wald + 2)
    means of rows, one split or pooled       paired t over the rows
    means of groups, one split or pooled     paired t over the groups
    other metrics, one split or pooled       paired bootstrap over the rows

Splits that all differ by the same amount have no spread to test against: the distinct rows are tested instead,
unless that amount is 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array
from mlcli.metrics.base import Aggregation, Metric, Score, Undefined
from mlcli.metrics.bootstrap import drawn_from, percentile_interval, replicates
from mlcli.metrics.distributions import fair_coin_two_sided, normal_quantile
from mlcli.metrics.intervals import LEVEL, NO_SPREAD, UPPER, Estimate, Interval, over_rows, over_splits
from mlcli.metrics.pooling import Rounds, by_round, counted_rounds, distinct, joined
from mlcli.metrics.summary import aggregation_of, averaged_values


@dataclass(frozen=True)
class Difference:
    """The first model's score minus the second's, its 95 % interval, and the p of no difference."""

    mean: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    test: str = ""
    why: str = ""
    """Why no test could be made, or what else is to be known of it."""
    corrected: float | None = None
    """The p after correction for how many comparisons it stands among, where it stands among several."""

    @property
    def distinguishable(self) -> bool:
        """Whether the p that counts is below 5 %; also False when no test could be made."""
        p = self.p if self.corrected is None else self.corrected
        return p is not None and p < 1 - LEVEL


def holm(family: Sequence[Difference]) -> list[Difference]:
    """The comparisons of one family, each with its p corrected by Holm 1979; what has no p is no test of it."""
    tested = [place for place, one in enumerate(family) if one.p is not None]
    found = list(family)
    for place, p in zip(tested, holm_corrected([family[place].p or 0.0 for place in tested]), strict=True):
        found[place] = replace(family[place], corrected=p)
    return found


def holm_corrected(family: Sequence[float]) -> list[float]:
    """The p of one family of tests, corrected by Holm 1979."""
    left, reached, found = len(family), 0.0, list(family)
    for place in sorted(range(len(family)), key=lambda place: family[place]):
        reached = max(reached, min(1.0, left * family[place]))
        found[place] = reached
        left -= 1
    return found


@dataclass(frozen=True)
class Verdict:
    """What a test found."""

    interval: Interval
    p: float | None
    """None when no test could be made."""


def compare(
    metric: Metric,
    a: Sequence[Answers],
    b: Sequence[Answers],
    train_rows: Sequence[int],
    pooled: bool = False,
    rounds: Rounds | None = None,
) -> Difference:
    """How far model ``a`` is from model ``b`` on the same splits, and whether that could be chance.

    Where ``rounds`` say which splits sweep over something, the means of rounds are tested.
    """
    if not _same_rows(a, b):
        return Difference(None, why="the two were not judged on the same rows in the same splits")
    if pooled or len(a) == 1:
        return _at_once(metric, joined(a), joined(b))
    return _split_by_split(metric, a, b, train_rows, rounds)


def _split_by_split(
    metric: Metric, a: Sequence[Answers], b: Sequence[Answers], train_rows: Sequence[int], rounds: Rounds | None
) -> Difference:
    scores = [metric.compute(answers) for answers in (*a, *b)]
    if not all(map(_comparable, scores)):
        return Difference(None, why=_why_not(scores))
    values = np.array(scores, dtype=np.float64).reshape(2, len(a))
    rows = [len(answers) for answers in a]
    scale = float(np.abs(values).max())
    differences = by_round(values[0] - values[1], rounds)
    estimate = over_splits(differences, train_rows, rows, scale)
    test = f"corrected resampled t over {counted_rounds(differences, rounds)}"
    if estimate.error > 0:
        return _difference(estimate.mean, Verdict(estimate.interval(test), estimate.p_of_zero()), test)
    if abs(estimate.mean) <= NO_SPREAD * scale:
        return Difference(0.0, 0.0, 0.0, 1.0, test, why="both have the same value in every split")
    at_once = _at_once(metric, distinct(joined(a)), distinct(joined(b)))
    return replace(
        at_once, mean=estimate.mean, why="the splits all differ by the same amount, so the rows were tested"
    )


def _at_once(metric: Metric, a: Answers, b: Answers) -> Difference:
    first, second = metric.compute(a), metric.compute(b)
    if not (_comparable(first) and _comparable(second)):
        return Difference(None, why=_why_not([first, second]))
    name, test = _test_of(metric, a)
    return _difference(first - second, test(metric, a, b), f"{name} over {drawn_from(a)}")


def _difference(mean: float, verdict: Verdict, test: str) -> Difference:
    low, high, how = verdict.interval.low, verdict.interval.high, verdict.interval.how
    if verdict.p is None:
        return Difference(mean, test=test, why=how)
    return Difference(mean, low, high, verdict.p, test)


Test = Callable[[Metric, Answers, Answers], Verdict]


def mcnemar(metric: Metric, a: Answers, b: Answers) -> Verdict:
    """Only the rows on which the two disagree count: a fair coin decides which of them is right."""
    differences, _ = _differences(metric, a, b)
    more, less = int((differences > 0).sum()), int((differences < 0).sum())
    return Verdict(wald_plus_two(more, less, len(a)), fair_coin_two_sided(more, less))


def wald_plus_two(more: int, less: int, rows: int) -> Interval:
    """Interval of a difference of paired shares (Agresti & Min 2005): half a row more in each cell, then Wald."""
    centre = (more - less) / (rows + 2)
    reach = normal_quantile(UPPER) * math.sqrt(more + less + 1 - (more - less) ** 2 / (rows + 2)) / (rows + 2)
    return Interval(centre - reach, centre + reach, "Wald + 2").within(-1.0, 1.0)


def paired_t(metric: Metric, a: Answers, b: Answers) -> Verdict:
    """Student's t over the differences of rows, or of groups of them that have a value."""
    differences, weights = _differences(metric, a, b)
    known = ~np.isnan(differences)
    estimate = over_rows(differences[known], weights[known])
    return Verdict(estimate.interval("paired t"), _p_of_rows(estimate))


def paired_bootstrap(metric: Metric, a: Answers, b: Answers) -> Verdict:
    """How often resampled rows turn the difference round."""
    differences = replicates(metric, a) - replicates(metric, b)
    interval = percentile_interval(differences, "bootstrap")
    known = differences[np.isfinite(differences)]
    fewer = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return Verdict(interval, None if interval.low is None else min(1.0, 2 * (fewer + 1) / (len(known) + 1)))


def nothing_to_resample(metric: Metric, a: Answers, b: Answers) -> Verdict:
    """A value of the fit alone has no rows to draw it from again."""
    return Verdict(Interval(None, None, "no test: one fit of each gives one value"), None)


TESTS: dict[Aggregation, tuple[str, Test]] = {
    "share of rows": ("exact McNemar", mcnemar),
    "mean of rows": ("paired t", paired_t),
    "mean of units": ("paired t of groups", paired_t),
    "of the fit": ("two fits", nothing_to_resample),
    "other": ("paired bootstrap", paired_bootstrap),
}


def _test_of(metric: Metric, answers: Answers) -> tuple[str, Test]:
    """McNemar counts rows, so weighted shares are compared as means; rows that hang together are resampled."""
    aggregation = aggregation_of(metric, answers)
    weighted_share = aggregation == "share of rows" and answers.weight is not None
    return TESTS["mean of rows" if weighted_share else aggregation]


def _p_of_rows(estimate: Estimate) -> float | None:
    if estimate.freedom <= 0:
        return None
    if estimate.error == 0:
        return 1.0 if estimate.mean == 0 else 0.0  # every row differs by the same amount
    return estimate.p_of_zero()


def _differences(metric: Metric, a: Answers, b: Answers) -> tuple[Array, Array]:
    (of_a, weights), (of_b, _) = averaged_values(metric, a), averaged_values(metric, b)
    with np.errstate(invalid="ignore"):  # rows of no weight may be infinite in both
        return of_a - of_b, weights


def _comparable(score: Score) -> TypeGuard[float]:
    return not isinstance(score, Undefined) and math.isfinite(score)


def _why_not(scores: Sequence[Score]) -> str:
    reasons = (score.why for score in scores if isinstance(score, Undefined))
    return f"not defined for both: {next(reasons, 'infinite')}"


def _same_rows(a: Sequence[Answers], b: Sequence[Answers]) -> bool:
    return len(a) == len(b) > 0 and all(
        np.array_equal(first.rows, second.rows) for first, second in zip(a, b, strict=True)
    )
