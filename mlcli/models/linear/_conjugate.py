"""The way to the minimum of the quadratic that fits an objective, where its curvature is too large to be formed.

Conjugate gradients need the curvature's products only (Hestenes & Stiefel 1952). They are in single precision:
a step is rough anyway, and the slope at its end, in double precision, tells the next one what is left to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array
from mlcli.models.linear._inverse import Inverse
from mlcli.models.linear._objective import Here, Objective
from mlcli.models.linear._standard import times_columns, times_rows

Single = NDArray[np.float32]

ROUGHEST = 0.3
"""Far from the minimum, the quadratic is minimised only until its slope has fallen to this share."""
MOST_PRODUCTS = 300
NEAR = 3e-4
"""With so small a gradient, a single curvature leads to the end."""
LARGEST = 4000
"""A curvature of more coefficients is never formed."""


@dataclass(eq=False)
class Conjugate:
    """The quadratic that fits an objective somewhere."""

    objective: Objective
    here: Here
    exhausted: bool = False
    """Whether so many products were not enough."""

    def step(self, slope: Array) -> Array:
        """The way to about the minimum."""
        precision = min(ROUGHEST, float(np.cbrt(self.here.steepness)))
        step, remaining = np.zeros(slope.shape, np.float32), -slope.astype(np.float32)
        direction, left = remaining, float(np.vdot(remaining, remaining))
        goal = precision**2 * left
        for _ in range(MOST_PRODUCTS):
            bent = self._bent(direction)
            curvature = float(np.vdot(direction, bent))
            if curvature <= 0:
                break
            length = np.float32(left / curvature)
            step, remaining = step + length * direction, remaining - length * bent
            before, left = left, float(np.vdot(remaining, remaining))
            if left <= goal:
                return step.astype(np.float64)
            direction = remaining + np.float32(left / before) * direction
        self.exhausted = True
        return step.astype(np.float64)

    def after(self, before: Here, there: Here) -> Conjugate | Inverse:
        """The quadratic there; near the minimum, or where products lead nowhere, its curvature is formed."""
        if there.w.size > LARGEST or not (self.exhausted or there.steepness <= NEAR):
            return Conjugate(self.objective, there)
        try:
            return Inverse.roughly(self.objective, there)
        except np.linalg.LinAlgError:
            return Inverse.at(self.objective, there)

    def _bent(self, change: Single) -> Single:
        """The change of the slope that goes with a change of the coefficients."""
        X = self.objective.X.single
        mixed = self._mixing @ change
        scores = times_columns(mixed[:, :-1], X)
        scores += mixed[:, -1:]
        if len(scores) > 1:
            scores -= np.einsum("kn,kn->n", self._shares, scores)
        scores *= self._weighted
        gathered = np.empty_like(change)
        gathered[:, :-1] = times_rows(scores, X)
        gathered[:, -1] = scores.sum(axis=1) * self.objective.X.intercept
        product: Single = self._mixing.T @ gathered + self._strength * change
        return product

    @cached_property
    def _mixing(self) -> Single:
        return self.objective.mixing.astype(np.float32)

    @cached_property
    def _strength(self) -> Single:
        return self.objective.strength.astype(np.float32)

    @cached_property
    def _shares(self) -> Single:
        return self.here.shares.astype(np.float32)

    @cached_property
    def _weighted(self) -> Single:
        """What a change of a score, less the mean change, bends the slope by."""
        shares, weights = self.here.shares, self.objective.loss.weights
        return np.asarray(shares * weights * ((1 - shares) if len(shares) == 1 else 1), np.float32)
