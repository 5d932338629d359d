"""The pairs of a ranking as a linear map: from weights of columns to how far each pair lies apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.pairs import Pairs

BLOCK = 1 << 14
"""Pairs whose differences are written out at once."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """D, whose row for a pair (a, b) is x_a − x_b; it is never written out as a whole."""

    X: Array
    pairs: Pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def times(self, w: Array) -> Array:
        """D·w: how far each pair lies apart."""
        return self.pairs.gaps(self.X @ w)

    def back(self, value: Array) -> Array:
        """Dᵀ·v: a value of each pair, gathered by columns."""
        gathered: Array = self.pairs.gathered(value, len(self.X)) @ self.X
        return gathered

    def gram(self, weight: Array) -> Array:
        """Dᵀ·diag(v)·D, summed up block by block."""
        total = np.zeros((self.X.shape[1],) * 2)
        for first in range(0, len(self), BLOCK):
            part = slice(first, first + BLOCK)
            difference = self.X[self.pairs.higher[part]] - self.X[self.pairs.lower[part]]
            total += (difference * weight[part, None]).T @ difference
        return total
