"""The way to the minimum of the quadratic that fits an objective, where its curvature is too large to be formed.

Conjugate gradients need the curvature's products only (Hestenes & Stiefel 1952). They are in single precision:
a step is rough anyway, and the slope at its end, in double precision, tells the next one what is left to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array
from mlcli.models.linear._inverse import Inverse
from mlcli.models.linear._objective import Here, Objective
from mlcli.models.linear._standard import blocks, times_columns, times_rows

Single = NDArray[np.float32]

ROUGHEST = 0.3
"""Far from the minimum, the quadratic is minimised only until its slope has fallen to this share."""
MOST_PRODUCTS = 300
ENOUGH = 0.5
"""Nor is the slope made smaller than this share of the tolerance."""
PER_COEFFICIENT, PER_SQUARE = 0.05, 0.15
"""A curvature takes as long as so many products for each coefficient, and more where rows are few."""
NEAR = 3e-4
"""With so small a gradient, a single curvature leads to the end."""
IN_CACHE = 2**21
"""So many numbers in single precision mostly stay in a cache that cores share."""
LARGEST = 4000
"""A curvature of more coefficients is never formed."""


@dataclass(eq=False)
class Conjugate:
    """The quadratic that fits an objective somewhere."""

    objective: Objective
    here: Here
    tolerance: float
    """The steepness at which the way ends."""
    products: int = 0
    gained: float = 0.0
    """How many powers of e they have taken off the slope."""
    exhausted: bool = False
    """Whether so many products were not enough."""

    def step(self, slope: Array) -> Array:
        """The way to about the minimum."""
        step, remaining = np.zeros(slope.shape, np.float32), -slope.astype(np.float32)
        direction, left = remaining, float(np.vdot(remaining, remaining))
        precision, begun = self._precision(), left
        while left > precision**2 * begun:
            bent = self._bent(direction)
            curvature = float(np.vdot(direction, bent))
            if curvature <= 0 or self.products == MOST_PRODUCTS:
                self.exhausted = True
                break
            length = np.float32(left / curvature)
            step, remaining = step + length * direction, remaining - length * bent
            before, left = left, float(np.vdot(remaining, remaining))
            direction = remaining + np.float32(left / before) * direction
            self.products += 1
        self.gained = 0.5 * float(np.log(begun / left)) if left else np.inf
        return step.astype(np.float64)

    def _precision(self) -> float:
        """As fine as the quadratic fits, but on the way no finer than the tolerance asks for."""
        steepness = self.here.steepness
        enough = ENOUGH * self.tolerance / steepness if steepness > self.tolerance else 0.0
        return min(ROUGHEST, max(float(np.cbrt(steepness)), enough))

    def after(self, before: Here, there: Here) -> Conjugate | Inverse:
        """The quadratic there; near the minimum its curvature is formed, if products would be dearer."""
        if there.w.size > LARGEST or not (self.exhausted or self._dear(there)):
            return Conjugate(self.objective, there, self.tolerance)
        try:
            return Inverse.roughly(self.objective, there)
        except np.linalg.LinAlgError:
            return Inverse.at(self.objective, there)

    def _dear(self, there: Here) -> bool:
        """Whether products for the rest of the way are likely to take longer than a curvature."""
        at_the_end = 1 / float(np.cbrt(self.tolerance))
        to_gain = float(np.log(max(there.steepness / self.tolerance, 1.0) * at_the_end))
        rows, size = len(self.objective.X.columns), there.w.size
        curvature = size * (PER_COEFFICIENT + PER_SQUARE * size / rows)
        return there.steepness <= NEAR and self.products * to_gain > curvature * self.gained

    def _bent(self, change: Single) -> Single:
        """The change of the slope that goes with a change of the coefficients."""
        mixed, gathered = self._mixing @ change, np.zeros_like(change)
        for rows, block in self._pieces:
            scores = times_columns(mixed[:, :-1], block)
            scores += mixed[:, -1:]
            if len(scores) > 1:
                scores -= np.einsum("kn,kn->n", self._shares[:, rows], scores)
            scores *= self._weighted[:, rows]
            gathered[:, :-1] += times_rows(scores, block)
            gathered[:, -1] += scores.sum(axis=1) * self.objective.X.intercept
        product: Single = self._mixing.T @ gathered + self._strength * change
        return product

    @cached_property
    def _pieces(self) -> Sequence[tuple[slice, Single]]:
        """The rows: all of them if they stay in the cache, else some at a time, so that they are read once."""
        single = self.objective.X.single
        return [(slice(None), single)] if single.size <= IN_CACHE else [*blocks(single)]

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
