"""Triangles of many columns: Cholesky's factors and their inverses, at a fraction of what spectra cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from mlcli.core.tables import Array

WIDE = 100
"""From so many columns on they are worth it."""
PANEL = 128
SMALL = 64


def whitening_triangle(covariance: Array, least: float) -> tuple[Array, float] | None:
    """An upper triangle W with Wᵀ C W = I, and what no variance of C is below: 1 / tr C⁻¹.

    None where that is below ``least``: only a spectrum can tell directions apart then.
    """
    try:
        inverse = inverse_of_lower(np.asarray(np.linalg.cholesky(covariance), np.float64))
    except np.linalg.LinAlgError:
        return None
    at_least = 1 / float(np.vdot(inverse, inverse))
    return (np.ascontiguousarray(inverse.T), at_least) if at_least >= least else None


def inverse_of_lower(triangle: Array) -> Array:
    """The inverse of a lower triangle, by halves."""
    size = len(triangle)
    if size <= SMALL:
        return np.asarray(np.linalg.inv(triangle))
    half = size // 2
    inverse = np.zeros_like(triangle)
    first = inverse[:half, :half] = inverse_of_lower(triangle[:half, :half])
    second = inverse[half:, half:] = inverse_of_lower(triangle[half:, half:])
    inverse[half:, :half] = -second @ (triangle[half:, :half] @ first)
    return inverse


@dataclass(frozen=True, eq=False)
class Upper:
    """A matrix to multiply with; zeros at the foot of its columns, as an upper triangle has them, cost nothing."""

    matrix: Array
    panels: Sequence[tuple[slice, int]]
    """Some of the columns, and how many lines of them are not all zeros."""

    @classmethod
    def of(cls, matrix: Array) -> Self:
        """The matrix in panels, if it is large."""
        size = matrix.shape[1]
        if len(matrix) < WIDE:
            return cls(matrix, [(slice(0, size), len(matrix))])
        panels = [slice(first, first + PANEL) for first in range(0, size, PANEL)]
        lines = (np.flatnonzero(matrix[:, panel].any(axis=1)).max(initial=-1) for panel in panels)
        return cls(matrix, [(panel, int(line) + 1) for panel, line in zip(panels, lines, strict=True)])

    def after(self, rows: Array) -> Array:
        """Rows times the matrix."""
        product = np.empty((len(rows), self.matrix.shape[1]))
        for panel, height in self.panels:
            np.matmul(rows[:, :height], self.matrix[:height, panel], out=product[:, panel])
        return product
