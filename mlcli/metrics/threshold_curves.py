"""Curves of one class against the rest, over every threshold of its probability: ROC, precision and recall,
calibration. Rows count by their weight.

At a threshold t a row is answered with the class where its probability is at least t. The points are those of the
distinct probabilities, from the largest down; before them stands the threshold that no row reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.moments import summed_from_the_top
from mlcli.core.tables import Array, Flags
from mlcli.metrics.confusion import ratio

BINS = 10
"""Of a calibration curve."""


@dataclass(frozen=True, eq=False)
class ThresholdCounts:
    """What is answered with the class at each threshold: the weight of its own rows, and of others."""

    thresholds: Array
    true_positives: Array
    false_positives: Array

    @cached_property
    def positives(self) -> float:
        """The weight of the rows of the class."""
        return float(self.true_positives[-1])

    @cached_property
    def negatives(self) -> float:
        """The weight of the others."""
        return float(self.false_positives[-1])

    @property
    def false_negatives(self) -> Array:
        """The rows of the class that are answered with another."""
        return self.positives - self.true_positives

    @property
    def recall(self) -> Array:
        """The true positive rate; NaN where there is no row of the class."""
        return ratio(self.true_positives, np.full(len(self.thresholds), self.positives))

    @property
    def fpr(self) -> Array:
        """The false positive rate; NaN where there are no others."""
        return ratio(self.false_positives, np.full(len(self.thresholds), self.negatives))

    @property
    def precision(self) -> Array:
        """The share of right answers among those of the class; 1 where there is none."""
        result = ratio(self.true_positives, self.true_positives + self.false_positives)
        return np.where(np.isnan(result), 1.0, result)

    @property
    def f1(self) -> Array:
        """The harmonic mean of precision and recall; 0 where nothing of the class is found."""
        hits = 2 * self.true_positives
        return np.nan_to_num(ratio(hits, hits + self.false_positives + self.false_negatives))

    @property
    def youden(self) -> Array:
        """Youden's J: the true positive rate minus the false positive rate."""
        return np.nan_to_num(self.recall) - np.nan_to_num(self.fpr)

    @property
    def accuracy(self) -> Array:
        """The share of right answers."""
        right = self.true_positives + self.negatives - self.false_positives
        return np.asarray(right / (self.positives + self.negatives))

    def costs(self, matrix: Array) -> Array:
        """The mean cost of a row; a matrix (2 × 2) has what answers (columns) cost, this class second."""
        totals = (
            matrix[1, 1] * self.true_positives
            + matrix[1, 0] * self.false_negatives
            + matrix[0, 1] * self.false_positives
            + matrix[0, 0] * (self.negatives - self.false_positives)
        )
        return np.asarray(totals / (self.positives + self.negatives))


def counts_by_threshold(scores: Array, positive: Flags, weights: Array) -> ThresholdCounts:
    """The counts at every distinct score; rows of weight 0 do not count."""
    counting = weights > 0
    scores, positive, weights = scores[counting], positive[counting], weights[counting]
    sides = (np.where(side, weights, 0.0) for side in (positive, ~positive))
    falling, (own, others) = summed_from_the_top(scores, *sides)
    return ThresholdCounts(
        np.concatenate([[np.inf], falling]),
        np.concatenate([[0.0], own]),
        np.concatenate([[0.0], others]),
    )


def between(thresholds: Array) -> Array:
    """Thresholds half-way to the next smaller score, which say the same of the scores that they are made from."""
    falling = thresholds[1:]
    first = (1.0 + falling[0]) / 2 if falling[0] < 1 else np.nextafter(falling[0], 2.0)
    return np.concatenate([[first], (falling + np.append(falling[1:], 0.0)) / 2])


@dataclass(frozen=True, eq=False)
class Calibration:
    """Bins of the probability: its mean, the share of rows of the class, the weight; none of them is empty."""

    predicted: Array
    observed: Array
    weight: Array

    @property
    def expected_error(self) -> float:
        """The mean distance of the two over rows (ECE)."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.weight))


def calibration(scores: Array, positive: Flags, weights: Array, bins: int = BINS) -> Calibration:
    """How often rows are of the class whose probability lies in each of some equal bins."""
    edges = np.linspace(0.0, 1.0, bins + 1)
    index = np.searchsorted(edges[1:-1], scores)
    total: Array = np.bincount(index, weights, bins).astype(np.float64)
    sums = (np.bincount(index, weights * values, bins) for values in (scores, positive.astype(np.float64)))
    filled = total > 0
    predicted, observed = (values[filled] / total[filled] for values in sums)
    return Calibration(predicted, observed, total[filled])
