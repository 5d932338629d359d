"""Who the nearest training rows of a row are: all as near as the k-th, block by block, a row never its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.explanation import Explanation, Section
from mlcli.core.tables import Array, Rows, Table
from mlcli.models.anomaly._crowd import Crowd, crowd_of
from mlcli.models.anomaly._nearest import Neighbours, route_for
from mlcli.models.neighbours._screens import SAME
from mlcli.models.neighbours._search import Pairs
from mlcli.tasks.anomaly import ScreenedRows

KEPT_PAIRS = 4
"""Up to how many times the wanted neighbours are kept; where more rows tie, they are searched anew."""


@dataclass(eq=False)
class Neighbourhoods:
    """The neighbours of all points asked, which can be gone through more than once."""

    asked: Crowd
    stored: Crowd
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
            if pairs > KEPT_PAIRS * self.k * len(self.asked.points):
                return self
        self._kept = kept
        return self

    def each(self, score: Callable[[Neighbours], Array]) -> Array:
        """What is found for the points of each block, as one array."""
        return np.concatenate([np.empty(0), *map(score, self)])

    def _searched(self) -> Iterator[Neighbours]:
        asked, stored = self.asked.points, self.stored.points
        k = min(self.k, len(stored) - self.within)
        found = route_for(len(asked) * len(stored))(asked, stored, k, self.within) if k else nobody(len(asked))
        if self.stored.alone:
            return iter(found)
        return (by_rows(block, self.stored.counts, self.k, self.within) for block in found)


def nobody(asked: int) -> Iterable[Neighbours]:
    """That there is no other point."""
    return [Neighbours(0, np.zeros(asked), np.zeros(asked, np.intp), np.empty(0, np.intp), np.empty(0))]


def by_rows(block: Neighbours, counts: Rows, k: int, within: bool) -> Neighbours:
    """Neighbours among points, the k of which are counted by the rows that they stand for.

    A point that is among those stored (``within``) has the other rows that it stands for as neighbours.
    """
    length = len(block.ends)
    pairs = Pairs(np.repeat(np.arange(length), block.counts), block.places, block.distances)
    if within:
        pairs = _with_itself(pairs, block.start, length)
    pairs = pairs.keep(np.lexsort((pairs.stored, pairs.distance, pairs.asked)))
    times = counts[pairs.stored] - (within & (pairs.stored == block.start + pairs.asked))
    begins, sofar = pairs.begins, np.cumsum(times)
    before = (sofar - times)[begins][pairs.asked]
    kth = np.minimum.reduceat(np.where(sofar - before >= k, pairs.distance, np.inf), begins)
    near = pairs.distance <= kth[pairs.asked] * (1 + SAME)
    found = pairs.keep(near)
    ends = np.cumsum(np.bincount(found.asked, minlength=length))
    return Neighbours(block.start, kth, ends, found.stored, found.distance, times[near])


def _with_itself(pairs: Pairs, start: int, length: int) -> Pairs:
    """Each of consecutive points beside itself, too."""
    own = np.arange(length)
    return Pairs(
        np.concatenate([pairs.asked, own]),
        np.concatenate([pairs.stored, own + start]),
        np.concatenate([pairs.distance, np.zeros(length)]),
    )


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
    asked, crowd = crowd_of(table.numbers), crowd_of(stored)
    added = np.zeros(asked.points.shape)
    for block in Neighbourhoods(asked, crowd, k, within=False):
        steps = np.repeat(asked.points[block.rows], block.counts, axis=0) - crowd.points[block.places]
        added[block.rows] = np.copysign(block.sum(steps**2), block.sum(steps))
    return added[asked.point_of]


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
