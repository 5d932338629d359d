"""The summary of one metric over the splits of a cell: mean, spread and interval, or why there are none.

Each split has a value, and the mean is the plain mean of these. If a protocol pools (leave-one-out) or the
splits are too small for the metric, it is computed over all predictions of a round instead.
``interval_rules.py`` makes the interval. Below are the .632 and .632+ estimates of the bootstrap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.metrics.base import (
    Metric,
    Rounds,
    Score,
    Summary,
    Undefined,
    defined,
    distinct,
    fewest_of_a_class,
    joined,
    parts_of,
    rare_classes,
    within_splits,
)
from mlcli.metrics.interval_rules import interval_of
from mlcli.metrics.intervals import Interval
from mlcli.metrics.over_units import MetricOfSplits, scores_of


def summarise(
    metric: Metric,
    splits: Sequence[Answers],
    train_rows: Sequence[int],
    pooled: bool = False,
    rounds: Rounds | None = None,
    unstable: bool = False,
) -> Summary:
    """Mean, standard deviation (n - 1 over splits), 95 % interval, and the value of each split.

    If ``rounds`` say which splits sweep over something, intervals over splits are over the means of rounds. Of
    ``unstable`` methods, which a few other training rows change a lot, intervals are wider.
    """
    if not splits:
        return Summary(metric.name, None, why="no split has predictions")
    if metric.across is not None and len(splits) > 1:
        # it compares splits with each other; there is no interval, since they share rows
        across = metric.across(splits)
        if isinstance(across, Undefined):
            return Summary(metric.name, None, splits=(None,) * len(splits), why=across.why)
        return Summary(metric.name, float(np.mean(across)), float(np.std(across, ddof=1)), splits=tuple(across))
    every_class, metric = metric, within_splits(metric, splits, pooled)
    parts = parts_of(metric, splits, pooled)
    scores = scores_of(metric, parts)
    values = _values_of_splits(metric, splits, parts, scores, pooled)
    undefined = [score for score in scores if isinstance(score, Undefined)]
    if undefined:
        return Summary(metric.name, None, splits=values, why=_why_no_mean(undefined, len(parts)))
    mean = float(np.mean(defined(scores)))
    marks = (*_marks_of(metric, parts), *_why_pooled(metric, splits, parts, pooled))
    if metric is not every_class and not pooled:
        marks = (_classes_left_out(metric, splits), *marks)
    if math.isfinite(mean):
        scored = MetricOfSplits(metric, splits, train_rows, parts, rounds, unstable)
        interval, why = interval_of(scored, mean, values).within(metric.low, metric.high), ""
    else:
        interval, why = Interval(None, None, "none: it is infinite"), "; ".join(marks) or "infinite"
    defined_values = [value for value in values if value is not None]
    has_spread = not pooled and 1 < len(defined_values) == len(splits) and math.isfinite(mean)
    return Summary(
        metric=metric.name,
        mean=mean,
        std=float(np.std(defined_values, ddof=1)) if has_spread else None,
        low=interval.low,
        high=interval.high,
        splits=values,
        why=why,
        marks=(*marks, *filter(None, [interval.remark])),
        interval=interval.how,
        units=interval.units,
        trust=interval.trust,
    )


def _values_of_splits(
    metric: Metric, splits: Sequence[Answers], parts: Sequence[Answers], scores: Sequence[Score], pooled: bool
) -> tuple[float | None, ...]:
    """The score of each split on its own, also if the metric is taken over several of them together."""
    is_joined = parts is not splits and len(splits) > 1
    if not (is_joined and pooled):
        scores = scores_of(metric, splits) if is_joined else scores
        return tuple(None if isinstance(score, Undefined) else score for score in scores)
    # many small splits: the mean of the rows of each, for a metric that is a mean of rows
    if metric.per_row is None:
        return (None,) * len(splits)
    answers = joined(splits)
    split = np.repeat(np.arange(len(splits)), [len(part) for part in splits])
    counting = answers.weights > 0
    weights = answers.weights[counting]
    values = metric.per_row(answers)[counting] * weights
    sums, totals = (np.bincount(split[counting], column, minlength=len(splits)) for column in (values, weights))
    return tuple(float(part / total) if total > 0 else None for part, total in zip(sums, totals, strict=True))


def _marks_of(metric: Metric, parts: Sequence[Answers]) -> tuple[str, ...]:
    """The marks of all parts with their counts; a mean of rows, or its root, is marked over all rows at once."""
    if metric.marks is None:
        return ()
    if metric.per_row is not None or metric.scale == "log" or len(parts) == 1:
        return metric.marks(joined(parts))
    counted = Counter(mark for answers in parts for mark in metric.marks(answers))
    return tuple(f"{mark} (in {times} of {len(parts)} splits)" for mark, times in counted.items())


def _classes_left_out(metric: Metric, splits: Sequence[Answers]) -> str:
    """Which classes the splits cannot score, with their rows."""
    answers = distinct(joined(splits))
    rows = np.bincount(answers.truth, answers.weights > 0, len(answers.classes))
    counts = dict(zip(answers.classes, rows, strict=True))
    names = ", ".join(f"{name} ({counts[name]:.0f})" for name in rare_classes(metric, splits))
    return f"without the classes that have fewer rows than there are splits, {names}; fewer splits test them"


def _why_pooled(
    metric: Metric, splits: Sequence[Answers], parts: Sequence[Answers], pooled: bool
) -> tuple[str, ...]:
    """Remarks on a score that is computed over several splits at once, above all on areas."""
    if len(splits) == 1:
        return ()
    if parts is splits:
        # tiny splits cannot all have the same number of rows, so that the mean of splits is not that of rows
        least, most = min(map(len, splits)), max(map(len, splits))
        if metric.per_row is None or most < 1.25 * least or most > 10:
            return ()
        why = "so that it is not the mean over rows, as `--average pooled` is"
        return (f"splits of {least} to {most} rows count alike, {why}",)
    marks: list[str] = []
    if not pooled and metric.pooling != "always":
        few = f"fewer than {fewest_of_a_class(metric)} rows a split"
        marks += [
            f"taken over all splits at once, since {name} has {few}" for name in rare_classes(metric, splits)[:1]
        ]
    if metric.scale == "logit":
        marks.append(
            "it compares scores of different fits, which makes it too low: by about 0.05 for 60 rows that are "
            "left out one by one"
        )
    return tuple(marks)


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
MOST_SHIFTS = 200
"""Each prediction is paired with at most so many of the truths."""


def corrected_for_optimism(
    summary: Summary,
    metric: Metric,
    test_answers: Sequence[Answers],
    training: Sequence[Answers],
    estimate: str | float,
) -> Summary:
    """A summary of scores out of the bag as one of the estimates; unchanged if one of these is not defined."""
    training_scores = defined(metric.compute(answers) for answers in training)
    has_scores = summary.mean is not None and len(training_scores) == len(training)
    if estimate == "plain" or summary.mean is None or not has_scores or metric.better == "zero":
        return summary
    apparent, outside, weight = float(np.mean(training_scores)), summary.mean, OUT_OF_BAG
    if estimate == ".632+":
        parts = test_answers if metric.per_row is None else [joined(test_answers)]
        results = [no_information(metric, part, MOST_SHIFTS // len(parts) + 1) for part in parts]
        scores = [score for score in results if score is not None]
        if len(scores) < len(parts):
            return summary
        none = float(np.mean(scores))
        outside = max(outside, none) if metric.better == "high" else min(outside, none)
        weight = OUT_OF_BAG / (1 - (1 - OUT_OF_BAG) * overfitting(metric, apparent, outside, none))
    mean = (1 - weight) * apparent + weight * outside
    values = tuple(
        None if value is None else (1 - weight) * own + weight * value
        for value, own in zip(summary.splits, training_scores, strict=True)
    )
    std = summary.std
    if std is not None:
        std = float(np.std([value for value in values if value is not None], ddof=1))
    corrected = replace(summary, mean=mean, std=std, splits=values)
    if summary.low is None or summary.high is None:
        return corrected
    # the interval is as wide as before: the training part is no surer than the other
    low, high = (mean + (end - summary.mean) for end in (summary.low, summary.high))
    interval = Interval(low, high, f"{summary.interval}, moved by {estimate}").within(metric.low, metric.high)
    return replace(corrected, low=interval.low, high=interval.high, interval=interval.how)


def overfitting(metric: Metric, apparent: float, outside: float, none: float) -> float:
    """The relative overfitting rate R: 0 for none, 1 for the largest possible."""
    sign = -1 if metric.better == "high" else 1
    lost, largest = sign * (outside - apparent), sign * (none - apparent)
    return min(1.0, lost / largest) if lost > 0 and largest > 0 else 0.0


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
        shifted = replace(shuffled.with_header(weight=of_pairs), truth=np.roll(shuffled.truth, shift))
        if isinstance(score := metric.compute(shifted), float):
            scores.append(score)
            weights.append(of_pairs.sum())
    return float(np.average(scores, weights=weights)) if scores else None
