"""Numbers cut into bins: where the boundaries lie, by width, by how many rows, or by groups of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.moments import quantiles, spreads
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.supervised import SupervisedRows

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


def levels_of_columns(data: SupervisedRows, bins: int) -> Iterator[Codes]:
    """Each column as codes from 0; an empty cell is a level of its own, and numbers are cut into bins."""
    for column, cells in data.table.parts():
        yield _levels(column, cells, data.weights, bins)


def levels_of_target(data: SupervisedRows, bins: int) -> Codes:
    """The class of each row, or the bin of its value."""
    if isinstance(data, LabelledRows):
        return data.y
    return codes_of(data.y, boundaries(equal_frequency, data.y, data.weights, bins))


def _levels(column: Column, cells: NDArray[Any], weights: Array, bins: int) -> Codes:
    codes = cells if column.coded else codes_of(cells, boundaries(equal_frequency, cells, weights, bins))
    return np.asarray(codes + 1, np.int32)


def f_values(numbers: Array, weights: Array, group: Codes) -> Array:
    """How far the means of groups lie apart in each column, beside the spread within them."""
    by_group = spreads(numbers, weights, group, int(group.max(initial=0)) + 1)
    overall, present = by_group.together(), (by_group.weight > 0).sum(axis=0)
    within = by_group.squares.sum(axis=0)
    between = np.maximum(overall.squares - within, 0.0)
    freedom, left = present - 1, overall.weight - present
    defined = (freedom > 0) & (left > 0)
    noise = within / np.where(defined, left, 1.0)
    ratio = between / np.maximum(freedom, 1) / np.where(noise > 0, noise, 1.0)
    without_noise = np.where(between > 0, np.inf, 0.0)
    return np.where(defined, np.where(noise > 0, ratio, without_noise), 0.0)


def meetings(one: Codes, other: Codes, weights: Array) -> Array:
    """The weight of the rows with each level of one and each of the other; levels without rows are left out."""
    width = int(other.max(initial=0)) + 1
    flat = np.bincount(one * width + other, weights, (int(one.max(initial=0)) + 1) * width)
    table = flat.reshape(-1, width)
    return np.asarray(table[table.any(axis=1)][:, table.any(axis=0)])


def entropy(weights: Array) -> float:
    """−Σ p log2 p of weights."""
    shares = weights[weights > 0] / weights.sum()
    return float(-(shares * np.log2(shares)).sum())


def information(table: Array) -> float:
    """How many bits rows and columns of a table of weights say of each other."""
    return max(0.0, entropy(table.sum(axis=1)) + entropy(table.sum(axis=0)) - entropy(table.ravel()))
