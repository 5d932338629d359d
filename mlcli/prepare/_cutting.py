"""Numbers cut into bins: where the boundaries lie, by width, by how many rows, or by groups of values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.moments import quantiles
from mlcli.core.tables import Array, Codes

MOST_STEPS = 300

Cut = Callable[[Array, Array, int], Array]
"""The boundaries between so many bins of values with weights, in ascending order."""


def equal_width(values: Array, weights: Array, bins: int) -> Array:
    """Boundaries at equal distances from the smallest to the largest value."""
    return np.linspace(values.min(), values.max(), bins + 1)[1:-1]


def equal_frequency(values: Array, weights: Array, bins: int) -> Array:
    """Boundaries between shares of equal weight."""
    return quantiles(values, weights, np.arange(1, bins) / bins)


def k_means(values: Array, weights: Array, bins: int) -> Array:
    """Boundaries midway between the means of groups, from groups of equal width on (Lloyd 1982)."""
    edges = np.linspace(values.min(), values.max(), bins + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    for _ in range(MOST_STEPS):
        group = codes_of(values, (centres[1:] + centres[:-1]) / 2)
        weight = np.bincount(group, weights, bins)
        means = np.bincount(group, weights * values, bins) / np.where(weight > 0, weight, 1.0)
        moved = np.sort(np.where(weight > 0, means, centres))
        if np.array_equal(moved, centres):
            break
        centres = moved
    return np.asarray((centres[1:] + centres[:-1]) / 2)


CUTS: dict[str, Cut] = {"equal-frequency": equal_frequency, "equal-width": equal_width, "k-means": k_means}


def boundaries(cut: Cut, cells: Array, weights: Array, bins: int) -> Array:
    """The boundaries of a column, empty cells left out; all 0 where nothing is known of it."""
    known = ~np.isnan(cells) & (weights > 0)
    return cut(cells[known], weights[known], bins) if known.any() else np.zeros(bins - 1)


def codes_of(cells: Array, cuts: Array) -> Codes:
    """The bin of each cell: a boundary belongs to the bin above it; -1 for an empty cell."""
    codes = np.searchsorted(cuts, cells, side="right").astype(np.int32)
    return np.where(np.isnan(cells), np.int32(-1), codes)
