"""Penalties on coefficients: none, squared (L2), absolute (L1), or both (elastic net), by column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array


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
        slope = self.l2 * w
        return float(np.vdot(slope, w)) / 2, slope

    def corners(self, w: Array) -> float:
        """The absolute part."""
        return float(np.abs(w).sum(axis=0) @ self.l1)

    def proximal(self, w: Array, step: Array) -> Array:
        """argmin_v of Σ (v − w)² / (2 step) + the absolute part: each moves towards 0 and stops there."""
        return np.asarray(np.sign(w) * np.maximum(np.abs(w) - step * self.l1, 0.0))

    def steepness(self, w: Array, slope: Array) -> float:
        """The largest entry of the least subgradient, where the rest of the objective has a slope."""
        if not self.has_corners:
            return float(np.abs(slope).max(initial=0.0))
        at_corner = np.maximum(np.abs(slope) - self.l1, 0.0)
        return float(np.where(w == 0, at_corner, np.abs(slope + self.l1 * np.sign(w))).max(initial=0.0))
