"""An objective: a loss of linear scores plus a penalty on the coefficients; solvers see nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from mlcli.core.tables import Array, Rows, blocks_of
from mlcli.engines.losses import Loss


@dataclass(frozen=True, eq=False)
class Penalty:
    """Σ_j ½ l2_j ‖w_j‖² + l1_j |w_j|₁, w_j the coefficients of column j in all outputs; 0 where one is free."""

    l2: Array
    l1: Array

    @classmethod
    def of(cls, l2: float, l1: float, scale: Array, total: float) -> Penalty:
        """What coefficients of standard columns, and the intercept, cost where those of the table cost l2 and l1.

        ``scale`` is a unit of each standard column in the table; losses are divided by ``total``.
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
        """The largest entry of the least subgradient, where the rest of the objective has such a gradient."""
        if not self.has_corners:
            return float(np.abs(gradient).max(initial=0.0))
        at_corner = np.maximum(np.abs(gradient) - self.l1, 0.0)
        return float(np.where(w == 0, at_corner, np.abs(gradient + self.l1 * np.sign(w))).max(initial=0.0))


CELLS = 2**17
"""How many numbers of the table are worked on at a time."""


@dataclass(frozen=True, eq=False)
class Iterate:
    """An objective near some coefficients."""

    w: Array
    value: float
    gradient: Array
    """Of a penalty with corners only the part that has none."""
    scores: Array
    steepness: float
    """The largest entry of the (least sub-)gradient, by size."""


class Objective(Protocol):
    """What solvers minimise."""

    @property
    def penalty(self) -> Penalty:
        """What coefficients cost by themselves."""

    def at(self, w: Array) -> Iterate:
        """The objective at some coefficients (outputs × columns)."""

    def curvature(self, here: Iterate) -> Array:
        """The second derivative (all coefficients squared), but for corners."""

    def reached(self, here: Iterate, fall: float, tolerance: float) -> bool:
        """Whether this is the minimum; Newton's step promises to fall by half of ``fall``."""


class Smooth(Protocol):
    """What is minimised by gradients alone."""

    def at(self, w: Array) -> Iterate:
        """The objective and its gradient at some coefficients."""

    def own_curvatures(self) -> Array:
        """About its curvature along each coefficient by itself; never 0."""


@dataclass(frozen=True, eq=False)
class LinearObjective:
    """Loss of ``mixing`` @ w in standard columns and ones, plus the penalty on w."""

    X: Array
    """Standard columns."""
    loss: Loss
    penalty: Penalty
    mixing: Array
    """The scores of the loss from those of the coefficients (scores × outputs)."""
    intercept: bool = True
    """Whether the coefficient of the ones, the last, is free; else it is 0."""

    @cached_property
    def start(self) -> Array:
        """Good coefficients that look at no column."""
        w = np.zeros((self.mixing.shape[1], self.X.shape[1] + 1))
        w[:, -1] = np.linalg.pinv(self.mixing) @ self.loss.start() if self.intercept else 0.0
        return w

    def scores(self, w: Array) -> Array:
        """Scores × rows."""
        mixed = self.mixing @ w
        return np.asarray(mixed[:, :-1] @ self.X.T + mixed[:, -1:])

    def at(self, w: Array) -> Iterate:
        """The objective at some coefficients."""
        scores = self.scores(w)
        cost, in_scores = self.loss.at(scores)
        fixed, gradient = self.penalty.smooth(w)
        gradient[:, :-1] += self.mixing.T @ (in_scores @ self.X)
        gradient[:, -1] += self.mixing.T @ in_scores.sum(axis=1) * self.intercept
        value = cost + fixed + self.penalty.corners(w)
        return Iterate(w, value, gradient, scores, self.penalty.steepness(w, gradient))

    def curvature(self, here: Iterate) -> Array:
        """Σ over rows of what their scores bend by, times the products of their columns."""
        by_row = self.mixing.T @ np.tensordot(self.mixing.T, self.loss.curvature(here.scores), axes=1)
        made = weighted_gram(by_row, self.X, float(self.intercept))
        made[np.diag_indices_from(made)] += np.tile(self.penalty.l2, len(here.w))
        return made

    def reached(self, here: Iterate, fall: float, tolerance: float) -> bool:
        """No entry of the gradient above the tolerance; with a penalty, no way down left either."""
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
        """The same of some of the rows."""
        return replace(self, X=np.ascontiguousarray(self.X[rows]), loss=self.loss.take(rows))


def weighted_gram(by_row: Array, X: Array, *last: float) -> Array:
    """Σ over rows of a positive matrix (outputs × outputs × rows) times, as blocks, the products of columns.

    More columns may be the last, each of one number.
    """
    outputs, width = len(by_row), X.shape[1] + len(last)
    total = np.zeros((outputs, width, outputs, width))
    for rows in blocks_of(len(X), width, CELLS):
        block = np.hstack([X[rows], np.full((len(X[rows]), len(last)), last)]) if last else X[rows]
        for j in range(outputs):
            rooted = block * np.sqrt(np.maximum(by_row[j, j, rows, None], 0.0))
            total[j, :, j] += rooted.T @ rooted
            for k in range(j):
                total[j, :, k] += (block * by_row[j, k, rows, None]).T @ block
    for j in range(outputs):
        for k in range(j):
            total[k, :, j] = total[j, :, k].T
    return total.reshape(outputs * width, outputs * width)


SHORTEST_STEP = 2.0**-30
ROUNDING = 1e-14
"""A rise by this share of the objective, or of a score of 1, is rounding."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The coefficients a solver stopped at, and the objective there."""

    at: Iterate
    iterations: int
    converged: bool


def complaint(minima: Sequence[Minimum], tolerance: float) -> str:
    """What to tell the user of solvers that did not arrive; empty when all did."""
    if all(minimum.converged for minimum in minima):
        return ""
    reached = max(minimum.at.steepness for minimum in minima)
    iterations = max(minimum.iterations for minimum in minima)
    return f"stopped after {iterations} steps with a gradient of {reached:.1e}, above the tolerance {tolerance:g}"
