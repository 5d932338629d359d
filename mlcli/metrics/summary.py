"""The summary of one metric over the splits of a cell: mean, spread and interval, or why there are none.

Each split has a value, and the mean is the plain mean of these. If a protocol pools (leave-one-out) or the
splits are too small for the metric, it is computed over all predictions of a round instead.
``interval_rules.py`` makes the interval. Below are the .632 and .632+ estimates of the bootstrap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.metrics.base import Metric, Score, Summary, Undefined, defined
from mlcli.metrics.interval_rules import interval_of
from mlcli.metrics.intervals import Interval
from mlcli.metrics.over_units import MetricOfSplits, scores_of
from mlcli.metrics.pooling import (
    Rounds,
    distinct,
    fewest_of_a_class,
    joined,
    parts_of,
    rare_classes,
    within_splits,
)

Values = tuple[float | None, ...]


def summarise(
    metric: Metric,
    splits: Sequence[Answers],
    train_rows: Sequence[int],
    pooled: bool = False,
    rounds: Rounds | None = None,
    unstable: bool = False,
) -> Summary:
    """Mean, standard deviation (n - 1 over splits), 95 % interval, and the value of each split.

    Where ``rounds`` say which splits sweep over something, intervals over splits are over the means of rounds. Of
    ``unstable`` methods, which a few other training rows change a lot, intervals are wider.
    """
    if not splits:
        return Summary(metric.name, None, why="no split has predictions")
    if metric.across is not None and len(splits) > 1:
        return _across(metric, splits)
    every_class, metric = metric, within_splits(metric, splits, pooled)
    parts = parts_of(metric, splits, pooled)
    scores = scores_of(metric, parts)
    values = _values_of_splits(metric, splits, parts, scores, pooled)
    undefined = [score for score in scores if isinstance(score, Undefined)]
    if undefined:
        return Summary(metric.name, None, splits=values, why=_why_no_mean(undefined, len(parts)))
    mean = float(np.mean(defined(scores)))
    known = [value for value in values if value is not None]
    has_spread = not pooled and 1 < len(known) == len(splits) and math.isfinite(mean)
    left_out = () if pooled or metric is every_class else _classes_left_out(metric, splits)
    marks = (*left_out, *_marks_of(metric, parts), *_why_pooled(metric, splits, parts, pooled))
    judged = MetricOfSplits(metric, splits, train_rows, parts, rounds, unstable)
    spread = float(np.std(known, ddof=1)) if has_spread else None
    return _summary(metric, mean, spread, values, marks, lambda: interval_of(judged, mean, values))


def _across(metric: Metric, splits: Sequence[Answers]) -> Summary:
    """A metric that compares splits with each other; there is no interval, since they share rows."""
    assert metric.across is not None
    values = metric.across(splits)
    if isinstance(values, Undefined):
        return Summary(metric.name, None, splits=(None,) * len(splits), why=values.why)
    return Summary(metric.name, float(np.mean(values)), float(np.std(values, ddof=1)), splits=tuple(values))


def _values_of_splits(
    metric: Metric, splits: Sequence[Answers], parts: Sequence[Answers], scores: Sequence[Score], pooled: bool
) -> Values:
    """What each split says on its own, also where the metric is taken over several of them together."""
    if parts is not splits and len(splits) > 1:
        if pooled:
            return _row_means(metric, splits, joined(splits))
        scores = scores_of(metric, splits)
    return tuple(None if isinstance(score, Undefined) else score for score in scores)


def _summary(
    metric: Metric,
    value: float,
    spread: float | None,
    values: Values,
    marks: tuple[str, ...],
    interval: Callable[[], Interval],
) -> Summary:
    finite = math.isfinite(value)
    made = interval().within(metric.low, metric.high) if finite else Interval(None, None, "none: it is infinite")
    return Summary(
        metric=metric.name,
        mean=value,
        std=spread,
        low=made.low,
        high=made.high,
        splits=values,
        why="" if finite else "; ".join(marks) or "infinite",
        marks=(*marks, *filter(None, [made.remark])),
        interval=made.how,
        units=made.units,
        trust=made.trust,
    )


def _row_means(metric: Metric, splits: Sequence[Answers], answers: Answers) -> Values:
    """What each of many small splits says on its own: its rows' mean, for a metric that is one."""
    if metric.per_row is None:
        return (None,) * len(splits)
    split = np.repeat(np.arange(len(splits)), [len(part) for part in splits])
    counting = answers.weights > 0
    weights = answers.weights[counting]
    values = metric.per_row(answers)[counting] * weights
    sums, totals = (np.bincount(split[counting], column, minlength=len(splits)) for column in (values, weights))
    return tuple(float(part / total) if total > 0 else None for part, total in zip(sums, totals, strict=True))


def _marks_of(metric: Metric, parts: Sequence[Answers]) -> tuple[str, ...]:
    """What was marked in any part, with how often; a mean of rows, or its root, is marked over all at once."""
    if metric.marks is None:
        return ()
    if metric.per_row is not None or metric.scale == "log" or len(parts) == 1:
        return metric.marks(joined(parts))
    counted = Counter(mark for answers in parts for mark in metric.marks(answers))
    return tuple(f"{mark} (in {times} of {len(parts)} splits)" for mark, times in counted.items())


def _classes_left_out(metric: Metric, splits: Sequence[Answers]) -> tuple[str, ...]:
    """Which classes splits cannot judge, with their rows."""
    judged = distinct(joined(splits))
    rows = np.bincount(judged.truth, judged.weights > 0, len(judged.classes))
    counts = dict(zip(judged.classes, rows, strict=True))
    names = ", ".join(f"{name} ({counts[name]:.0f})" for name in rare_classes(metric, splits))
    return (f"without the classes that have fewer rows than there are splits, {names}; fewer splits test them",)


def _why_pooled(
    metric: Metric, splits: Sequence[Answers], parts: Sequence[Answers], pooled: bool
) -> tuple[str, ...]:
    """What a reader must know of a score that was taken over several splits at once, and of areas above all."""
    if len(splits) == 1:
        return ()
    if parts is splits:
        return _uneven(metric, splits)
    rare = () if pooled or metric.pooling == "always" else rare_classes(metric, splits)[:1]
    few = f"fewer than {fewest_of_a_class(metric)} rows a split"
    why = (f"taken over all splits at once, since {name} has {few}" for name in rare)
    low = (AREA_OF_SEVERAL_FITS,) * (metric.scale == "logit")
    return (*why, *low)


def _uneven(metric: Metric, splits: Sequence[Answers]) -> tuple[str, ...]:
    """Whether the mean of splits is not that of rows, since tiny splits cannot have the same number of them."""
    least, most = min(map(len, splits)), max(map(len, splits))
    if metric.per_row is None or most < UNEVEN * least or most > MOST_OF_TINY:
        return ()
    why = "so that it is not the mean over rows, as `--average pooled` is"
    return (f"splits of {least} to {most} rows count alike, {why}",)


UNEVEN, MOST_OF_TINY = 1.25, 10
"""Splits of at most so many rows, the largest of them so many times the smallest, are said to be uneven."""
AREA_OF_SEVERAL_FITS = (
    "it compares scores of different fits, which makes it too low: by about 0.05 for 60 rows that are left out "
    "one by one"
)


def _why_no_mean(undefined: Sequence[Undefined], splits: int) -> str:
    if splits == 1:
        return undefined[0].why
    reasons = Counter(score.why for score in undefined)
    hints = dict.fromkeys(score.hint for score in undefined if score.hint)
    causes = ", ".join(f"{why} ({times})" if len(reasons) > 1 else why for why, times in reasons.most_common())
    return "; ".join((f"undefined in {len(undefined)} of {splits} splits: {causes}", *hints))


# The .632 and .632+ estimates correct the pessimism of out-of-bag scores by the optimism of training scores.
#
#     .632     0.368 · training + 0.632 · out of the bag                             (Efron 1983)
#     .632+    (1 - w) · training + w · out of the bag, w = 0.632 / (1 - 0.368 R)    (Efron & Tibshirani 1997)
#     R        (out of the bag - training) / (no information - training), from 0 to 1
#
# The no-information score pairs each prediction with each truth, or with some of them if there are many rows.
# The out-of-bag score counts as no worse than that. Training scores are those of the bags, where Efron fits one
# more model to all rows; on average they are the same. All three are means over the repeats.

OUT_OF_BAG = 0.632
PLAIN, BY_OVERFITTING = "plain", ".632+"
MOST_SHIFTS = 200
"""Beside so many of the truths each prediction is put at most."""


def corrected_for_optimism(
    summary: Summary, metric: Metric, judged: Sequence[Answers], training: Sequence[Answers], estimate: str | float
) -> Summary:
    """A summary of scores out of the bag as one of the estimates; as it is where one of these is not defined."""
    known = defined(metric.compute(answers) for answers in training)
    if estimate == PLAIN or summary.mean is None or len(known) < len(training) or metric.better == "zero":
        return summary
    apparent, outside = float(np.mean(known)), summary.mean
    weight = OUT_OF_BAG
    if estimate == BY_OVERFITTING:
        parts = judged if metric.per_row is None else [joined(judged)]
        without = [no_information(metric, part, MOST_SHIFTS // len(parts) + 1) for part in parts]
        results = [score for score in without if score is not None]
        if len(results) < len(parts):
            return summary
        none = float(np.mean(results))
        outside = max(outside, none) if metric.better == "high" else min(outside, none)
        weight = OUT_OF_BAG / (1 - (1 - OUT_OF_BAG) * overfitting(metric, apparent, outside, none))
    mean = (1 - weight) * apparent + weight * outside
    values = tuple(
        None if value is None else (1 - weight) * own + weight * value
        for value, own in zip(summary.splits, known, strict=True)
    )
    return _around(replace(summary, splits=values), metric, mean, estimate)


def overfitting(metric: Metric, apparent: float, outside: float, none: float) -> float:
    """The relative overfitting rate R: 0 for none, 1 for all that could be."""
    sign = -1 if metric.better == "high" else 1
    lost, all_there_is = sign * (outside - apparent), sign * (none - apparent)
    return min(1.0, lost / all_there_is) if lost > 0 and all_there_is > 0 else 0.0


def no_information(metric: Metric, answers: Answers, most: int = MOST_SHIFTS) -> float | None:
    """The score of predictions beside the truths of other rows; a pair weighs the product of the two."""
    rows = len(answers)
    if len(getattr(answers, "truth", ())) != rows:
        return None
    shuffled: Any = answers.take(np.random.default_rng(0).permutation(rows))
    shifts = range(rows) if rows <= most else np.linspace(0, rows, most, endpoint=False).astype(int)
    scores, weights = [], []
    for shift in shifts:
        of_pairs = shuffled.weights * np.roll(shuffled.weights, shift)
        beside = replace(shuffled.with_header(weight=of_pairs), truth=np.roll(shuffled.truth, shift))
        if isinstance(score := metric.compute(beside), float):
            scores.append(score)
            weights.append(of_pairs.sum())
    return float(np.average(scores, weights=weights)) if scores else None


def _around(summary: Summary, metric: Metric, mean: float, estimate: str | float) -> Summary:
    """The interval around another mean, as wide as before: the training part is no surer than the other."""
    assert summary.mean is not None
    std = (
        None
        if summary.std is None
        else float(np.std([split for split in summary.splits if split is not None], ddof=1))
    )
    if summary.low is None or summary.high is None:
        return replace(summary, mean=mean, std=std)
    low, high = (mean + (end - summary.mean) for end in (summary.low, summary.high))
    made = Interval(low, high, f"{summary.interval}, moved by {estimate}").within(metric.low, metric.high)
    return replace(summary, mean=mean, std=std, low=made.low, high=made.high, interval=made.how)
