"""An objective: a loss of the scores Xw, plus a penalty on w; solvers see nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._losses import Expansion, Loss
from mlcli.models.linear._penalties import L2

DAMPING = 1e-12
"""Added to the bound, as a share of its diagonal: it must have an inverse where columns are collinear."""


@dataclass(frozen=True, eq=False)
class Objective:
    """What is minimised over ``w`` (outputs × columns of X)."""

    X: Array
    loss: Loss
    penalty: L2
    gram: Array
    """XᵀWX, W the weights of the rows."""

    def at(self, w: Array) -> Expansion:
        """The objective near some coefficients."""
        loss = self.loss.at(w @ self.X.T)

        def curved(change: Array) -> Array:
            return loss.curved(change @ self.X.T) @ self.X + self.penalty.curved(change)

        slope = loss.slope @ self.X + self.penalty.curved(w)
        return Expansion(loss.value + self.penalty.value(w), slope, curved)

    @cached_property
    def bound(self) -> Array:
        """A matrix that the curvature never exceeds, the same for every output (Böhning 1992)."""
        return self.loss.bound * self.gram + np.diag(self.penalty.strength)

    @cached_property
    def bound_inverse(self) -> Array:
        """The inverse of the bound: what makes all directions about equally steep."""
        damped = self.bound + np.diag(DAMPING * self.bound.diagonal())
        return np.asarray(np.linalg.inv(damped), np.float64)
