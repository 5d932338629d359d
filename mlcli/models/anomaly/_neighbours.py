"""Who the nearest training rows of a row are: all as near as the k-th, block by block, a row never its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mlcli.core.anomaly import ScreenedRows
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.explanation import Explanation, Section
from mlcli.core.tables import Array, Table
from mlcli.models.anomaly._nearest import Neighbours, route_for

KEPT_PAIRS = 4
"""Up to how many times the wanted neighbours are kept; where more rows tie, they are searched anew."""


@dataclass(eq=False)
class Neighbourhoods:
    """The neighbours of all rows asked, which can be gone through more than once."""

    asked: Array
    stored: Array
    k: int
    within: bool
    """Whether the rows asked are the stored rows themselves."""
    _kept: list[Neighbours] | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[Neighbours]:
        yield from self._searched() if self._kept is None else self._kept

    def kept(self) -> Neighbourhoods:
        """The same, remembered unless so many rows tie that memory would grow with their square."""
        kept, pairs = [], 0
        for block in self._searched():
            kept.append(block)
            pairs += len(block.places)
            if pairs > KEPT_PAIRS * self.k * len(self.asked):
                return self
        self._kept = kept
        return self

    def _searched(self) -> Iterator[Neighbours]:
        pairs = len(self.asked) * len(self.stored)
        return route_for(pairs)(self.asked, self.stored, self.k, self.within)


def neighbours_within(data: ScreenedRows, wanted: int) -> int:
    """How many neighbours each training row can have; fewer than wanted are warned of."""
    others = len(data) - 1
    if others < 1:
        raise FitError("at least two training rows are needed: a row is judged by the distance to others")
    if not data.table.numbers.shape[1]:
        raise FitError("there is no column to measure distances by")
    if wanted > others:
        message = f"neighbours = {wanted} but each training row has only {others} others: all of them count"
        warnings.warn(message, MlcliWarning, stacklevel=3)
    return min(wanted, others)


def are_the_same(one: Array, other: Array) -> bool:
    """Whether rows asked are the training rows, in their order."""
    return one is other or (one.shape == other.shape and bool(np.array_equal(one, other)))


def away_from_neighbours(table: Table, stored: Array, k: int) -> Array:
    """What each column adds to the squared distances of a row to its neighbours, below 0 where it is lower."""
    asked = table.numbers
    added = np.zeros(asked.shape)
    for block in Neighbourhoods(asked, stored, k, within=False):
        steps = np.repeat(asked[block.rows], block.counts, axis=0) - stored[block.places]
        squares = np.add.reduceat(steps**2, block.begins, axis=0)
        added[block.rows] = np.copysign(squares, np.add.reduceat(steps, block.begins, axis=0))
    return added


def stored_rows(stored: Array, k: int) -> Explanation:
    """How much is stored."""
    rows = (("training rows", len(stored)), ("columns", stored.shape[1]), ("neighbours", k))
    note = "Nothing is learned but the rows themselves: a score comes from the nearest ones."
    return (Section("Stored rows", header=("what", "value"), rows=rows, note=note),)


def check_stored(columns: int, stored: Array, k: int) -> None:
    """Refuse (ValueError) stored rows of other columns, and more neighbours than they have."""
    if stored.ndim != 2 or stored.shape[1] != columns or not 1 <= k < len(stored):
        raise ValueError("the stored rows do not fit the columns or the neighbours")
    if not np.isfinite(stored).all():
        raise ValueError("the stored rows hold something that is not a number")
