"""Which interval is made of a score, and with how much trust in its rows; ``docs/metrics.md`` has the figures.

    rates (accuracy, f1, recall, mcc, ...)     Wilson over rows, as many as give the rate its error
    log-loss, mse, rmse                        t over rows, on the scale of logarithms
    areas under the ROC curve                  DeLong's t over rows, on the scale of log odds
    other means of rows, R²                    t over rows (R² by the delta method)
    the same of 30 groups or more              t over the groups
    the same of ratings                        t over the users and the items
    the same of fewer groups; all others       corrected resampled t over the splits
    all others, one split or pooled            bootstrap over rows, or groups

Where every row is judged by models that learned from the others, rows count less than those of fresh data, since
fits change with their training rows: for 0.8 of a row, and for less where a method is unstable (``TRUST...``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array
from mlcli.metrics.base import Scale, Undefined
from mlcli.metrics.distributions import f_tail, student_t_quantile
from mlcli.metrics.intervals import (
    LITTLE_SPREAD,
    LONGER_ABOVE,
    UPPER,
    Interval,
    ScoreEstimate,
    counted_rows,
    drawn_from,
    over_splits,
    percentile_interval,
    replicates,
    scored_share,
)
from mlcli.metrics.over_units import (
    PSEUDO_ROWS,
    MetricOfSplits,
    OverUnits,
    class_with_few_rows,
    freedom_of_classes,
    over_units,
    share_of_ties,
    variance_when_smoothed,
)
from mlcli.metrics.pooling import by_round, counted_rounds, joined, rounds_of_rows, rows_or_groups

TRUST, TRUST_IN_UNSTABLE = 0.8, 0.67
"""For how much of a fresh row one counts that was judged by models which learned from the others; repeats even out
what the fits of an unstable method differ by.
"""
TRUST_IN_ONE_UNSTABLE = 0.9
"""The same of a holdout, where one fit of an unstable method stands for all that other rows would give."""
TRUST_ONE_BY_ONE = 0.64
"""The same of rows left out one by one: fits that share nearly all rows are nearly one."""
BECAUSE_SPLITS_DIFFER = "since they differ by more than their rows explain"
SPLITS_DIFFER = "the splits differ by more than their rows explain, so the interval is that of the splits"
FEWEST_GROUPS = 30
"""Below so many groups, their spread says too little of the error."""


def trust_in(judged: MetricOfSplits) -> float:
    """For how much of a fresh row one counts."""
    if len(judged.splits) == 1:
        return TRUST_IN_ONE_UNSTABLE if judged.unstable and any(judged.train_rows) else 1.0
    if not judged.unstable or judged.repeated:
        return TRUST
    return TRUST_ONE_BY_ONE if max(map(len, judged.splits)) == 1 else TRUST_IN_UNSTABLE


def interval_of(judged: MetricOfSplits, value: float, values: Sequence[float | None]) -> Interval:
    """The interval of a score, by the first rule that can make one; ``values`` are those of the splits."""
    if judged.metric.aggregation == "of the fit" and len(judged.parts) == 1:
        return Interval(None, None, "none: it describes the fit, which no test row changes")
    units = judged.over_units
    known = [value for value in values if value is not None]
    several = len(judged.parts) > 1 and 1 < len(known) == len(values)
    if units is None:
        if not several:
            return _bootstrap(judged)
        return _saying_whether_splits_differ(judged, _at_least_of_rows(judged, value, known))
    if units.noun == "groups" and units.count < FEWEST_GROUPS and several:
        made = _over_splits(judged, value, known)
        if made.low is not None:
            return _saying_whether_splits_differ(judged, made)
    of_splits = _splits_that_differ(judged, units)
    if of_splits is not None and not class_with_few_rows(judged):
        made = _over_splits(judged, value, known if judged.parts is judged.splits else of_splits)
        return replace(made, how=f"{made.how}, {BECAUSE_SPLITS_DIFFER}", remark=SPLITS_DIFFER)
    made = RULES[judged.metric.scale](judged, units).holding(value)
    if made.low is None:
        return made
    trust = trust_in(judged)
    return replace(made, units=units.noun, trust=None if trust == 1 else trust)


def _splits_that_differ(judged: MetricOfSplits, units: OverUnits) -> Array | None:
    """The values of the splits, if they vary by more than the units explain."""
    of_splits = judged.first_order_values if len(judged.splits) > 1 else None
    if of_splits is None:
        return None
    variance = units.spread / trust_in(judged)
    return of_splits if beyond_rows(of_splits, judged.splits, variance, units.freedom) else None


def _saying_whether_splits_differ(judged: MetricOfSplits, made: Interval) -> Interval:
    """An interval over splits, with a remark where these vary by more than their rows explain."""
    rows = over_units(judged.metric, judged.parts, grouped=False) if judged.rounds is None else None
    differ = rows is not None and _splits_that_differ(judged, rows) is not None
    return replace(made, remark=SPLITS_DIFFER) if differ else made


def _over_splits(judged: MetricOfSplits, value: float, values: Sequence[float] | Array) -> Interval:
    means, scale = by_round(values, judged.rounds), max(map(abs, values))
    estimate = over_splits(means, judged.train_rows, [len(answers) for answers in judged.splits], scale)
    how = f"corrected resampled t over {counted_rounds(means, judged.rounds)}"
    return ScoreEstimate(value, estimate.error, estimate.freedom).interval(how)


def _at_least_of_rows(judged: MetricOfSplits, value: float, values: Sequence[float]) -> Interval:
    """The interval over splits, no narrower than the rows allow where several splits judge the same rows."""
    made = _over_splits(judged, value, values)
    pooled = judged.metric.compute(joined(judged.splits))
    if judged.rounds is not None or not judged.repeated or isinstance(pooled, Undefined):
        return made
    units = over_units(judged.metric, judged.parts)
    of_rows = RULES[judged.metric.scale](judged, units) if units else _bootstrap(judged).shifted(value - pooled)
    if of_rows.low is None or of_rows.high is None:
        return made
    if made.low is None or made.high is None:
        return of_rows
    low, high = min(made.low, of_rows.low), max(made.high, of_rows.high)
    if (low, high) == (made.low, made.high):
        return made
    return replace(made, low=low, high=high, how=f"{made.how}, no narrower than {of_rows.how}")


def _bootstrap(judged: MetricOfSplits) -> Interval:
    answers = joined(judged.splits)
    return percentile_interval(replicates(judged.metric, answers), f"bootstrap over {drawn_from(answers)}")


def _estimate(judged: MetricOfSplits, units: OverUnits) -> ScoreEstimate:
    return ScoreEstimate(units.value, units.error / trust_in(judged) ** 0.5, _freedom(judged, units))


def _freedom(judged: MetricOfSplits, units: OverUnits) -> float:
    """The degrees of freedom of the units; fewer where most of the error comes from the rows of a small class."""
    of_classes = freedom_of_classes(judged.metric, judged.one_round)
    return units.freedom if of_classes is None else min(units.freedom, of_classes)


def _method(units: OverUnits) -> str:
    return f"t over {units.counted}"


def _plain(judged: MetricOfSplits, units: OverUnits) -> Interval:
    return _estimate(judged, units).interval(_method(units))


def _by_factors(judged: MetricOfSplits, units: OverUnits) -> Interval:
    """On the scale of logarithms; above, with half a row more that the model gets wrong, or else longer.

    Trust in rows stands for much the same errors, those that were not seen, and is not added to either.
    """
    estimate = _estimate(judged, units)
    if judged.metric.unseen is None:
        return estimate.by_factors(_method(units), LONGER_ABOVE * trust_in(judged) ** 0.5)
    made = estimate.by_factors(_method(units))
    if units.noun == "groups" or made.high is None:
        return made
    more = units.with_more(PSEUDO_ROWS / 2, judged.metric.unseen(judged.one_round))
    wider = ScoreEstimate(more.value, more.error, more.freedom).by_factors(_method(units))
    return wider if wider.high is None else replace(made, high=max(made.high, wider.high))


def _by_odds(judged: MetricOfSplits, units: OverUnits) -> Interval:
    """DeLong's; where all splits are perfect, by the area of all rows at once, which may show errors.

    Of splits, trust in rows, pairs of rows that no split compares and errors that were not seen stand for much the
    same, so that the largest counts. Of all rows at once scores of different fits are compared besides.
    """
    perfect = not 0 < units.value < 1
    area = judged.metric.compute(judged.one_round) if perfect else units.value
    if isinstance(area, Undefined) or not 0 < area < 1:
        return Interval(
            None, None, f"none: at {units.value:.0f} no error was seen to tell how far it may be from it"
        )
    if few := class_with_few_rows(judged):
        return Interval(None, None, f"none: {few}")
    # the share of compared pairs that tie
    assert judged.metric.rankings is not None
    ties = float(np.mean([share_of_ties(judged.metric.rankings(part)) for part in judged.parts]))
    if ties == 1:
        return Interval(None, None, "none: all scores tie, so that it is 0.5 whatever the rows are")
    shares = _SharesByClass.of(judged.one_round, units.shares)
    between = 0.0 if perfect else shares.between_splits(area * (1 - area) - ties / 4, judged.parts)
    unseen = shares.with_errors(units.spread)
    apart = max(units.spread / trust_in(judged), units.spread + between, unseen)
    more = replace(units, value=area, spread=apart if between else unseen / trust_in(judged))
    return ScoreEstimate(area, more.error, _freedom(judged, more)).by_odds(f"DeLong's {_method(units)}")


@dataclass(frozen=True, eq=False)
class _SharesByClass:
    """The shares of units in the error of an area, by the class of their rows."""

    by_class: Sequence[Array]

    @classmethod
    def of(cls, answers: Any, shares: Array) -> _SharesByClass:
        """Those of answers to each row once."""
        units = rows_or_groups(answers)[answers.weights > 0]
        place, truth = np.unique(units, return_inverse=True)[1], answers.truth[answers.weights > 0]
        results = [shares[np.unique(place[truth == code])] for code in range(len(answers.classes))]
        return cls([of_class for of_class in results if len(of_class)])

    def with_errors(self, spread: float) -> float:
        """The spread with half a row more of each class, which is placed as badly as the worst that was seen.

        Of an area near 1 a few rows have most of the error, and a sample without them has little spread.
        """
        shown = sum(float(shares @ shares) for shares in self.by_class)
        more = 0.0
        for shares in self.by_class:
            weigh = len(shares) / (len(shares) + PSEUDO_ROWS / 2)
            worst = PSEUDO_ROWS / 2 * weigh * float(shares.min(initial=0.0)) ** 2
            more += weigh**2 * (float(shares @ shares) * spread / shown + worst) if shown else 0.0
        return more

    def between_splits(self, of_pair: float, parts: Sequence[Any]) -> float:
        """What a mean of splits varies more, as each compares its own pairs only (Blom 1976, Biometrika 63).

        ``of_pair`` is the variance of one pair: 1, ½ where it ties, or 0.
        """
        if len(parts) == len(rounds_of_rows(parts)):
            return 0.0
        counts = [np.bincount(part.truth[part.truth >= 0]) for part in parts]
        pairs = sum(float((rows * (rows.sum() - rows)).sum()) for rows in counts) / 2
        of_rows = sum(len(shares) * float(shares @ shares) for shares in self.by_class)
        return max(of_pair - of_rows, 0.0) / pairs


def _rate(judged: MetricOfSplits, units: OverUnits) -> Interval:
    """Wilson's interval over as many rows as would give a share of this size the error of the score."""
    metric = judged.metric
    assert metric.low is not None
    assert metric.high is not None
    width = metric.high - metric.low
    shares_alone = units.noun == "rows" and metric.of_tallies is None
    if units.freedom <= 0 and not shares_alone:
        return Interval(None, None, f"none: one {units.noun[:-1]} has no spread")
    rows = units.count if units.noun == "rows" else _rows_worth(judged, units)
    rows *= trust_in(judged) * _rows_of_a_share(judged, width)
    quantile = NormalDist().inv_cdf(UPPER) if shares_alone else student_t_quantile(UPPER, _freedom(judged, units))
    how = f"Wilson over {counted_rows(units.count) if units.noun == 'rows' else units.counted}"
    made = scored_share((units.value - metric.low) / width, rows, quantile, how)
    assert made.low is not None
    assert made.high is not None
    return Interval(metric.low + width * made.low, metric.low + width * made.high, how)


def _rows_of_a_share(judged: MetricOfSplits, width: float) -> float:
    """How many rows of a share say as much as one of the score; 1 of shares of rows."""
    metric = judged.metric
    if metric.of_tallies is None:
        return 1.0
    value, variance = variance_when_smoothed(metric, judged.one_round)
    share = (value - (metric.low or 0.0)) / width
    spread = share * (1 - share) * width**2
    return spread / variance if variance > LITTLE_SPREAD**2 * spread > 0 else 1.0


def _rows_worth(judged: MetricOfSplits, units: OverUnits) -> float:
    """How many independent rows the groups are worth; as many as there are groups where no error was seen."""
    alone = over_units(judged.metric, judged.parts, grouped=False)
    assert alone is not None
    if min(alone.error, units.error / (alone.error or 1.0)) <= LITTLE_SPREAD:
        return units.count
    return alone.count * (alone.error / units.error) ** 2


RULES: dict[Scale, Callable[[MetricOfSplits, OverUnits], Interval]] = {
    "plain": _plain,
    "rate": _rate,
    "log": _by_factors,
    "logit": _by_odds,
}


# Fold stability: do the accuracies of folds agree, does one stand apart, or are they inconsistent?
#
# Lecture notes give three verdicts and no rule. The rule here, in shares of rows:
#
#     spread = 1.4826 · median |v - median|, the robust standard deviation of the folds
#     error  = sqrt(p (1 - p) / n), what n rows of a fold give by chance; p is the median, drawn to the middle by
#     one
#              row of either kind, so that a perfect median leaves room for a wrong row
#     inconsistent    spread > max(0.05, 2 · error), or more than one fold stands apart
#     a fold apart    |v - median| > max(3 · spread, 0.02, 3 · its own error)
#     consistent      no fold stands apart
#
# Without the error terms, folds of 15 rows would nearly always be called inconsistent.
#
# Any metric has a test besides, of whether its splits vary more than their rows explain (``beyond_rows``).

WIDE, FAR = 0.05, 0.02


@dataclass(frozen=True)
class Stability:
    """The verdict, and what it rests on."""

    verdict: Literal["consistent", "outlier split", "inconsistent"]
    apart: tuple[int, ...]
    """Positions of the folds that stand apart."""
    median: float
    spread: float
    why: str


def fold_stability(values: Sequence[float], rows_per_fold: Sequence[int]) -> Stability:
    """The verdict on accuracies (shares, not percent) of folds with so many test rows."""
    result, rows = np.array(values, dtype=np.float64), np.array(rows_per_fold, dtype=np.float64)
    median = float(np.median(result))
    distances = np.abs(result - median)
    # A normal sample's standard deviation by its median absolute deviation
    spread, errors = 1.4826 * float(np.median(distances)), _chance_errors(median, rows)
    limits = np.maximum(max(3 * spread, FAR), 3 * errors)
    apart = tuple(int(fold) for fold in np.flatnonzero(distances > limits))
    widest = max(WIDE, 2 * float(np.median(errors)))
    if spread > widest:
        why = f"the folds spread by {spread:.3f} around {median:.3f}, more than {widest:.3f}"
        return Stability("inconsistent", (), median, spread, why)
    if not apart:
        why = f"every fold is as near to {median:.3f} as chance and the others' spread allow"
        return Stability("consistent", (), median, spread, why)
    named = ", ".join(f"fold {fold + 1} ({result[fold]:.3f})" for fold in apart)
    verdict: Literal["outlier split", "inconsistent"] = "outlier split" if len(apart) == 1 else "inconsistent"
    verdict_words = "outlier split" if len(apart) == 1 else "outlier splits"
    return Stability(verdict, apart, median, spread, f"{verdict_words}: {named}, far from the median {median:.3f}")


def beyond_rows(values: Array, splits: Sequence[Answers], variance: float, freedom: float) -> bool:
    """Whether values of splits vary more than their rows explain: an F test at 1 %.

    ``variance`` is what rows explain of the variance of the mean over splits that judge each row once, with its
    degrees of freedom. Splits of uneven sizes vary unevenly, so theirs are by Welch & Satterthwaite.
    """
    first, *others = rounds_of_rows(splits)
    if len(first) < 2 or variance <= 0 or any(len(each) != len(first) for each in others):
        return False
    by_round = values.reshape(-1, len(first))
    of_splits = 1 / np.array([len(answers) for answers in first])
    between = float(of_splits.sum() ** 2 / (of_splits**2).sum()) - 1
    ratio = float(by_round.var(axis=1, ddof=1).mean()) / len(first) / variance
    # the level of the test
    return between > 0 and f_tail(ratio, between, freedom) < 0.01


def _chance_errors(median: float, rows: Array) -> Array:
    share = (median * rows + 1) / (rows + 2)
    errors: Array = np.sqrt(share * (1 - share) / rows)
    return errors
