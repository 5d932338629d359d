"""Classical scaling: places of rows whose distances are those of a table, and of new rows among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.centres import squared_differences
from mlcli.engines.principal_components import column_by_column, with_fixed_signs

ENOUGH = 1e-12
"""What is smaller than this share of the largest is rounding."""


def euclidean(one: Array, other: Array) -> Array:
    """The length of the difference of rows."""
    return np.sqrt(squared_differences(one, other))


def manhattan(one: Array, other: Array) -> Array:
    """The sum of the differences of cells."""
    apart = np.zeros((len(one), len(other)))
    for a, b in zip(one.T, other.T, strict=True):
        apart += np.abs(np.subtract.outer(a, b))
    return apart


DISTANCES: dict[str, Callable[[Array, Array], Array]] = {"euclidean": euclidean, "manhattan": manhattan}


@dataclass(frozen=True, eq=False)
class ClassicalScaling:
    """The directions in which weighted rows lie apart: vectors (rows × components) and the eigenvalue of each."""

    vectors: Array
    values: Array
    squares: Array
    """The mean squared distance of each row to all."""
    weights: Array

    @classmethod
    def of(cls, apart: Array, components: int, weights: Array | None = None) -> Self:
        """Those of the largest eigenvalues of B = −½ J D² J; what is not above 0 has neither vector nor value.

        A row of weight w counts as w rows at one place.
        """
        from scipy.linalg import eigh

        n, squares = len(apart), apart**2
        weights = np.ones(n) if weights is None else weights
        rows, roots = squares @ weights / weights.sum(), np.sqrt(weights)
        products = -0.5 * (squares - rows[:, None] - rows[None, :] + weights @ rows / weights.sum())
        products *= np.outer(roots, roots)
        kept = min(components, n)
        values, vectors = eigh(products, subset_by_index=(n - kept, n - 1))
        values, vectors = values[::-1], with_fixed_signs(vectors[:, ::-1] / roots[:, None])
        real = values > ENOUGH * max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny)
        found = np.zeros((n, components)), np.zeros(components)
        found[0][:, :kept], found[1][:kept] = np.where(real, vectors, 0.0), np.where(real, values, 0.0)
        return cls(*found, rows, weights)

    def places(self) -> Array:
        """Where the rows are."""
        return self.vectors * np.sqrt(self.values)

    def placed(self, apart: Array) -> Array:
        """Where others are (others × rows), by their distances to the rows: z = −½ Λ^−½ Vᵀ (d² − d̄²)."""
        roots, counted = np.sqrt(self.values), self.vectors * self.weights[:, None]
        slopes = np.divide(counted, roots, out=np.zeros_like(counted), where=roots > 0)
        return column_by_column(-0.5 * (apart**2 - self.squares), slopes)
