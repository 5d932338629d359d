"""Losses of linear scores: what scores (outputs × rows) cost, with gradient and curvature in the scores.

A loss is half of an objective, the penalty the other half; a solver sees no more of a method than these two.
Losses with corners (the hinge, absolute errors) are terms of the interior point method instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from mlcli.core.tables import Array, Rows


@dataclass(frozen=True, eq=False)
class Loss:
    """Σ over rows of weight × what the scores of the row cost beside its truth."""

    truth: Array
    """Outputs × rows: ±1 for a side, 0 or 1 for a class, or a number."""
    weights: Array

    bound: ClassVar[float] = np.inf
    """The curvature in the scores of one row of weight 1 is never larger."""

    def at(self, scores: Array) -> tuple[float, Array]:
        """The summed loss, and its gradient in the scores."""
        cost, slope = self.each(scores)
        return float(cost.sum(axis=0) @ self.weights), slope * self.weights

    def each(self, scores: Array) -> tuple[Array, Array]:
        """What each score costs by itself, and the slope there."""
        raise NotImplementedError

    def second_derivative(self, scores: Array) -> Array:
        """The second derivative of each score's cost by itself."""
        raise NotImplementedError

    def most_curved(self) -> Array:
        """The curvature in the scores of one row of weight 1 never exceeds this matrix."""
        return np.eye(len(self.truth)) * self.bound

    def curvature(self, scores: Array) -> Array:
        """The second derivative in the scores of each row (outputs × outputs × rows)."""
        outputs = len(scores)
        curved = np.zeros((outputs, outputs, scores.shape[1]))
        curved[np.arange(outputs), np.arange(outputs)] = self.second_derivative(scores) * self.weights
        return curved

    def start(self) -> Array:
        """Good scores that are the same for all rows."""
        return np.zeros(len(self.truth))

    @cached_property
    def total(self) -> float:
        """The summed weight of all rows."""
        return float(self.weights.sum())

    def take(self, rows: Rows | slice) -> Self:
        """The loss of some of the rows; their weights sum to what all did."""
        weights = self.weights[rows]
        return replace(self, truth=self.truth[:, rows], weights=weights * (self.total / weights.sum()))


class CrossEntropy(Loss):
    """log Σ_k e^z_k − z_y, with z = 0 for the first class: K classes have K − 1 scores, two have one.

    ``truth`` is 1 where a row is of the class of an output.
    """

    bound = 0.5

    def at(self, scores: Array) -> tuple[float, Array]:
        """Written relative to the largest score, which cannot overflow."""
        shares, total, highest = self._shares(scores)
        value = self.weights @ (highest + np.log(total)) - np.vdot(self.truth * self.weights, scores)
        shares -= self.truth
        shares *= self.weights
        return float(value), shares

    def most_curved(self) -> Array:
        """½ (I − 1 1ᵀ / K) (Böhning 1992)."""
        scores = len(self.truth)
        return np.asarray(0.5 * (np.eye(scores) - 1 / (scores + 1)))

    def curvature(self, scores: Array) -> Array:
        """diag(p) − p pᵀ of the shares p of each row."""
        shares, _, _ = self._shares(scores)
        weighted = shares * self.weights
        curved = -weighted[:, None] * shares
        outputs = np.arange(len(shares))
        curved[outputs, outputs] += weighted
        return curved

    def start(self) -> Array:
        """The log-odds of each class against the first; infinite where one has no rows."""
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.log(self.truth @ self.weights) - np.log((1 - self.truth.sum(axis=0)) @ self.weights)
            )

    def _shares(self, scores: Array) -> tuple[Array, Array, Array]:
        """The shares of the classes but the first, what they were divided by, and the largest score."""
        highest = scores.max(axis=0, initial=0.0)
        if len(scores) == 1:
            small = np.exp(-np.abs(scores[0]))
            total = 1 + small
            return (np.where(scores[0] > 0, 1.0, small) / total)[None], total, highest
        shares = np.exp(scores - highest)
        total = np.exp(-highest) + shares.sum(axis=0)
        shares /= total
        return shares, total, highest


class Squared(Loss):
    """½ (z − y)²."""

    bound = 1.0

    def each(self, scores: Array) -> tuple[Array, Array]:
        """Half the square of the error, and the error."""
        error = scores - self.truth
        return 0.5 * error**2, error

    def second_derivative(self, scores: Array) -> Array:
        """1 everywhere."""
        return np.ones_like(scores)

    def start(self) -> Array:
        """The means."""
        return np.asarray(self.truth @ self.weights / self.weights.sum())


class SquaredHinge(Loss):
    """max(0, 1 − y z)² of sides y = ±1."""

    bound = 2.0

    def each(self, scores: Array) -> tuple[Array, Array]:
        """The square of what a row lacks of the margin 1."""
        lack = np.maximum(1 - self.truth * scores, 0)
        return lack**2, -2 * self.truth * lack

    def second_derivative(self, scores: Array) -> Array:
        """2 where the margin is lacking."""
        return np.asarray(2.0 * (self.truth * scores < 1))


INVERSIONS = 60
REACH = 50.0
"""Shares are looked for among scores of at most this size."""


@dataclass(frozen=True)
class Link:
    """The logarithms of F(z), of 1 − F(z), and of F's slope."""

    log_share: Callable[[Array], Array]
    log_rest: Callable[[Array], Array]
    log_density: Callable[[Array], Array]

    def share(self, scores: Array) -> Array:
        """F(z)."""
        return np.exp(self.log_share(scores))

    def score_of(self, share: Array) -> Array:
        """Where F is so large, by bisection."""
        low, high = np.full_like(share, -REACH), np.full_like(share, REACH)
        for _ in range(INVERSIONS):
            middle = (low + high) / 2
            below = self.share(middle) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray((low + high) / 2)


def _log_normal(z: Array) -> Array:
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(z))


LOGISTIC = Link(
    lambda z: -np.logaddexp(0, -z),
    lambda z: -np.logaddexp(0, z),
    lambda z: -np.logaddexp(0, z) - np.logaddexp(0, -z),
)
NORMAL = Link(_log_normal, lambda z: _log_normal(-z), lambda z: -(z**2) / 2 - np.log(2 * np.pi) / 2)
ARCTAN = Link(
    lambda z: np.log(np.arctan2(1, -z) / np.pi),
    lambda z: np.log(np.arctan2(1, z) / np.pi),
    lambda z: -np.log(np.pi) - np.log1p(z**2),
)


def generalised_logistic(power: float) -> Link:
    """(1 + e^−z)^−power, the generalised logistic function; a power of 1 is the logistic function."""

    def log_share(z: Array) -> Array:
        return -power * np.logaddexp(0, -z)

    return Link(
        log_share,
        lambda z: np.log(-np.expm1(log_share(z))),
        lambda z: np.log(power) - z - (power + 1) * np.logaddexp(0, -z),
    )


@dataclass(frozen=True, eq=False)
class LinkLoss(Loss):
    """−y log F(z) − (1 − y) log(1 − F(z)) of classes y = 0 or 1."""

    link: Link = LOGISTIC

    def each(self, scores: Array) -> tuple[Array, Array]:
        """The cost of each row, and its slope."""
        share, rest = self.link.log_share(scores), self.link.log_rest(scores)
        density = self.link.log_density(scores)
        cost = -np.where(self.truth == 1, share, rest)
        slope = np.where(self.truth == 1, -np.exp(density - share), np.exp(density - rest))
        return cost, slope

    def second_derivative(self, scores: Array) -> Array:
        """What it bends by on average over classes (Fisher's scoring), which is never negative."""
        both = self.link.log_share(scores) + self.link.log_rest(scores)
        return np.exp(2 * self.link.log_density(scores) - both)

    def start(self) -> Array:
        """The score of the share of the class."""
        return self.link.score_of(self.truth @ self.weights / self.weights.sum())
