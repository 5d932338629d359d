"""Confusion matrices, the tallies of each class against the rest, and cost matrices.

Most label metrics follow from the tallies: three numbers per class.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.tables import Array, Codes, Flags
from mlcli.core.tolerances import ROUNDING
from mlcli.tasks.classification import LabelAnswers

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
    """The rows answered with each class."""

    @staticmethod
    def of(counts: Array) -> Tallies:
        """The tallies of counts (..., K, K)."""
        return Tallies(np.diagonal(counts, axis1=-2, axis2=-1), counts.sum(axis=-1), counts.sum(axis=-2))

    @property
    def false_positives(self) -> Array:
        """The rows of other classes that are answered with each class."""
        return self.predicted - self.true_positives

    @property
    def false_negatives(self) -> Array:
        """The rows of each class that are answered with another."""
        return self.support - self.true_positives

    @property
    def negatives(self) -> Array:
        """The rows of all other classes."""
        return np.asarray(self.support.sum(axis=-1, keepdims=True) - self.support)

    @property
    def true_negatives(self) -> Array:
        """The rows of other classes that are answered with none of each class."""
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
EXAMPLE = "such as {malignant: {benign: 5}, benign: {malignant: 1}}: by the true class, then by the answer"
Costs = Mapping[str, Mapping[str, float]]


def cost_matrix(costs: Costs | None, classes: Sequence[str]) -> Array:
    """The cost of each answer (columns) for each true class; what is not said is 0 for right, 1 for wrong."""
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
            yield f"the costs of {actual} are a mapping of answers to numbers, were given {by_answer!r}"
            continue
        for predicted, value in by_answer.items():
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number:
                yield f"what it costs to answer {predicted} for {actual} is a number, was given {value!r}"


def cost_name(costs: Costs) -> str:
    """The name of the metric of these costs."""
    plain = {
        str(actual): {str(name): float(value) for name, value in row.items()} for actual, row in costs.items()
    }
    return f"{COST}[{json.dumps(plain, sort_keys=True)}]"


def costs_named(text: str) -> Costs:
    """The costs that stand in the brackets of a name."""
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
