"""Slices through a table: rows along one column, or over the plane of two, all other cells as in a usual row."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Array, Table
from mlcli.engines.hidden_columns import with_column

ALONG, ACROSS, UPWARDS = 100, 48, 36
"""Places along a column; of a plane."""


def along(table: Table, column: str) -> tuple[Array, Table]:
    """The places along a column, and a row at each."""
    x = _places(table.cells(column), ALONG)
    return x, with_column(_usual_rows(table, len(x)), column, x)


def over_plane(table: Table, across: str, upwards: str) -> tuple[Array, Array, Table]:
    """The places of a plane, and a row at each, from below left, line by line."""
    x, y = _places(table.cells(across), ACROSS), _places(table.cells(upwards), UPWARDS)
    rows = with_column(_usual_rows(table, len(x) * len(y)), across, np.tile(x, len(y)))
    return x, y, with_column(rows, upwards, np.repeat(y, len(x)))


def lines_of(values: Array, y: Array) -> tuple[tuple[float, ...], ...]:
    """Values over a plane, by its lines."""
    return tuple(map(tuple, values.reshape(len(y), -1).tolist()))


def pairs(x: Array, y: Array) -> tuple[tuple[float, float], ...]:
    """Points of which both numbers are known."""
    known = np.isfinite(x) & np.isfinite(y)
    return tuple(zip(x[known].tolist(), y[known].tolist(), strict=True))


def _places(cells: Any, count: int) -> Array:
    return np.linspace(np.nanmin(cells), np.nanmax(cells), count)


def _usual_rows(table: Table, count: int) -> Table:
    """So many rows with the median of each column of numbers, and the most frequent level of each other."""
    numbers = np.nanmedian(table.numbers, axis=0, keepdims=True)
    codes = [np.bincount(column[column >= 0]).argmax() if (column >= 0).any() else -1 for column in table.codes.T]
    row = Table(table.columns, numbers, np.array([codes], np.int32).reshape(1, -1))
    return row.take(np.zeros(count, np.intp))
