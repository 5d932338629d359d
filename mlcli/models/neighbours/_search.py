"""Exact search for the nearest stored points: screen blocks of pairs, then measure the few that may be near."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.neighbours._distances import Distance
from mlcli.models.neighbours._points import Points
from mlcli.models.neighbours._screens import Screen

BLOCK_BYTES = 4_000_000
"""What the screened values of one block may take; never all pairs at once."""
PAIRS_AT_ONCE = 200_000
"""How many pairs are measured and counted at once (a block with more ties than that is taken whole)."""
GROUPS = 16
"""Into how many groups per wanted neighbour the stored points are dealt; see ``_near``."""
SAME = 1e-12
"""Distances closer than this, relatively, are the same: what differs is rounding."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Asked and stored points that may be neighbours, sorted by asked point, then distance, then stored point."""

    asked: Rows
    stored: Rows
    distance: Array

    @property
    def begins(self) -> Rows:
        """Where the pairs of each asked point begin."""
        return np.flatnonzero(np.r_[True, self.asked[1:] != self.asked[:-1]])

    def keep(self, which: Rows | Flags) -> Pairs:
        """Some of the pairs, in the order given."""
        return Pairs(self.asked[which], self.stored[which], self.distance[which])


def candidates(distance: Distance, asked: Points, stored: Points, count: int) -> Iterator[Pairs]:
    """For consecutive asked points: all stored points as near as the ``count`` nearest, and perhaps a few more."""
    screen = distance.screen(stored)
    for places in _batches(screen, asked, len(stored), count):
        here, there = np.concatenate([a for a, _ in places]), np.concatenate([b for _, b in places])
        apart = distance.between(asked.take(here), stored.take(there))
        order = np.lexsort((there, apart, here))
        yield Pairs(here[order], there[order], apart[order])


def _batches(screen: Screen, asked: Points, n: int, count: int) -> Iterator[list[tuple[Rows, Rows]]]:
    """Places of pairs that may be near, gathered block by block until there are enough to measure."""
    rows = max(1, BLOCK_BYTES // (8 * n))
    batch: list[tuple[Rows, Rows]] = []
    for start in range(0, len(asked), rows):
        here, there = _near(screen, asked.take(slice(start, start + rows)), count)
        batch.append((here + start, there))
        if sum(len(part) for part, _ in batch) >= PAIRS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _near(screen: Screen, asked: Points, count: int) -> tuple[Rows, Rows]:
    """Where one block's values may belong to the ``count`` smallest of their row.

    Stored points are dealt into groups; the count-th smallest of the groups' minima bounds the count-th smallest
    value, and only groups whose minimum is below that limit are looked into.
    """
    values, lengths = screen(asked)
    n = values.shape[1]
    deep = max(1, n // (GROUPS * count))
    groups = n // deep
    body = values[:, : groups * deep].reshape(len(values), deep, groups)
    minima = np.hstack([body.min(axis=1), values[:, groups * deep :]])
    bound = np.partition(minima, count - 1, axis=1)[:, count - 1].astype(float)
    limit = limit_of(bound, lengths, screen.rounding)
    row, group = np.nonzero(_within(minima, limit[:, None]))
    column = _members(group, groups, deep, n)
    found = values[row[:, None], np.minimum(column, n - 1)]
    which, depth = np.nonzero(_within(found, limit[row][:, None]) & (column < n))
    return row[which], column[which, depth]


def _members(group: Rows, groups: int, deep: int, n: int) -> Rows:
    """The stored points of each group, one line each; n where a group (one of the undealt rest) has fewer."""
    column: Rows = group[:, None] + groups * np.arange(deep)
    rest = group >= groups
    column[rest] = n
    column[rest, 0] = group[rest] + groups * (deep - 1)
    return column


def limit_of(bound: Array, lengths: Array, rounding: float) -> Array:
    """What no wanted pair exceeds; its stored point is no longer than the asked one plus their distance."""
    tiny = float(np.finfo(np.float32).tiny)
    longest = 2 * lengths + np.sqrt(np.maximum(bound + lengths**2, 0.0))
    limit: Array = bound + SAME * np.abs(bound) + (rounding + SAME) * longest**2 + (tiny if rounding else 0.0)
    return limit


def _within(values: np.ndarray[Any, Any], limit: Array) -> Flags:
    """At most the limit; what overflowed counts as within, so that it is measured."""
    return ~(values > limit)
