"""Losses of boosted scores: what they cost, with gradient and hessian per row, and the best score of some rows.

Scores are outputs × rows: one output for a number or for the log-odds of the second of two classes, else one per
class. All that is said of rows is weighted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlcli.core.moments import quantiles
from mlcli.core.tables import Array, Codes

HALVINGS = 80
"""How often an interval is halved to find a minimum: to the last bit."""
TINY = 1e-150
"""A hessian as small as none."""


class LossDerivatives(NamedTuple):
    """The mean cost of a row, and per output and row its first and second derivative."""

    cost: float
    gradient: Array
    hessian: Array


@dataclass(frozen=True, eq=False)
class Loss:
    """What a model minimises: Σ w·L(y, F)."""

    y: NDArray[Any]
    weights: Array

    @property
    def start(self) -> Array:
        """The best score of each output that is the same for all rows."""
        raise NotImplementedError

    def each(self, scores: Array) -> tuple[Array, Array, Array]:
        """What each row costs by itself, and per output its first and second derivative."""
        raise NotImplementedError

    def at(self, scores: Array) -> LossDerivatives:
        """The mean cost, and derivatives by the weight of rows."""
        costs, gradient, hessian = self.each(scores)
        mean = float(self.weights @ costs / self.weights.sum())
        return LossDerivatives(mean, self.weights * gradient, self.weights * hessian)

    def step(self, slopes: LossDerivatives, scores: Array, output: int, rows: Any) -> float:
        """What some rows add to their scores of one output for the least loss."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class HuberLoss(Loss):
    """Of r = y − F: ½ r² up to |r| = δ, and straight on from there: δ·(|r| − ½ δ)."""

    delta: float = np.inf

    @property
    def start(self) -> Array:
        """The best value for all rows."""
        return np.array([self.best_of(self.y, self.weights)])

    def each(self, scores: Array) -> tuple[Array, Array, Array]:
        """The largest curvature, 1, stands for all."""
        short = self.y - scores
        return self.costs(short[0]), -self.pull(short), np.ones_like(short)

    def step(self, slopes: LossDerivatives, scores: Array, output: int, rows: Any) -> float:
        """As far as costs least."""
        return self.best_of(self.y[rows] - scores[output, rows], self.weights[rows])

    def costs(self, short: Array) -> Array:
        """What each r costs: squared near 0, straight far out."""
        size = np.abs(short)
        near = np.minimum(size, self.delta)
        return near * (size - near / 2)

    def pull(self, short: Array) -> Array:
        """The derivative of the cost: r, as far as δ."""
        return np.clip(short, -self.delta, self.delta)

    def best_of(self, values: Array, weights: Array) -> float:
        """The value to which differences cost least: where as much pulls up as down, by halving an interval."""
        low, high = float(values.min()), float(values.max())
        for _ in range(HALVINGS):
            middle = low / 2 + high / 2
            low, high = (middle, high) if weights @ self.pull(values - middle) > 0 else (low, middle)
        return low / 2 + high / 2


class SquaredLoss(HuberLoss):
    """½ r², however large r is."""

    def best_of(self, values: Array, weights: Array) -> float:
        """The mean."""
        return float(weights @ values / weights.sum())


class AbsoluteLoss(HuberLoss):
    """|r|, without any curvature: leaves answer with the median."""

    def costs(self, short: Array) -> Array:
        """The size of r."""
        return np.abs(short)

    def pull(self, short: Array) -> Array:
        """The sign of r."""
        return np.sign(short)

    def best_of(self, values: Array, weights: Array) -> float:
        """The median."""
        return float(quantiles(values, weights, 0.5))


class ClassLoss(Loss):
    """The part that losses of classes share: one step of Newton's, as a leaf of one class has no best step."""

    @property
    def shrinkage(self) -> float:
        """Friedman's factor for outputs that are not independent."""
        return 1.0

    def step(self, slopes: LossDerivatives, scores: Array, output: int, rows: Any) -> float:
        """−G / H; nowhere if all is as good as certain."""
        hessian = float(slopes.hessian[output, rows].sum())
        return -self.shrinkage * float(slopes.gradient[output, rows].sum()) / hessian if hessian > TINY else 0.0


class LogisticLoss(ClassLoss):
    """log(1 + e^F) − y·F, where F is the log-odds of the second class and y says whether it is that class."""

    @property
    def start(self) -> Array:
        """The log-odds of all rows."""
        positive = self.weights @ self.y
        return np.array([np.log(positive / (self.weights.sum() - positive))])

    def each(self, scores: Array) -> tuple[Array, Array, Array]:
        """Written with e^−|F|, which cannot overflow."""
        small = np.exp(-np.abs(scores))
        above = 1 + small
        probability = np.where(scores >= 0, 1.0, small) / above
        costs = np.maximum(scores, 0) - self.y * scores + np.log(above)
        return costs[0], probability - self.y, small / (above * above)


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
        """The logarithms of the class shares, about 0."""
        logs = np.log(np.bincount(self.y, weights=self.weights, minlength=self.classes))
        return np.asarray(logs - logs.mean(), np.float64)

    def each(self, scores: Array) -> tuple[Array, Array, Array]:
        """Written relative to the largest score, which cannot overflow."""
        rows, highest = np.arange(len(self.y)), scores.max(axis=0)
        powers = np.exp(scores - highest)
        sums = powers.sum(axis=0)
        costs = highest - scores[self.y, rows] + np.log(sums)
        shares = powers / sums
        hessian = shares * (1 - shares)
        shares[self.y, rows] -= 1
        return costs, shares, hessian


def usual_delta(y: Array, weights: Array) -> float:
    """Nine tenths of the values are no farther from the median (Friedman 2001); 1 where that is no distance."""
    far = np.abs(y - quantiles(y, weights, 0.5))
    return float(quantiles(far, weights, 0.9)) or float(far.max()) or 1.0


LOSSES_OF_VALUES: dict[str, Callable[[Array, Array, float | None], Loss]] = {
    "squared": lambda y, weights, delta: SquaredLoss(y, weights),
    "absolute": lambda y, weights, delta: AbsoluteLoss(y, weights),
    "huber": lambda y, weights, delta: HuberLoss(y, weights, delta or usual_delta(y, weights)),
}


def loss_of_classes(y: Codes, present: Codes, weights: Array) -> Loss:
    """Cross-entropy over the classes that are present: of log-odds for two, else of softmax."""
    if len(present) == 2:
        return LogisticLoss((y == present[1]).astype(np.float64), weights)
    return SoftmaxLoss(np.searchsorted(present, y).astype(np.int32), weights, len(present))
