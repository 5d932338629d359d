"""Confusion matrices, the tallies of each class against the rest, and cost matrices.

Most label metrics follow from the tallies: three numbers per class.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from mlcli.core import ROUNDING
from mlcli.core.errors import UsageError
from mlcli.core.moments import summed_from_the_top
from mlcli.core.names import did_you_mean
from mlcli.core.tables import Array, Codes, Flags
from mlcli.tasks.supervised import LabelAnswers

_TALLIES: WeakKeyDictionary[LabelAnswers, Tallies] = WeakKeyDictionary()
"""Counted once per answers, shared by all metrics, gone with the answers."""


@dataclass(frozen=True, eq=False)
class Confusion:
    """Rows are the actual classes, columns the predicted ones; sums of weights where there are any."""

    labels: tuple[str, ...]
    counts: NDArray[np.int64] | Array
    """Whole numbers, unless weights make them otherwise."""


def confusion(answers: LabelAnswers) -> Confusion:
    """The confusion matrix of answers, with class names."""
    counts = counts_of(answers)
    whole = counts.astype(np.int64)
    return Confusion(answers.classes, whole if (whole == counts).all() else counts)


def counts_of(answers: LabelAnswers) -> Array:
    """The counts (K × K) as numbers."""
    classes = len(answers.classes)
    cells = answers.truth.astype(np.intp) * classes + answers.predicted
    counts = np.bincount(cells, weights=answers.weight, minlength=classes * classes)
    return counts.astype(np.float64).reshape(classes, classes)


@dataclass(frozen=True, eq=False)
class Tallies:
    """Each class against the rest; the last axis is the class, and before it tallies may be stacked."""

    true_positives: Array
    support: Array
    """The rows of each class."""
    predicted: Array
    """The rows predicted as each class."""

    @staticmethod
    def of(counts: Array) -> Tallies:
        """The tallies of counts (..., K, K)."""
        return Tallies(np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-1), counts.sum(axis=-2))

    @property
    def false_positives(self) -> Array:
        """The rows of other classes that are predicted as each class."""
        return self.predicted - self.true_positives

    @property
    def false_negatives(self) -> Array:
        """The rows of each class that are predicted as another."""
        return self.support - self.true_positives

    @property
    def negatives(self) -> Array:
        """The rows of all other classes."""
        return np.asarray(self.support.sum(axis=-1, keepdims=True) - self.support)

    @property
    def true_negatives(self) -> Array:
        """The rows of other classes that are not predicted as each class."""
        result = self.negatives - self.false_positives
        return np.where(np.abs(result) > ROUNDING * self.support.sum(axis=-1, keepdims=True), result, 0.0)

    @property
    def occurring(self) -> Flags:
        """The classes that occur, as truth or as answer."""
        return (self.support > 0) | (self.predicted > 0)


def tallies_of(answers: LabelAnswers) -> Tallies:
    """The tallies of answers; do not write into them."""
    if answers not in _TALLIES:
        tallies = tallies_under(answers, answers.weights[None, :])
        _TALLIES[answers] = Tallies(tallies.true_positives[0], tallies.support[0], tallies.predicted[0])
    return _TALLIES[answers]


def tallies_under(answers: LabelAnswers, weightings: Array) -> Tallies:
    """The tallies (B × K) under each of B weightings (B × n) of the rows."""
    right = np.where(answers.truth == answers.predicted, weightings, 0.0)
    classes = len(answers.classes)
    return Tallies(
        _summed(answers.truth, right, classes),
        _summed(answers.truth, weightings, classes),
        _summed(answers.predicted, weightings, classes),
    )


def _summed(codes: Codes, weightings: Array, classes: int) -> Array:
    """The weight (B × K) of each class under each of B weightings."""
    times = len(weightings)
    indices = codes + classes * np.arange(times)[:, None]
    summed: Array = np.bincount(indices.ravel(), weightings.ravel(), times * classes).astype(np.float64)
    return summed.reshape(times, classes)


def ratio(numerator: Array, denominator: Array) -> Array:
    """Quotients, NaN for 0/0: the caller says what that means."""
    empty = np.full(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), np.nan)
    quotients: Array = np.divide(numerator, denominator, out=empty, where=denominator > 0)
    return quotients


# Costs of predictions, written as ``{actual: {predicted: value}}``.

COST = "cost"
EXAMPLE = "such as {malignant: {benign: 5}, benign: {malignant: 1}}: by the true class, then by the predicted one"
Costs = Mapping[str, Mapping[str, float]]


def cost_matrix(costs: Costs | None, classes: Sequence[str]) -> Array:
    """The cost of each prediction (columns) for each true class; if not given, 0 for right and 1 for wrong."""
    matrix = 1.0 - np.eye(len(classes))
    for actual, by_answer in (costs or {}).items():
        for predicted, value in by_answer.items():
            matrix[_place(actual, classes), _place(predicted, classes)] = value
    return matrix


def problems_with_costs(costs: Any) -> Iterator[str]:
    """What is wrong with the form of costs, whatever the classes are."""
    if not isinstance(costs, Mapping) or not costs:
        yield f"costs are a mapping, were given {costs!r}"
        return
    for actual, by_answer in costs.items():
        if not isinstance(by_answer, Mapping) or not by_answer:
            yield f"the costs of {actual} are a mapping of predicted classes to numbers, were given {by_answer!r}"
            continue
        for predicted, value in by_answer.items():
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number:
                yield f"the cost of predicting {predicted} for {actual} is a number, was given {value!r}"


def cost_name(costs: Costs) -> str:
    """The name of the metric of these costs."""
    plain = {
        str(actual): {str(name): float(value) for name, value in row.items()} for actual, row in costs.items()
    }
    return f"{COST}[{json.dumps(plain, sort_keys=True)}]"


def costs_named(text: str) -> Costs:
    """The costs in the brackets of a name."""
    try:
        costs = json.loads(text)
    except ValueError:
        raise UsageError(f"the costs '{text}' cannot be read", hint=EXAMPLE) from None
    if problem := next(problems_with_costs(costs), ""):
        raise UsageError(problem, hint=EXAMPLE)
    result: Costs = costs
    return result


def _place(label: str, classes: Sequence[str]) -> int:
    if str(label) not in classes:
        raise UsageError(
            f"there is no class '{label}' to cost anything", hint=did_you_mean(str(label), classes, "classes")
        )
    return list(classes).index(str(label))


# Curves of one class against the rest, over every threshold of its probability: ROC, precision and recall,
# calibration. Rows count by their weight.
#
# At a threshold t a row is predicted as the class where its probability is at least t. The points are those of
# the
# distinct probabilities, from the largest down; before them stands the threshold that no row reaches.

BINS = 10
"""Of a calibration curve."""


@dataclass(frozen=True, eq=False)
class ThresholdCounts:
    """What is predicted as the class at each threshold: the weight of its own rows, and of others."""

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
        """The rows of the class that are predicted as another."""
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
