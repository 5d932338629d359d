"""Which interval is made of a score, and how much its rows are trusted; ``docs/metrics.md`` has the figures.

    rates (accuracy, f1, recall, mcc, ...)     Wilson over rows, as many as give the rate its error
    log-loss, mse, rmse                        t over rows, on the scale of logarithms
    areas under the ROC curve                  DeLong's t over rows, on the scale of log odds
    other means of rows, R²                    t over rows (R² by the delta method)
    the same of 30 groups or more              t over the groups
    the same of ratings                        t over the users and the items
    the same of fewer groups; all others       corrected resampled t over the splits
    all others, one split or pooled            bootstrap over rows, or groups

If every row is scored by models that learned from the others, rows count less than those of fresh data, since
fits change with their training rows: for 0.8 of a row, and for less if a method is unstable (``trust_in``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array
from mlcli.metrics.base import Undefined, by_round, counted_rounds, joined, rounds_of_rows, rows_or_groups
from mlcli.metrics.intervals import (
    LITTLE_SPREAD,
    UPPER,
    Interval,
    ScoreEstimate,
    counted_rows,
    drawn_from,
    f_tail,
    over_splits,
    percentile_interval,
    replicates,
    scored_share,
    student_t_quantile,
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

TRUST = 0.8
"""A row counts for this share of a fresh row if it is scored by models that learned from the others."""
SPLITS_DIFFER = "the splits differ by more than their rows explain, so the interval is that of the splits"
BECAUSE_SPLITS_DIFFER = "since they differ by more than their rows explain"
FEWEST_GROUPS = 30
"""With fewer groups their spread is too uncertain an estimate of the error."""


def trust_in(splits: MetricOfSplits) -> float:
    """How many independent rows one row counts as; repeats average over the fits of an unstable method."""
    if len(splits.splits) == 1:
        # one fit of an unstable method represents all fits that other training rows would give
        return 0.9 if splits.unstable and any(splits.train_rows) else 1.0
    if not splits.unstable or splits.repeated:
        return TRUST
    # fits of rows left out one by one share nearly all rows, so that they are nearly one fit
    return 0.64 if max(map(len, splits.splits)) == 1 else 0.67


def interval_of(splits: MetricOfSplits, score: float, values: Sequence[float | None]) -> Interval:
    """The interval of a score, by the first rule that can make one; ``values`` are those of the splits."""
    if splits.metric.aggregation == "of the fit" and len(splits.parts) == 1:
        return Interval(None, None, "none: it describes the fit, which no test row changes")
    units = splits.over_units
    defined_values = [value for value in values if value is not None]
    has_split_values = len(splits.parts) > 1 and 1 < len(defined_values) == len(values)
    if units is None:
        if not has_split_values:
            return _bootstrap(splits)
        return _with_remark_if_splits_differ(splits, _over_splits_and_rows(splits, score, defined_values))
    if units.noun == "groups" and units.count < FEWEST_GROUPS and has_split_values:
        interval = _over_splits(splits, score, defined_values)
        if interval.low is not None:
            return _with_remark_if_splits_differ(splits, interval)
    differing_values = _values_of_differing_splits(splits, units)
    if differing_values is not None and not class_with_few_rows(splits):
        split_values = defined_values if splits.parts is splits.splits else differing_values
        interval = _over_splits(splits, score, split_values)
        return replace(interval, how=f"{interval.how}, {BECAUSE_SPLITS_DIFFER}", remark=SPLITS_DIFFER)
    interval = _over_units(splits, units).holding(score)
    if interval.low is None:
        return interval
    trust = trust_in(splits)
    return replace(interval, units=units.noun, trust=None if trust == 1 else trust)


def _values_of_differing_splits(splits: MetricOfSplits, units: OverUnits) -> Array | None:
    """The values of the splits, if they vary by more than the units explain."""
    values = splits.first_order_values if len(splits.splits) > 1 else None
    if values is None:
        return None
    variance = units.spread / trust_in(splits)
    return values if beyond_rows(values, splits.splits, variance, units.freedom) else None


def _with_remark_if_splits_differ(splits: MetricOfSplits, interval: Interval) -> Interval:
    rows = over_units(splits.metric, splits.parts, grouped=False) if splits.rounds is None else None
    differ = rows is not None and _values_of_differing_splits(splits, rows) is not None
    return replace(interval, remark=SPLITS_DIFFER) if differ else interval


def _over_splits(splits: MetricOfSplits, score: float, values: Sequence[float] | Array) -> Interval:
    means, scale = by_round(values, splits.rounds), max(map(abs, values))
    estimate = over_splits(means, splits.train_rows, [len(answers) for answers in splits.splits], scale)
    how = f"corrected resampled t over {counted_rounds(means, splits.rounds)}"
    return ScoreEstimate(score, estimate.error, estimate.freedom).interval(how)


def _over_splits_and_rows(splits: MetricOfSplits, score: float, values: Sequence[float]) -> Interval:
    """The interval over splits, no narrower than the rows allow if several splits test the same rows."""
    interval = _over_splits(splits, score, values)
    pooled = splits.metric.compute(joined(splits.splits))
    if splits.rounds is not None or not splits.repeated or isinstance(pooled, Undefined):
        return interval
    units = over_units(splits.metric, splits.parts)
    row_interval = _over_units(splits, units) if units else _bootstrap(splits).shifted(score - pooled)
    if row_interval.low is None or row_interval.high is None:
        return interval
    if interval.low is None or interval.high is None:
        return row_interval
    low, high = min(interval.low, row_interval.low), max(interval.high, row_interval.high)
    if (low, high) == (interval.low, interval.high):
        return interval
    return replace(interval, low=low, high=high, how=f"{interval.how}, no narrower than {row_interval.how}")


def _bootstrap(splits: MetricOfSplits) -> Interval:
    answers = joined(splits.splits)
    return percentile_interval(replicates(splits.metric, answers), f"bootstrap over {drawn_from(answers)}")


def _over_units(splits: MetricOfSplits, units: OverUnits) -> Interval:
    """The interval over rows or groups, on the scale of the metric."""
    match splits.metric.scale:
        case "rate":
            return _rate(splits, units)
        case "logit":
            return _by_odds(splits, units)
        case "log":
            return _by_factors(splits, units)
    return _estimate(splits, units).interval(f"t over {units.counted}")


def _estimate(splits: MetricOfSplits, units: OverUnits) -> ScoreEstimate:
    return ScoreEstimate(units.value, units.error / trust_in(splits) ** 0.5, _freedom(splits, units))


def _freedom(splits: MetricOfSplits, units: OverUnits) -> float:
    """The degrees of freedom of the units; fewer if most of the error comes from the rows of a small class."""
    class_freedom = freedom_of_classes(splits.metric, splits.one_round)
    return units.freedom if class_freedom is None else min(units.freedom, class_freedom)


def _by_factors(splits: MetricOfSplits, units: OverUnits) -> Interval:
    """On the scale of logarithms; the upper side with half a row more that the model gets wrong, or else longer.

    Trust in rows covers much the same errors, those that were not observed, so the two are not added.
    """
    estimate, how = _estimate(splits, units), f"t over {units.counted}"
    if splits.metric.unseen is None:
        # In a mean of squares a few rows make up much of the sum. A sample without them has both a low score and
        # little spread, so the upper side is longer.
        return estimate.by_factors(how, longer=trust_in(splits) ** 0.5)
    interval = estimate.by_factors(how)
    if units.noun == "groups" or interval.high is None:
        return interval
    more = units.with_more(PSEUDO_ROWS / 2, splits.metric.unseen(splits.one_round))
    wider = ScoreEstimate(more.value, more.error, more.freedom).by_factors(how)
    return interval if wider.high is None else replace(interval, high=max(interval.high, wider.high))


def _by_odds(splits: MetricOfSplits, units: OverUnits) -> Interval:
    """DeLong's; if all splits are perfect, by the area of all rows at once, which may show errors.

    For splits, trust in rows, pairs of rows that no split compares and errors that were not observed cover much
    the same, so that the largest counts. With all rows at once, scores of different fits are compared, too.
    """
    perfect = not 0 < units.value < 1
    area = splits.metric.compute(splits.one_round) if perfect else units.value
    if isinstance(area, Undefined) or not 0 < area < 1:
        why = f"none: at {units.value:.0f} no error was seen to tell how far it may be from it"
        return Interval(None, None, why)
    if few := class_with_few_rows(splits):
        return Interval(None, None, f"none: {few}")
    assert splits.metric.rankings is not None
    ties = float(np.mean([share_of_ties(splits.metric.rankings(part)) for part in splits.parts]))
    if ties == 1:
        return Interval(None, None, "none: all scores tie, so that it is 0.5 whatever the rows are")
    shares = _SharesByClass.of(splits.one_round, units.shares)
    between = 0.0 if perfect else shares.between_splits(area * (1 - area) - ties / 4, splits.parts)
    unseen = shares.with_errors(units.spread)
    largest = max(units.spread / trust_in(splits), units.spread + between, unseen)
    more = replace(units, value=area, spread=largest if between else unseen / trust_in(splits))
    return ScoreEstimate(area, more.error, _freedom(splits, more)).by_odds(f"DeLong's t over {units.counted}")


@dataclass(frozen=True, eq=False)
class _SharesByClass:
    """The shares of units in the error of an area, by the class of their rows."""

    by_class: Sequence[Array]

    @classmethod
    def of(cls, answers: Any, shares: Array) -> _SharesByClass:
        """The shares for predictions that have each row once."""
        counted = answers.weights > 0
        unit = np.unique(rows_or_groups(answers)[counted], return_inverse=True)[1]
        truth = answers.truth[counted]
        by_class = [shares[np.unique(unit[truth == code])] for code in range(len(answers.classes))]
        return cls([class_shares for class_shares in by_class if len(class_shares)])

    def with_errors(self, spread: float) -> float:
        """The spread with half a row more of each class, ranked as badly as the worst observed row.

        If the area is near 1, a few rows have most of the error, and a sample without them has little spread.
        """
        total = sum(float(shares @ shares) for shares in self.by_class)
        if not total:
            return 0.0
        smoothed = 0.0
        for shares in self.by_class:
            weight = len(shares) / (len(shares) + PSEUDO_ROWS / 2)
            worst = PSEUDO_ROWS / 2 * weight * float(shares.min(initial=0.0)) ** 2
            smoothed += weight**2 * (float(shares @ shares) * spread / total + worst)
        return smoothed

    def between_splits(self, pair_variance: float, parts: Sequence[Any]) -> float:
        """The extra variance of a mean of splits, as each compares its own pairs only (Blom 1976, Biometrika 63).

        ``pair_variance`` is the variance of the value of one pair: 1, ½ if it ties, or 0.
        """
        if len(parts) == len(rounds_of_rows(parts)):
            return 0.0
        counts = [np.bincount(part.truth[part.truth >= 0]) for part in parts]
        pairs = sum(float((rows * (rows.sum() - rows)).sum()) for rows in counts) / 2
        row_variance = sum(len(shares) * float(shares @ shares) for shares in self.by_class)
        return max(pair_variance - row_variance, 0.0) / pairs


def _rate(splits: MetricOfSplits, units: OverUnits) -> Interval:
    """Wilson's interval over as many rows as would give a share of this size the error of the score."""
    metric = splits.metric
    assert metric.low is not None
    assert metric.high is not None
    width = metric.high - metric.low
    is_share_of_rows = units.noun == "rows" and metric.of_tallies is None
    if units.freedom <= 0 and not is_share_of_rows:
        return Interval(None, None, f"none: one {units.noun[:-1]} has no spread")
    rows, how = units.count, f"Wilson over {counted_rows(units.count)}"
    if units.noun == "groups":
        # as many rows as the groups are worth; as many as there are groups if no error is seen
        how = f"Wilson over {units.counted}"
        alone = over_units(metric, splits.parts, grouped=False)
        assert alone is not None
        if min(alone.error, units.error / (alone.error or 1.0)) > LITTLE_SPREAD:
            rows = alone.count * (alone.error / units.error) ** 2
    rows *= trust_in(splits)
    if metric.of_tallies is not None:
        # the number of rows of a share that carry as much information as the rows of the score
        value, variance = variance_when_smoothed(metric, splits.one_round)
        share = (value - metric.low) / width
        spread = share * (1 - share) * width**2
        if variance > LITTLE_SPREAD**2 * spread > 0:
            rows *= spread / variance
    quantile = NormalDist().inv_cdf(UPPER)
    if not is_share_of_rows:
        quantile = student_t_quantile(UPPER, _freedom(splits, units))
    wilson = scored_share((units.value - metric.low) / width, rows, quantile, how)
    assert wilson.low is not None
    assert wilson.high is not None
    return Interval(metric.low + width * wilson.low, metric.low + width * wilson.high, how)


# Fold stability: do the accuracies of folds agree, does one stand apart, or are they inconsistent?
#
# Lecture notes give three verdicts and no rule. The rule here, in shares of rows:
#
#     spread = 1.4826 · median |v - median|, the robust standard deviation of the folds
#     error  = sqrt(p (1 - p) / n), what n rows of a fold give by chance; p is the median, drawn to the middle by
#              one row of either kind, so that a perfect median leaves room for a wrong row
#     inconsistent    spread > max(0.05, 2 · error), or more than one fold stands apart
#     a fold apart    |v - median| > max(3 · spread, 0.02, 3 · its own error)
#     consistent      no fold stands apart
#
# Without the error terms, folds of 15 rows would nearly always be called inconsistent.
#
# Any metric has a test besides, of whether its splits vary more than their rows explain (``beyond_rows``).


@dataclass(frozen=True)
class Stability:
    """The verdict and its reasons."""

    verdict: Literal["consistent", "outlier split", "inconsistent"]
    apart: tuple[int, ...]
    """Indices of the folds that stand apart."""
    median: float
    spread: float
    why: str


def fold_stability(values: Sequence[float], rows_per_fold: Sequence[int]) -> Stability:
    """The verdict on the accuracies of folds (shares, not percent) with these numbers of test rows."""
    accuracies, rows = np.array(values, dtype=np.float64), np.array(rows_per_fold, dtype=np.float64)
    median = float(np.median(accuracies))
    distances = np.abs(accuracies - median)
    # the standard deviation of a normal sample by its median absolute deviation
    spread = 1.4826 * float(np.median(distances))
    share = (median * rows + 1) / (rows + 2)
    errors = np.sqrt(share * (1 - share) / rows)
    widest = max(0.05, 2 * float(np.median(errors)))
    if spread > widest:
        why = f"the folds spread by {spread:.3f} around {median:.3f}, more than {widest:.3f}"
        return Stability("inconsistent", (), median, spread, why)
    limits = np.maximum(max(3 * spread, 0.02), 3 * errors)
    apart = tuple(int(fold) for fold in np.flatnonzero(distances > limits))
    if not apart:
        why = f"every fold is as near to {median:.3f} as chance and the others' spread allow"
        return Stability("consistent", (), median, spread, why)
    names = ", ".join(f"fold {fold + 1} ({accuracies[fold]:.3f})" for fold in apart)
    why = f"outlier split{'s' if len(apart) > 1 else ''}: {names}, far from the median {median:.3f}"
    return Stability("outlier split" if len(apart) == 1 else "inconsistent", apart, median, spread, why)


def beyond_rows(values: Array, splits: Sequence[Answers], variance: float, freedom: float) -> bool:
    """Whether values of splits vary more than their rows explain: an F test at 1 %.

    ``variance`` is the part of the variance of the mean (over splits that test each row once) that rows explain,
    and ``freedom`` its degrees of freedom. Splits of uneven sizes get theirs by Welch & Satterthwaite.
    """
    first, *others = rounds_of_rows(splits)
    if len(first) < 2 or variance <= 0 or any(len(round_) != len(first) for round_ in others):
        return False
    by_round = values.reshape(-1, len(first))
    variances = 1 / np.array([len(answers) for answers in first])
    between = float(variances.sum() ** 2 / (variances**2).sum()) - 1
    ratio = float(by_round.var(axis=1, ddof=1).mean()) / len(first) / variance
    return between > 0 and f_tail(ratio, between, freedom) < 0.01
