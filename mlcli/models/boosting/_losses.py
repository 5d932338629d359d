"""Losses of boosted scores: their value, gradient and hessian for each row, and the best score of some rows.

Scores are outputs × rows: one output for a number or for the log-odds of the second of two classes, else one per
class. Rows count by their weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlcli.core.moments import quantiles
from mlcli.core.tables import Array, Codes

RowNumbers = NDArray[np.integer]
"""Numbers of rows, as the compiled loops or NumPy have them."""


class LossDerivatives(NamedTuple):
    """The mean loss of a row, and per output and row its first and second derivative."""

    cost: float
    gradient: Array
    hessian: Array


@dataclass(frozen=True, eq=False)
class Loss:
    """The loss that a model minimises: Σ w·L(y, F)."""

    y: Array | Codes
    weights: Array

    @property
    def start(self) -> Array:
        """The best constant score of each output."""
        raise NotImplementedError

    def each(self, scores: Array) -> tuple[Array, Array, Array]:
        """The loss of each row, and per output its first and second derivative."""
        raise NotImplementedError

    def at(self, scores: Array) -> LossDerivatives:
        """The mean loss, and the derivatives times the weights of the rows."""
        losses, gradient, hessian = self.each(scores)
        mean = float(self.weights @ losses / self.weights.sum())
        return LossDerivatives(mean, self.weights * gradient, self.weights * hessian)

    def step(self, derivatives: LossDerivatives, scores: Array, output: int, rows: RowNumbers) -> float:
        """The step in one output that reduces the loss of some rows most."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class HuberLoss(Loss):
    """Of r = y − F: ½ r² up to |r| = δ, and straight on from there: δ·(|r| − ½ δ)."""

    y: Array
    delta: float = np.inf

    @property
    def start(self) -> Array:
        """The best value for all rows."""
        return np.array([self.best_of(self.y, self.weights)])

    def each(self, scores: Array) -> tuple[Array, Array, Array]:
        """The hessian is taken to be 1, its largest value, for every row."""
        residuals = self.y - scores
        return self.costs(residuals[0]), -self.pull(residuals), np.ones_like(residuals)

    def step(self, derivatives: LossDerivatives, scores: Array, output: int, rows: RowNumbers) -> float:
        """The best constant for the residuals of the rows."""
        return self.best_of(self.y[rows] - scores[output, rows], self.weights[rows])

    def costs(self, residuals: Array) -> Array:
        """The loss of each r."""
        size = np.abs(residuals)
        near = np.minimum(size, self.delta)
        return near * (size - near / 2)

    def pull(self, residuals: Array) -> Array:
        """The derivative of the loss: r, clipped at ±δ."""
        return np.clip(residuals, -self.delta, self.delta)

    def best_of(self, values: Array, weights: Array) -> float:
        """The constant with the least loss, where the derivatives sum to 0, by bisection."""
        low, high = float(values.min()), float(values.max())
        for _ in range(80):  # to the last bit
            middle = low / 2 + high / 2
            low, high = (middle, high) if weights @ self.pull(values - middle) > 0 else (low, middle)
        return low / 2 + high / 2


class SquaredLoss(HuberLoss):
    """½ r², however large r is."""

    def best_of(self, values: Array, weights: Array) -> float:
        """The mean."""
        return float(weights @ values / weights.sum())


class AbsoluteLoss(HuberLoss):
    """|r|, which has no curvature: leaves predict the median."""

    def costs(self, residuals: Array) -> Array:
        """The size of r."""
        return np.abs(residuals)

    def pull(self, residuals: Array) -> Array:
        """The sign of r."""
        return np.sign(residuals)

    def best_of(self, values: Array, weights: Array) -> float:
        """The median."""
        return float(quantiles(values, weights, 0.5))


class ClassLoss(Loss):
    """A loss of classes, with one Newton step for a leaf: a leaf of a single class has no best step."""

    @property
    def shrinkage(self) -> float:
        """Friedman's factor for outputs that are not independent."""
        return 1.0

    def step(self, derivatives: LossDerivatives, scores: Array, output: int, rows: RowNumbers) -> float:
        """−G / H; 0 if all rows are as good as certain."""
        hessian = float(derivatives.hessian[output, rows].sum())
        if hessian <= 1e-150:
            return 0.0
        return -self.shrinkage * float(derivatives.gradient[output, rows].sum()) / hessian


class LogisticLoss(ClassLoss):
    """log(1 + e^F) − y·F, where F is the log-odds of the second class and y says whether it is that class."""

    @property
    def start(self) -> Array:
        """The log-odds of all rows."""
        positive = self.weights @ self.y
        return np.array([np.log(positive / (self.weights.sum() - positive))])

    def each(self, scores: Array) -> tuple[Array, Array, Array]:
        """Written with e^−|F|, which cannot overflow."""
        exponential = np.exp(-np.abs(scores))
        total = 1 + exponential
        probability = np.where(scores >= 0, 1.0, exponential) / total
        losses = np.maximum(scores, 0) - self.y * scores + np.log(total)
        return losses[0], probability - self.y, exponential / (total * total)


@dataclass(frozen=True, eq=False)
class SoftmaxLoss(ClassLoss):
    """log Σ_k e^F_k − F_y: every class has a score; hessians are those of one score while the others stay."""

    classes: int

    @property
    def shrinkage(self) -> float:
        """(K − 1) / K."""
        return (self.classes - 1) / self.classes

    @property
    def start(self) -> Array:
        """The logarithms of the class shares, with mean 0."""
        logs = np.log(np.bincount(self.y, weights=self.weights, minlength=self.classes))
        return np.asarray(logs - logs.mean(), np.float64)

    def each(self, scores: Array) -> tuple[Array, Array, Array]:
        """Written relative to the largest score, which cannot overflow."""
        rows, highest = np.arange(len(self.y)), scores.max(axis=0)
        exponentials = np.exp(scores - highest)
        sums = exponentials.sum(axis=0)
        losses = highest - scores[self.y, rows] + np.log(sums)
        gradient = exponentials / sums
        hessian = gradient * (1 - gradient)
        gradient[self.y, rows] -= 1
        return losses, gradient, hessian


def default_delta(y: Array, weights: Array) -> float:
    """The 90 % quantile of distances from the median (Friedman 2001); the largest, or 1, if that is 0."""
    distances = np.abs(y - quantiles(y, weights, 0.5))
    return float(quantiles(distances, weights, 0.9)) or float(distances.max()) or 1.0


LOSSES_OF_VALUES: dict[str, Callable[[Array, Array, float | None], Loss]] = {
    "squared": lambda y, weights, delta: SquaredLoss(y, weights),
    "absolute": lambda y, weights, delta: AbsoluteLoss(y, weights),
    "huber": lambda y, weights, delta: HuberLoss(y, weights, delta or default_delta(y, weights)),
}


def loss_of_classes(y: Codes, present: Codes, weights: Array) -> Loss:
    """Cross-entropy over the classes that are present: of log-odds for two, else of softmax."""
    if len(present) == 2:
        return LogisticLoss((y == present[1]).astype(np.float64), weights)
    return SoftmaxLoss(np.searchsorted(present, y).astype(np.int32), weights, len(present))
