"""Confusion counts: how often each class was answered for each true class; most label metrics follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Flags, Rows
from mlcli.tasks.classification import LabelAnswers

_COUNTS: WeakKeyDictionary[LabelAnswers, Array] = WeakKeyDictionary()
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
    return Confusion(answers.classes, whole if (whole == counts).all() else counts.copy())


def counts_of(answers: LabelAnswers) -> Array:
    """The counts (K × K) as numbers for metrics; do not write into them."""
    counts = _COUNTS.get(answers)
    if counts is None:
        classes = len(answers.classes)
        cells = np.bincount(_cells(answers), weights=answers.weight, minlength=classes * classes)
        counts = cells.astype(np.float64).reshape(classes, classes)
        _COUNTS[answers] = counts
    return counts


def counts_under(answers: LabelAnswers, weightings: Array) -> Array:
    """The counts (B × K × K) under each of B weightings (B × n) of the rows."""
    times, classes = len(weightings), len(answers.classes)
    size = classes * classes
    cells = _cells(answers) + size * np.arange(times)[:, None]
    counts: Array = np.bincount(cells.ravel(), weights=weightings.ravel(), minlength=times * size).astype(
        np.float64
    )
    return counts.reshape(times, classes, classes)


def _cells(answers: LabelAnswers) -> Rows:
    cells: Rows = answers.truth.astype(np.intp) * len(answers.classes) + answers.predicted
    return cells


@dataclass(frozen=True, eq=False)
class Tallies:
    """Each class against the rest; the last axis is the class, and before it counts may be stacked."""

    true_positives: Array
    false_positives: Array
    false_negatives: Array
    true_negatives: Array

    @staticmethod
    def of(counts: Array) -> Tallies:
        """The tallies of counts (..., K, K)."""
        hits = np.diagonal(counts, axis1=-2, axis2=-1)
        actual, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
        negatives, wrong = actual.sum(axis=-1, keepdims=True) - actual, predicted - hits
        return Tallies(hits, wrong, actual - hits, np.maximum(negatives - wrong, 0))  # weights round

    @property
    def support(self) -> Array:
        """The rows of each class."""
        return self.true_positives + self.false_negatives

    @property
    def predicted(self) -> Array:
        """The rows answered with each class."""
        return self.true_positives + self.false_positives

    @property
    def negatives(self) -> Array:
        """The rows of all other classes."""
        return self.true_negatives + self.false_positives

    @property
    def occurring(self) -> Flags:
        """The classes that occur, as truth or as answer."""
        return (self.support > 0) | (self.predicted > 0)


def ratio(numerator: Array, denominator: Array) -> Array:
    """Quotients, NaN for 0/0: the caller says what that means."""
    empty = np.full(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), np.nan)
    quotients: Array = np.divide(numerator, denominator, out=empty, where=denominator > 0)
    return quotients
