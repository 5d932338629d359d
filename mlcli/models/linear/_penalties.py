"""Penalties: what coefficients cost, whatever the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array


@dataclass(frozen=True, eq=False)
class L2:
    """½ Σ strength·w², with a strength for each column; 0 leaves a column (the intercept) free."""

    strength: Array

    def value(self, slopes: Array) -> float:
        """What these slopes cost."""
        return float(np.sum(self.strength * slopes**2)) / 2

    def curved(self, slopes: Array) -> Array:
        """The slope of the penalty, which is also its curvature times ``slopes``."""
        return self.strength * slopes
