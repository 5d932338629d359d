"""An objective: a loss of linear scores plus a penalty on the coefficients; solvers see nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from mlcli.core.blocks import row_blocks
from mlcli.core.tables import Array
from mlcli.engines.losses import Loss
from mlcli.engines.penalties import Penalty

CELLS = 2**17
"""How many numbers of the table are worked on at a time."""


@dataclass(frozen=True, eq=False)
class Point:
    """An objective near some coefficients."""

    w: Array
    value: float
    slope: Array
    """The gradient; of a penalty with corners only the part that has none."""
    scores: Array
    steepness: float
    """The largest entry of the (least sub-)gradient, by size."""


class Objective(Protocol):
    """What solvers minimise."""

    @property
    def penalty(self) -> Penalty:
        """What coefficients cost by themselves."""

    def at(self, w: Array) -> Point:
        """The objective at some coefficients (outputs × columns)."""

    def curvature(self, here: Point) -> Array:
        """The second derivative (all coefficients squared), but for corners."""

    def reached(self, here: Point, fall: float, tolerance: float) -> bool:
        """Whether this is the minimum; Newton's step promises to fall by half of ``fall``."""


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

    def at(self, w: Array) -> Point:
        """The objective at some coefficients."""
        scores = self.scores(w)
        cost, in_scores = self.loss.at(scores)
        fixed, slope = self.penalty.smooth(w)
        slope[:, :-1] += self.mixing.T @ (in_scores @ self.X)
        slope[:, -1] += self.mixing.T @ in_scores.sum(axis=1) * self.intercept
        value = cost + fixed + self.penalty.corners(w)
        return Point(w, value, slope, scores, self.penalty.steepness(w, slope))

    def curvature(self, here: Point) -> Array:
        """Σ over rows of what their scores bend by, times the products of their columns."""
        by_row = np.einsum("aj,abn,bk->jkn", self.mixing, self.loss.curvature(here.scores), self.mixing)
        outputs, width = here.w.shape
        curved = np.zeros((outputs, width, outputs, width))
        for rows in row_blocks(len(self.X), width, CELLS):
            block = self.X[rows]
            for j in range(outputs):
                for k in range(j + 1):
                    _add_products(curved[j, :, k], block, by_row[j, k, rows])
        for j in range(outputs):
            for k in range(j):
                curved[k, :, j] = curved[j, :, k]
        if not self.intercept:
            curved[..., -1] = curved[:, -1] = 0.0
        made = curved.reshape(outputs * width, outputs * width)
        made[np.diag_indices_from(made)] += np.tile(self.penalty.l2, outputs)
        return made

    def reached(self, here: Point, fall: float, tolerance: float) -> bool:
        """No entry of the gradient above the tolerance; with a penalty, no way down left either."""
        penalised = self.penalty.has_corners or self.penalty.l2.any()
        return here.steepness <= tolerance and (fall <= tolerance**2 or not penalised)

    def own_bends(self) -> Array:
        """About what the objective bends along each column by itself; never 0."""
        bound = self.loss.bound if np.isfinite(self.loss.bound) else 1.0
        squares = np.append(self.loss.weights @ self.X**2, self.loss.weights.sum())
        bends = bound * squares + self.penalty.l2
        return np.asarray(np.where(bends > 0, bends, 1.0))

    def step_bounds(self) -> Array:
        """A step for each column down which no gradient step can rise.

        1 / (its own curvature × the largest curvature once each is divided by its own).
        """
        ones = np.ones((len(self.X), 1)) if self.intercept else np.zeros((len(self.X), 1))
        rooted = np.hstack([self.X, ones]) * np.sqrt(self.loss.weights)[:, None]
        inside = self.mixing.T @ self.loss.most_curved() @ self.mixing
        largest = float(np.linalg.eigvalsh(inside).max(initial=0.0))
        bound = largest * (rooted.T @ rooted) + np.diag(self.penalty.l2)
        own = np.where(bound.diagonal() > 0, bound.diagonal(), 1.0)
        alike = bound / np.sqrt(np.outer(own, own))
        return np.asarray(1 / (own * max(float(np.linalg.eigvalsh(alike)[-1]), np.finfo(float).tiny)))

    def take(self, rows: slice) -> LinearObjective:
        """The same of some of the rows."""
        return replace(self, X=np.ascontiguousarray(self.X[rows]), loss=self.loss.take(rows))


def _add_products(whole: Array, block: Array, weights: Array) -> None:
    whole[:-1, :-1] += (block * weights[:, None]).T @ block
    edge = weights @ block
    whole[-1, :-1] += edge
    whole[:-1, -1] += edge
    whole[-1, -1] += weights.sum()
