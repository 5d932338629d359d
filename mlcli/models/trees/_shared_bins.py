"""Bins that all splits of a table share: those of columns of so few values that each has a bin of its own.

A split without some of the values leaves their bins empty, which changes no tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.origins import origin

FIRST = 1000
"""If so many rows have too many values already, no more are looked at."""
_known: WeakKeyDictionary[Table, dict[tuple[int, int], Exact | None]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Exact:
    """A column with a bin for each value; missing cells are in the bin after the last."""

    values: Array
    bins: np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, eq=False)
class Shared:
    """The rows of a table that a model learns from."""

    whole: Table
    rows: Rows

    @staticmethod
    def of(table: Table, rows: Rows) -> Shared | None:
        """Some rows of a table that was taken from another; None if that is not known."""
        found = origin(table)
        return None if found is None else Shared(found[0], found[1][rows])

    def column(self, j: int, most: int) -> Exact | None:
        """The j-th column of the whole table, which is ordered; None if it has more than ``most`` values."""
        known = _known.setdefault(self.whole, {})
        if (j, most) not in known:
            known[j, most] = exact(_cells(self.whole, j), most)
        return known[j, most]


def exact(cells: Array, most: int) -> Exact | None:
    """The bins of a column; None if it has more than ``most`` values."""
    for some in (cells[:FIRST], cells):
        values = np.unique(some[~np.isnan(some)])
        if len(values) > most:
            return None
    places = np.searchsorted(values, cells)  # NaN comes after everything
    return Exact(values, places.astype(np.uint8))


def _cells(table: Table, j: int) -> Array:
    column, given = list(table.parts())[j]
    cells = given.astype(np.float64)
    return np.where(cells >= 0, cells, np.nan) if column.coded else cells
