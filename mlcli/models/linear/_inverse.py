"""The inverse of an objective's curvature somewhere, and what later steps teach of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._objective import Here, Objective

FAST, FAST_ENOUGH = 0.1, 0.5
"""What is fast depends on what a curvature costs."""
WIDE = 250
"""From so many coefficients on, the curvature is not formed far from the minimum."""
DAMPING = 1e-12
"""Added to the curvature, as a share of its diagonal: it must have an inverse where columns are collinear."""


@dataclass(eq=False)
class Inverse:
    """The inverse of the curvature somewhere, with what later steps taught of it (Nocedal 1980)."""

    solved: Callable[[Array], Array]
    """The inverse times something."""
    fast: float
    """While each step leaves no more of the gradient than this share, the curvature is not computed anew."""
    taught: list[tuple[Array, Array, float]] = field(default_factory=list)

    @classmethod
    def at(cls, objective: Objective, here: Here) -> Self:
        """The inverse of the curvature here, as a matrix."""
        return cls(inverse(objective.curvature(here)).__matmul__, FAST)

    @classmethod
    def roughly(cls, objective: Objective, here: Here) -> Self:
        """The same in single precision, as factors; LinAlgError where that does not carry far enough."""
        return cls(factorised(objective.in_single().curvature(here)), FAST_ENOUGH)

    def step(self, slope: Array) -> Array:
        """The way to the minimum."""
        left, shares = slope.ravel(), []
        for moved, bent, product in reversed(self.taught):
            shares.append(float(moved @ left) / product)
            left = left - shares[-1] * bent
        way = self.solved(left)
        for moved, bent, product in self.taught:
            way = way + (shares.pop() - float(bent @ way) / product) * moved
        return -way.reshape(slope.shape)

    def after(self, before: Here, there: Here) -> Self | None:
        """The same, taught by the way from before to there; None where it has not led far enough."""
        if there.steepness > self.fast * before.steepness:
            return None
        moved, bent = (there.w - before.w).ravel(), (there.slope - before.slope).ravel()
        product = float(moved @ bent)
        if product > 0:
            self.taught.append((moved, bent, product))
        return self


def inverse(curvature: Array) -> Array:
    """The inverse, as a matrix."""
    alike, root = _without_sizes(curvature)
    return np.asarray(np.linalg.inv(alike) / np.outer(root, root))


def factorised(curvature: Array) -> Callable[[Array], Array]:
    """The inverse by Cholesky's factors, which cost less than itself."""
    from scipy.linalg import cho_factor, cho_solve

    alike, root = _without_sizes(curvature)
    factors = cho_factor(alike, overwrite_a=True, check_finite=False)
    return lambda right: np.asarray(cho_solve(factors, right / root, check_finite=False) / root)


def _without_sizes(curvature: Array) -> tuple[Array, Array]:
    """A large penalty beside a free intercept would cost all digits without taking the sizes out."""
    root = np.sqrt(np.maximum(curvature.diagonal(), 0.0))
    root[root == 0] = 1.0
    alike = curvature / root
    alike /= root[:, None]
    places = np.arange(len(root))
    alike[places, places] += DAMPING
    return alike, root
