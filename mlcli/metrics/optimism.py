"""The .632 and .632+ estimates: scores out of the bag, which lean to the low side, made up for by training scores.

    .632     0.368 · training + 0.632 · out of the bag                             (Efron 1983)
    .632+    (1 - w) · training + w · out of the bag, w = 0.632 / (1 - 0.368 R)    (Efron & Tibshirani 1997)
    R        (out of the bag - training) / (no information - training), from 0 to 1

The score of no information is that of the same predictions beside truths that have nothing to do with them: each
prediction beside each truth, or where rows are many, beside some of them. Out of the bag is never worse than that.
Training scores are those of the bags, where Efron asks one model that has learned from all rows about these: a fit
more, and the bags have the same score on average. All three are means over the repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.metrics.base import Metric, Summary, defined
from mlcli.metrics.intervals import Interval
from mlcli.metrics.pooling import joined

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
        found = [score for score in without if score is not None]
        if len(found) < len(parts):
            return summary
        none = float(np.mean(found))
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
        None if summary.std is None else float(np.std([one for one in summary.splits if one is not None], ddof=1))
    )
    if summary.low is None or summary.high is None:
        return replace(summary, mean=mean, std=std)
    low, high = (mean + (end - summary.mean) for end in (summary.low, summary.high))
    made = Interval(low, high, f"{summary.interval}, moved by {estimate}").within(metric.low, metric.high)
    return replace(summary, mean=mean, std=std, low=made.low, high=made.high, interval=made.how)
