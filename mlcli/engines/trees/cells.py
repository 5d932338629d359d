"""A table as trees read it: one matrix of cells, in the order of its columns; empty cells as the tree treats them.

A column is *ordered* (numbers, and ordinal levels as their rank; NaN where missing) or *nominal* (codes; one past
the last level where missing, so that an empty cell is a level of its own).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Flags, Rows, Table


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of rows, and what kind of column each is of."""

    values: Array
    """Rows × columns."""
    levels: Rows
    """The number of levels of each nominal column, the missing one included; 0 for ordered columns."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def ordered(self) -> Flags:
        """Which columns are split by a threshold."""
        return np.asarray(self.levels == 0)

    @cached_property
    def only_known_numbers(self) -> bool:
        """Whether all columns are ordered and no cell is missing."""
        return bool(self.ordered.all()) and not np.isnan(self.values).any()


def is_ordered(column: Column) -> bool:
    """Whether a column is split by a threshold."""
    return column.kind in ("numeric", "ordinal")


def level_counts(columns: Sequence[Column]) -> Rows:
    """The levels of columns, as ``Cells`` have them."""
    counts = [0 if is_ordered(column) else len(column.levels) + 1 for column in columns]
    return np.array(counts, dtype=np.intp)


def cells_of(table: Table, fills: Array | None = None) -> Cells:
    """The cells of a table; an empty one takes the fill of its column, and stays empty if that is NaN.

    They are those of the table itself where nothing in them changes.
    """
    levels = level_counts(table.columns)
    fills = np.full(len(levels), np.nan) if fills is None else fills
    if not table.codes.shape[1] and np.isnan(fills).all():
        return Cells(table.numbers, levels)
    left_empty = np.where(levels == 0, np.nan, levels - 1)
    fills = np.where(np.isnan(fills), left_empty, fills)
    columns = zip(table.parts(), fills, strict=True)
    filled = [np.where(is_known(given, column), given, fill) for (column, given), fill in columns]
    values = np.column_stack(filled) if filled else np.empty((len(table), 0))
    return Cells(values.astype(np.float64, copy=False), levels)


def is_known(given: np.ndarray[Any, Any], column: Column) -> Flags:
    """Which cells of a column are not empty."""
    return np.asarray(given >= 0 if column.coded else ~np.isnan(given))


def own_value(table: Table, weights: Array) -> Array:
    """No fills: being empty is itself something to split on."""
    return np.full(len(table.columns), np.nan)


def most_frequent(table: Table, weights: Array) -> Array:
    """The most frequent value of each column; of several, the first level or the middle number."""
    results = [_most_frequent(cells, column, weights) for column, cells in table.parts()]
    return np.array(results, dtype=float)


def _most_frequent(cells: np.ndarray[Any, Any], column: Column, weights: Array) -> float:
    there = is_known(cells, column)
    if not there.any():
        return float("nan")
    values, which = np.unique(cells[there], return_inverse=True)
    counts = np.bincount(which, weights=weights[there])
    tied = values[counts >= counts.max() * (1 - 1e-12)]
    return float(tied[0] if column.coded else tied[(len(tied) - 1) // 2])


FILLS: dict[str, Callable[[Table, Array], Array]] = {"own-value": own_value, "most-frequent": most_frequent}
