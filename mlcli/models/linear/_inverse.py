"""The inverse of an objective's curvature somewhere, and what later steps teach of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._objective import Here, Objective

FAST = 0.1
"""While each step leaves no more of the gradient than this share, the curvature is not computed anew."""
DAMPING = 1e-12
"""Added to the curvature, as a share of its diagonal: it must have an inverse where columns are collinear."""


@dataclass(eq=False)
class Inverse:
    """The inverse of the curvature somewhere, with what later steps taught of it (Nocedal 1980)."""

    matrix: Array
    taught: list[tuple[Array, Array, float]] = field(default_factory=list)

    @classmethod
    def at(cls, objective: Objective, here: Here) -> Self:
        """The inverse of the curvature here."""
        return cls(inverse(objective.curvature(here)))

    def step(self, slope: Array) -> Array:
        """The way to the minimum."""
        left, shares = slope.ravel(), []
        for moved, bent, product in reversed(self.taught):
            shares.append(float(moved @ left) / product)
            left = left - shares[-1] * bent
        way = self.matrix @ left
        for moved, bent, product in self.taught:
            way = way + (shares.pop() - float(bent @ way) / product) * moved
        return -way.reshape(slope.shape)

    def after(self, before: Here, there: Here) -> Self | None:
        """The same, taught by the way from before to there; None where it has not led far enough."""
        if there.steepness > FAST * before.steepness:
            return None
        moved, bent = (there.w - before.w).ravel(), (there.slope - before.slope).ravel()
        product = float(moved @ bent)
        if product > 0:
            self.taught.append((moved, bent, product))
        return self


def inverse(curvature: Array) -> Array:
    """The inverse; a large penalty beside a free intercept would cost all digits without taking the sizes out."""
    root = np.sqrt(np.maximum(curvature.diagonal(), 0.0))
    root = np.where(root > 0, root, 1.0)
    sizes = np.outer(root, root)
    return np.asarray(np.linalg.inv(curvature / sizes + DAMPING * np.eye(len(root))) / sizes)
