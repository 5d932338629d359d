"""The columns of a table as one matrix of features, in the order of the file; empty cells as the tree treats them.

A feature is *ordered* (numbers, and ordinal levels as their rank; NaN where missing) or *nominal* (codes; one past
the last level where missing, so that an empty cell is a level of its own).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlcli.core.rooms import filled
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Flags, Table


def is_ordered(column: Column) -> bool:
    """Whether a column is split by a threshold."""
    return column.kind in ("numeric", "ordinal")


def ordered(columns: Sequence[Column]) -> Flags:
    """Which columns are split by a threshold."""
    return np.array([is_ordered(column) for column in columns], dtype=bool)


def level_counts(columns: Sequence[Column]) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The number of levels of each nominal column, the missing one included; 0 for ordered columns."""
    counts = np.array([len(column.levels) + 1 for column in columns], dtype=np.intp)
    return np.where(ordered(columns), 0, counts) if len(columns) else counts


def features(table: Table, fills: Array | None = None) -> Array:
    """The cells (n × F) of a table; an empty cell takes the fill of its column, and stays empty if that is NaN.

    They are those of the table itself where nothing in them changes.
    """
    fills = np.full(len(table.columns), np.nan) if fills is None else fills
    if not table.codes.shape[1] and np.isnan(fills).all():
        return table.numbers
    left_empty = np.where(ordered(table.columns), np.nan, level_counts(table.columns) - 1)
    fills = np.where(np.isnan(fills), left_empty, fills)
    cells = [(given, known(given, column)) for column, given in table.parts()]

    def filled_in(some: slice) -> Array:
        each = zip(cells, fills, strict=True)
        return np.column_stack([np.where(there[some], given[some], fill) for (given, there), fill in each])

    return filled((len(table), len(cells)), np.float64, filled_in) if cells else np.empty((len(table), 0))


def known(given: np.ndarray[Any, Any], column: Column) -> Flags:
    """Which cells of a column are not empty."""
    known: Flags = given >= 0 if column.coded else ~np.isnan(given)
    return known


def own_value(table: Table, weights: Array) -> Array:
    """No fills: being empty is itself something to split on."""
    return np.full(len(table.columns), np.nan)


def most_frequent(table: Table, weights: Array) -> Array:
    """The most frequent value of each column; of several, the first level or the middle number."""
    found = [_most_frequent(cells, column, weights) for column, cells in table.parts()]
    return np.array(found, dtype=float)


def _most_frequent(cells: np.ndarray[Any, Any], column: Column, weights: Array) -> float:
    there = known(cells, column)
    if not there.any():
        return float("nan")
    values, which = np.unique(cells[there], return_inverse=True)
    counts = np.bincount(which, weights=weights[there])
    tied = values[counts >= counts.max() * (1 - 1e-12)]
    return float(tied[0] if column.coded else tied[(len(tied) - 1) // 2])


FILLS: dict[str, Callable[[Table, Array], Array]] = {"own-value": own_value, "most-frequent": most_frequent}
