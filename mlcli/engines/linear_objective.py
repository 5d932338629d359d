"""Objectives of linear models: a loss of linear scores plus a penalty on the coefficients.

The scores of a row are coefficients times its columns. ``Loss`` measures them against the truth, with gradient and
curvature in the scores; ``Penalty`` adds squared (l2) and absolute (l1) coefficients. ``LinearObjective`` joins
the two, and the solvers in ``solvers.py`` see nothing else of a method. Losses that are not smooth (the hinge,
absolute errors) are minimised by ``interior_point.py`` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from mlcli.core.tables import Array, Rows, blocks_of


@dataclass(frozen=True, eq=False)
class Loss:
    """Σ over rows of weight × the loss of its scores, with arrays of outputs × rows."""

    truth: Array
    """Outputs × rows: ±1 for a side, 0 or 1 for a class, or a number."""
    weights: Array

    bound: ClassVar[float] = np.inf
    """The second derivative in the scores of one row of weight 1 is never larger."""

    def at(self, scores: Array) -> tuple[float, Array]:
        """The summed loss, and its gradient in the scores."""
        losses, slope = self.each(scores)
        return float(losses.sum(axis=0) @ self.weights), slope * self.weights

    def each(self, scores: Array) -> tuple[Array, Array]:
        """The loss of each score by itself, and its derivative."""
        raise NotImplementedError

    def second_derivative(self, scores: Array) -> Array:
        """The second derivative of the loss of each score by itself."""
        raise NotImplementedError

    def curvature_bound(self) -> Array:
        """A matrix that the second derivative in the scores of one row of weight 1 never exceeds."""
        return np.eye(len(self.truth)) * self.bound

    def curvature(self, scores: Array) -> Array:
        """The second derivative in the scores of each row (outputs × outputs × rows)."""
        outputs = len(scores)
        curvature = np.zeros((outputs, outputs, scores.shape[1]))
        curvature[np.arange(outputs), np.arange(outputs)] = self.second_derivative(scores) * self.weights
        return curvature

    def start(self) -> Array:
        """Good constant scores."""
        return np.zeros(len(self.truth))

    @cached_property
    def total(self) -> float:
        """The summed weight of all rows."""
        return float(self.weights.sum())

    def take(self, rows: Rows | slice) -> Self:
        """The loss of some rows, whose weights are scaled to the same sum."""
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

    def curvature_bound(self) -> Array:
        """½ (I − 1 1ᵀ / K) (Böhning 1992)."""
        scores = len(self.truth)
        return np.asarray(0.5 * (np.eye(scores) - 1 / (scores + 1)))

    def curvature(self, scores: Array) -> Array:
        """diag(p) − p pᵀ of the shares p of each row."""
        shares, _, _ = self._shares(scores)
        weighted = shares * self.weights
        curvature = -weighted[:, None] * shares
        outputs = np.arange(len(shares))
        curvature[outputs, outputs] += weighted
        return curvature

    def start(self) -> Array:
        """The log-odds of each class against the first; infinite where one has no rows."""
        with np.errstate(divide="ignore"):
            first = np.log((1 - self.truth.sum(axis=0)) @ self.weights)
            return np.asarray(np.log(self.truth @ self.weights) - first)

    def _shares(self, scores: Array) -> tuple[Array, Array, Array]:
        """The shares of the classes but the first, what they were divided by, and the largest score."""
        highest = scores.max(axis=0, initial=0.0)
        if len(scores) == 1:
            exponential = np.exp(-np.abs(scores[0]))
            total = 1 + exponential
            return (np.where(scores[0] > 0, 1.0, exponential) / total)[None], total, highest
        shares = np.exp(scores - highest)
        total = np.exp(-highest) + shares.sum(axis=0)
        shares /= total
        return shares, total, highest


class Squared(Loss):
    """½ (z − y)²."""

    bound = 1.0

    def each(self, scores: Array) -> tuple[Array, Array]:
        """Half the squared error, and the error."""
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
        """2 inside the margin."""
        return np.asarray(2.0 * (self.truth * scores < 1))


@dataclass(frozen=True)
class Link:
    """A function F that turns a score into a probability: log F(z), log(1 − F(z)) and log F'(z)."""

    log_share: Callable[[Array], Array]
    log_rest: Callable[[Array], Array]
    log_density: Callable[[Array], Array]

    def share(self, scores: Array) -> Array:
        """F(z)."""
        return np.exp(self.log_share(scores))

    def score_of(self, share: Array) -> Array:
        """The score at which F has a value, by bisection among scores of at most 50."""
        low, high = np.full_like(share, -50.0), np.full_like(share, 50.0)
        for _ in range(60):  # then the interval has no more digits
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
        """The loss of each row, and its derivative."""
        share, rest = self.link.log_share(scores), self.link.log_rest(scores)
        density = self.link.log_density(scores)
        losses = -np.where(self.truth == 1, share, rest)
        slope = np.where(self.truth == 1, -np.exp(density - share), np.exp(density - rest))
        return losses, slope

    def second_derivative(self, scores: Array) -> Array:
        """Its mean over the classes (Fisher's scoring), which is never negative."""
        both = self.link.log_share(scores) + self.link.log_rest(scores)
        return np.exp(2 * self.link.log_density(scores) - both)

    def start(self) -> Array:
        """The score of the share of the class."""
        return self.link.score_of(self.truth @ self.weights / self.weights.sum())


@dataclass(frozen=True, eq=False)
class Penalty:
    """Σ_j ½ l2_j ‖w_j‖² + l1_j |w_j|₁, w_j the coefficients of column j in all outputs; 0 where one is free."""

    l2: Array
    l1: Array

    @classmethod
    def of(cls, l2: float, l1: float, scale: Array, total: float) -> Penalty:
        """The penalty of standardised columns, and of a free intercept, that equals l2 and l1 for raw columns.

        ``scale`` is the unit of each standardised column in the table; losses are divided by ``total``.
        """
        return cls(np.append(l2 / total / scale**2, 0.0), np.append(l1 / total / scale, 0.0))

    @property
    def has_corners(self) -> bool:
        """Whether it has no gradient where a coefficient is 0."""
        return bool(self.l1.any())

    def smooth(self, w: Array) -> tuple[float, Array]:
        """The squared part and its gradient."""
        gradient = self.l2 * w
        return float(np.vdot(gradient, w)) / 2, gradient

    def corners(self, w: Array) -> float:
        """The absolute part."""
        return float(np.abs(w).sum(axis=0) @ self.l1)

    def proximal(self, w: Array, step: Array) -> Array:
        """argmin_v of Σ (v − w)² / (2 step) + the absolute part: each moves towards 0 and stops there."""
        return np.asarray(np.sign(w) * np.maximum(np.abs(w) - step * self.l1, 0.0))

    def steepness(self, w: Array, gradient: Array) -> float:
        """The largest entry of the least subgradient of an objective whose smooth part has this gradient."""
        if not self.has_corners:
            return float(np.abs(gradient).max(initial=0.0))
        at_corner = np.maximum(np.abs(gradient) - self.l1, 0.0)
        return float(np.where(w == 0, at_corner, np.abs(gradient + self.l1 * np.sign(w))).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Iterate:
    """An objective at some coefficients."""

    w: Array
    value: float
    gradient: Array
    """Only of the smooth part."""
    scores: Array
    steepness: float
    """The largest entry of the (least sub-)gradient, by size."""


@dataclass(frozen=True, eq=False)
class LinearObjective:
    """Loss of the scores ``mixing`` @ w of standardised columns and ones, plus the penalty on w."""

    X: Array
    """Standardised columns."""
    loss: Loss
    penalty: Penalty
    mixing: Array
    """The scores of the loss from those of the coefficients (scores × outputs)."""
    intercept: bool = True
    """Whether the coefficient of the ones, the last, is free; else it is 0."""

    @cached_property
    def start(self) -> Array:
        """Good coefficients that use no column."""
        w = np.zeros((self.mixing.shape[1], self.X.shape[1] + 1))
        w[:, -1] = np.linalg.pinv(self.mixing) @ self.loss.start() if self.intercept else 0.0
        return w

    def scores(self, w: Array) -> Array:
        """Scores × rows."""
        mixed = self.mixing @ w
        return np.asarray(mixed[:, :-1] @ self.X.T + mixed[:, -1:])

    def at(self, w: Array) -> Iterate:
        """The objective at some coefficients (outputs × columns)."""
        scores = self.scores(w)
        loss, in_scores = self.loss.at(scores)
        penalty, gradient = self.penalty.smooth(w)
        gradient[:, :-1] += self.mixing.T @ (in_scores @ self.X)
        gradient[:, -1] += self.mixing.T @ in_scores.sum(axis=1) * self.intercept
        value = loss + penalty + self.penalty.corners(w)
        return Iterate(w, value, gradient, scores, self.penalty.steepness(w, gradient))

    def curvature(self, here: Iterate) -> Array:
        """The second derivative of the smooth part (coefficients × coefficients)."""
        by_row = self.mixing.T @ np.tensordot(self.mixing.T, self.loss.curvature(here.scores), axes=1)
        curvature = weighted_gram(by_row, self.X, float(self.intercept))
        curvature[np.diag_indices_from(curvature)] += np.tile(self.penalty.l2, len(here.w))
        return curvature

    def reached(self, here: Iterate, fall: float, tolerance: float) -> bool:
        """Whether no entry of the gradient is above the tolerance, and with a penalty no further fall promised."""
        penalised = self.penalty.has_corners or self.penalty.l2.any()
        return here.steepness <= tolerance and (fall <= tolerance**2 or not penalised)

    def own_curvatures(self) -> Array:
        """About the curvature along each coefficient by itself; never 0."""
        bound = self.loss.bound if np.isfinite(self.loss.bound) else 1.0
        weights = self.loss.weights
        squares = np.append(weights @ self.X**2, weights.sum())
        curvatures = bound * squares + self.penalty.l2
        return np.asarray(np.where(curvatures > 0, curvatures, 1.0))

    def take(self, rows: Rows | slice) -> LinearObjective:
        """The objective of some of the rows."""
        return replace(self, X=np.ascontiguousarray(self.X[rows]), loss=self.loss.take(rows))


def weighted_gram(by_row: Array, X: Array, *constants: float) -> Array:
    """Σ over rows of a positive matrix (outputs × outputs × rows) times, as blocks, the products of columns.

    ``constants`` are further columns of one number each.
    """
    outputs, width = len(by_row), X.shape[1] + len(constants)
    total = np.zeros((outputs, width, outputs, width))
    for rows in blocks_of(len(X), width, 2**17):  # numbers at a time, for the cache
        block = X[rows]
        if constants:
            block = np.hstack([block, np.full((len(block), len(constants)), constants)])
        for j in range(outputs):
            rooted = block * np.sqrt(np.maximum(by_row[j, j, rows, None], 0.0))
            total[j, :, j] += rooted.T @ rooted
            for k in range(j):
                total[j, :, k] += (block * by_row[j, k, rows, None]).T @ block
    for j in range(outputs):
        for k in range(j):
            total[k, :, j] = total[j, :, k].T
    return total.reshape(outputs * width, outputs * width)
