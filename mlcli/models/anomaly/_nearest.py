"""Two routes to the nearest rows: NumPy for small tables, where loading compiled code would cost more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.models.neighbours._distances import DISTANCES
from mlcli.models.neighbours._points import Points
from mlcli.models.neighbours._screens import SAME, screen_by_squares
from mlcli.models.neighbours._search import BLOCK_BYTES, GROUPS, candidates

COMPILED_FROM = 25_000_000
"""From how many pairs of rows on loading the compiled selection (0.3 s) pays within ten splits."""
NO_ROW = -1


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Neighbours of consecutive rows: those of the i-th end at ``ends[i]``; ``kth`` is its k-th distance."""

    start: int
    kth: Array
    ends: Rows
    places: Rows
    distances: Array
    times: Rows | None = None
    """How many equal rows each neighbour stands for; None where each is a single row."""

    @property
    def rows(self) -> slice:
        """The rows asked."""
        return slice(self.start, self.start + len(self.ends))

    @cached_property
    def begins(self) -> Rows:
        """Where the neighbours of each row begin."""
        return np.concatenate([np.zeros(1, np.intp), self.ends[:-1]])

    @property
    def counts(self) -> Rows:
        """How many neighbours each row has."""
        return np.diff(self.ends, prepend=0)

    @cached_property
    def totals(self) -> Array:
        """How many rows the neighbours of each row stand for."""
        return np.asarray(self.counts if self.times is None else np.add.reduceat(self.times, self.begins), float)

    def sum(self, values: Array) -> Array:
        """The sum over the neighbours of each row, given one value (or one line of values) for each neighbour."""
        if self.times is not None:
            values = (values.T * self.times).T
        return np.asarray(np.add.reduceat(values, self.begins, axis=0))

    def mean(self, values: Array) -> Array:
        """The mean over the neighbours of each row."""
        return self.sum(values) / self.totals


Route = Callable[[Array, Array, int, bool], Iterator[Neighbours]]
"""From rows asked, stored rows, k, and whether they are the same rows, to all stored rows as near as the k-th."""


def route_for(pairs: int) -> Route:
    """The faster route for so many pairs of rows."""
    return compiled if pairs >= COMPILED_FROM else by_numpy


def by_numpy(asked: Array, stored: Array, k: int, within: bool) -> Iterator[Neighbours]:
    """The search that k-nearest neighbours uses, each row taken from its own neighbours."""
    found = candidates(DISTANCES["euclidean"], _points(asked), _points(stored), k + within)
    for pairs in found:
        others = pairs.keep(pairs.asked != pairs.stored) if within else pairs
        begins = others.begins
        kth = others.distance[begins + k - 1]
        start = int(others.asked[0])
        near = others.keep(others.distance <= kth[others.asked - start] * (1 + SAME))
        ends = np.cumsum(np.bincount(near.asked - start, minlength=len(kth)))
        yield Neighbours(start, kth, ends, near.stored, near.distance)


def compiled(asked: Array, stored: Array, k: int, within: bool) -> Iterator[Neighbours]:
    """The same screen, and the selection in compiled loops; Numba is imported here and nowhere else."""
    from mlcli.kernels.near_rows import nearest

    n, count = len(stored), k + within
    screen = screen_by_squares(_points(stored))
    groups = n // max(1, n // (GROUPS * count))
    size = max(1, BLOCK_BYTES // (8 * n))
    room = 2 * k * size
    for start in range(0, len(asked), size):
        block = asked[start : start + size]
        values, lengths = screen(_points(block))
        minima = _minima(values, groups)
        bound = np.partition(minima, count - 1, axis=1)[:, count - 1].astype(float)
        limit = _not_below(screen.limit(bound, lengths))
        own = np.arange(start, start + len(block)) if within else np.full(len(block), NO_ROW)
        kth, ends = np.empty(len(block)), np.empty(len(block), np.intp)
        while True:
            places, distances = np.empty(room, np.intp), np.empty(room)
            listed = nearest(values, minima, limit, block, stored, own, k, SAME, kth, ends, places, distances)
            if listed <= room:
                break
            room = listed
        yield Neighbours(start, kth, ends, places[:listed].copy(), distances[:listed].copy())


def _points(rows: Array) -> Points:
    return Points(np.ascontiguousarray(rows.T), np.empty((0, len(rows)), np.int32))


def _minima(values: Array, groups: int) -> Array:
    """The smallest value of each group: stored row j is in group j mod ``groups``."""
    deep = values.shape[1] // groups
    minima = values[:, : groups * deep].reshape(len(values), deep, groups).min(axis=1)
    rest = values[:, groups * deep :]
    minima[:, : rest.shape[1]] = np.minimum(minima[:, : rest.shape[1]], rest)
    return np.asarray(minima)


def _not_below(limit: Array) -> Array:
    """The limit in the precision of the screen, rounded up; one that is no number holds nothing back."""
    single = np.nextafter(limit.astype(np.float32), np.float32(np.inf))
    return np.where(np.isnan(limit), np.float32(np.inf), single)
