"""Columns and targets as levels, and how often they meet: what filters of dependence look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.moments import spreads
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes
from mlcli.prepare._cutting import boundaries, codes_of, equal_frequency
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.supervised import SupervisedRows


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
