"""An objective: a loss of linear scores, plus a penalty on the coefficients; solvers see nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._design import Design
from mlcli.models.linear._losses import Expansion, Loss
from mlcli.models.linear._penalties import L2

DAMPING = 1e-12
"""Added to the bound, as a share of its diagonal: it must have an inverse where columns are collinear."""


@dataclass(frozen=True, eq=False)
class LinearMap:
    """From coefficients to scores: X has the columns of a design in unit variance, then one of ones, or none."""

    design: Design
    ones: int

    def scores(self, w: Array) -> Array:
        """Scores (outputs × rows) of coefficients (outputs × columns of X)."""
        width = len(self.design.scale)
        product: Array = (w[:, :width] / self.design.scale) @ self.design.columns.T
        product += w[:, width:].sum(axis=1, keepdims=True)
        return product

    def gathered(self, slope: Array) -> Array:
        """The slope in the coefficients that goes with a slope in the scores: its product with X."""
        columns = slope @ self.design.columns / self.design.scale
        return np.concatenate([columns, np.repeat(slope.sum(axis=1, keepdims=True), self.ones, axis=1)], axis=1)

    @cached_property
    def gram(self) -> Array:
        """The mean of xᵀx over rows; centred columns have nothing in common with ones."""
        scale, total = self.design.scale, self.design.total
        product = np.eye(len(scale) + self.ones)
        product[: len(scale), : len(scale)] = self.design.gram / np.outer(scale, scale) / total
        return product


@dataclass(frozen=True, eq=False)
class Objective:
    """What is minimised over the coefficients of a linear map."""

    X: LinearMap
    loss: Loss
    penalty: L2

    def at(self, w: Array) -> Expansion:
        """The objective near some coefficients."""
        loss = self.loss.at(self.X.scores(w))

        def curved(change: Array) -> Array:
            return self.X.gathered(loss.curved(self.X.scores(change))) + self.penalty.curved(change)

        slope = self.X.gathered(loss.slope) + self.penalty.curved(w)
        return Expansion(loss.value + self.penalty.value(w), slope, curved)

    @cached_property
    def bound(self) -> Array:
        """A matrix that the curvature never exceeds, the same for every output (Böhning 1992)."""
        return self.loss.bound * self.X.gram + np.diag(self.penalty.strength)

    @cached_property
    def bound_inverse(self) -> Array:
        """The inverse of the bound: what makes all directions about equally steep."""
        sizes = np.sqrt(np.outer(self.bound.diagonal(), self.bound.diagonal()))
        # A large penalty beside a free intercept would cost all digits without taking the sizes out.
        alike = self.bound / sizes + DAMPING * np.eye(len(sizes))
        return np.asarray(np.linalg.inv(alike) / sizes, np.float64)
