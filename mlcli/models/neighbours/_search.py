"""Exact search for the nearest stored points: screen blocks of pairs, then measure the few that may be near."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.neighbours._compiled import Near, Question, Ruler, nearest, pays
from mlcli.models.neighbours._distances import Distance
from mlcli.models.neighbours._points import Points
from mlcli.models.neighbours._screens import Screen, not_below

BLOCK_BYTES = 4_000_000
"""What the screened values of one block may take; never all pairs at once."""
PAIRS_AT_ONCE = 200_000
"""How many pairs are measured and counted at once (a block with more ties than that is taken whole)."""
CELLS_AT_ONCE = 65_536
"""How many cells of pairs are looked at at once."""
SHORT_RANKS = 2**16
"""So many ranks are sorted by their digits."""
GROUPS = 32
"""Into how many groups per wanted neighbour the stored points are dealt; see ``_near``."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Asked and stored points that may be neighbours, sorted by asked point, then distance, then stored point."""

    asked: Rows
    stored: Rows
    distance: Array

    @cached_property
    def begins(self) -> Rows:
        """Where the pairs of each asked point begin."""
        first = np.ones(len(self.asked), bool)
        np.not_equal(self.asked[1:], self.asked[:-1], out=first[1:])
        return np.flatnonzero(first)

    @cached_property
    def counts(self) -> Rows:
        """How many pairs each asked point has."""
        return np.diff(self.begins, append=len(self.asked))

    def keep(self, which: Rows | Flags) -> Pairs:
        """Some of the pairs, in the order given."""
        return Pairs(self.asked[which], self.stored[which], self.distance[which])


def of_each(extreme: np.ufunc, pairs: Pairs) -> Array:
    """The extreme distance of each asked point, for each of its pairs."""
    found: Array = extreme.reduceat(pairs.distance, pairs.begins)
    return np.repeat(found, pairs.counts)


def candidates(distance: Distance, asked: Points, stored: Points, count: int) -> Iterator[Pairs]:
    """For consecutive asked points: all stored points as near as the ``count`` nearest, and perhaps a few more."""
    if distance.compiled and pays(len(asked) * len(stored)):
        lines, others = np.ascontiguousarray(asked.numbers.T), np.ascontiguousarray(stored.numbers.T)
        yield from pairs_of(nearest(Question.plain(lines, others, count), Ruler.plain(lines, others)))
        return
    asked, stored = asked.by_column(), stored.by_column()
    columns = len(asked.numbers) + len(asked.codes)
    for here, there in gathered(_near_places(distance.screen(stored), asked, len(stored), count)):
        yield in_order(here, there, measured(partial(_between, distance, asked, stored), here, there, columns))


def _between(distance: Distance, asked: Points, stored: Points, here: Rows, there: Rows) -> Array:
    return distance.between(asked.take(here), stored.take(there))


def measured(between: Callable[[Rows, Rows], Array], here: Rows, there: Rows, columns: int) -> Array:
    """The distances of pairs, so many at a time that their cells take little room."""
    size = max(1, CELLS_AT_ONCE // max(columns, 1))
    pieces = (slice(start, start + size) for start in range(0, len(here), size))
    return np.concatenate([np.empty(0), *(between(here[piece], there[piece]) for piece in pieces)])


def pairs_of(blocks: Iterable[Near]) -> Iterator[Pairs]:
    """What a compiled search has found, many rows asked at a time."""
    return (Pairs(*several) for several in gathered(map(_listed, blocks)))


def _listed(found: Near) -> tuple[Rows, Rows, Array]:
    asked = np.repeat(np.arange(found.start, found.start + len(found.ends)), np.diff(found.ends, prepend=0))
    return asked, found.places, found.distances


def in_order(asked: Rows, stored: Rows, distance: Array) -> Pairs:
    """Measured pairs, sorted: by distance first, then back to the asked points, which ties alone make dearer."""
    first = int(asked.min(initial=np.iinfo(asked.dtype).max))
    if int(asked.max(initial=-1)) - first < SHORT_RANKS:
        order = np.argsort(distance)
        rank = (asked - first).astype(np.uint16)
        order = order[np.argsort(rank[order], kind="stable")]
        pairs = Pairs(asked[order], stored[order], distance[order])
        if not _tied(pairs):
            return pairs
    order = np.lexsort((stored, distance, asked))
    return Pairs(asked[order], stored[order], distance[order])


def _tied(pairs: Pairs) -> bool:
    """Whether some asked point has two pairs at the same distance."""
    same = pairs.distance[1:] == pairs.distance[:-1]
    return bool((same & (pairs.asked[1:] == pairs.asked[:-1])).any())


def gathered(blocks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Arrays with an entry for each pair, gathered block by block until there are enough pairs."""
    batch: list[tuple[Any, ...]] = []
    pairs = 0
    for block in blocks:
        batch.append(block)
        pairs += len(block[0])
        if pairs >= PAIRS_AT_ONCE:
            yield _joined(batch)
            batch, pairs = [], 0
    if batch:
        yield _joined(batch)


def _joined(batch: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(map(np.concatenate, zip(*batch, strict=True)))


def rows_at_once(n: int) -> int:
    """How many rows are screened against n others at once."""
    return max(1, BLOCK_BYTES // (8 * n))


def _near_places(screen: Screen, asked: Points, n: int, count: int) -> Iterator[tuple[Rows, Rows]]:
    """Places of pairs that may be near, block by block."""
    size = rows_at_once(n)
    room = screen.room(size)
    for start in range(0, len(asked), size):
        values, lengths = screen.into(room, asked.take(slice(start, start + size)))
        here, there = near(values, count, partial(screen.limit, lengths=lengths))
        yield here + start, there


def near(values: np.ndarray[Any, Any], count: int, limit_of: Callable[[Array], Array]) -> tuple[Rows, Rows]:
    """Where one block's values may belong to the ``count`` smallest of their row.

    Stored points are dealt into groups; the count-th smallest of the groups' minima bounds the count-th smallest
    value, and only groups whose minimum is below that limit are looked into.
    """
    n = values.shape[1]
    deep = max(1, n // (GROUPS * count))
    groups = n // deep
    body = values[:, : groups * deep].reshape(len(values), deep, groups)
    minima = np.hstack([body.min(axis=1), values[:, groups * deep :]])
    bound = np.partition(minima, count - 1, axis=1)[:, count - 1]
    limit = not_below(limit_of(bound.astype(float)), values.dtype)[:, None]
    rest = groups * deep - groups
    row, group = np.nonzero(_within(minima, limit))
    dealt = group < groups
    among = row[dealt], group[dealt]
    which, depth = np.nonzero(_within(body[among[0], :, among[1]], limit[among[0]]))
    here = np.concatenate([among[0][which], row[~dealt]])
    return here, np.concatenate([among[1][which] + groups * depth, rest + group[~dealt]])


def _within(values: np.ndarray[Any, Any], limit: np.ndarray[Any, Any]) -> Flags:
    """At most the limit; what overflowed counts as within, so that it is measured."""
    return ~(values > limit)
