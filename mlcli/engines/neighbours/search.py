"""Exact search for the nearest stored points: list the pairs that may be near, then measure them.

Pairs are listed block by block with a screen (``distances.py``), whose smallest values are picked by NumPy if
pairs are few and by compiled loops if they are many; or with a k-d tree. All routes find the same neighbours at
the same distances.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2

import numpy as np

from mlcli.core.progress import advancing
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.neighbours.distances import (
    SAME,
    Distance,
    LimitOf,
    PointSet,
    ProductScreen,
    Screen,
    Values,
    rounded_up,
)

BLOCK_CELLS = 400_000
"""The values of a screen in a block."""
PAIRS_AT_ONCE = 200_000
"""The pairs in a batch; a block with more ties than that stays whole."""
TREE_PAYS = 60
"""A tree is faster than a screen from this many rows on, times the neighbours wanted, times 2^columns."""
SEARCHES = ("auto", "brute", "k-d-tree")
"""The search methods a user can choose; a tree is used only for a distance that it measures."""
ROWS_OF_TREE = 4_096
"""The query rows for which a tree is searched at once."""
LEAF = 32
"""About how many rows a leaf of a tree holds."""
WHOLE = 1 - 1e-9
"""Summed weights reach a whole number when they come this close."""

Places = tuple[Rows, Rows]
"""The query and the stored point of pairs that may be near."""
Pick = Callable[[Values, int, LimitOf], Places]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Query and stored points that may be neighbours, sorted by query point, then distance, then stored point."""

    query: Rows
    stored: Rows
    distance: Array

    @cached_property
    def begins(self) -> Rows:
        """Where the pairs of each query point begin."""
        first = np.ones(len(self.query), bool)
        np.not_equal(self.query[1:], self.query[:-1], out=first[1:])
        return np.flatnonzero(first)

    @cached_property
    def counts(self) -> Rows:
        """The number of pairs of each query point."""
        return np.diff(self.begins, append=len(self.query))

    def keep(self, which: Rows | Flags) -> Pairs:
        """Some of the pairs, in the order given."""
        return Pairs(self.query[which], self.stored[which], self.distance[which])

    def of_each(self, extreme: np.ufunc) -> Array:
        """The extreme distance of each query point, for each of its pairs."""
        return np.repeat(extreme.reduceat(self.distance, self.begins), self.counts)


def nearest(
    distance: Distance,
    queries: PointSet,
    stored: PointSet,
    count: int,
    search: str = "auto",
) -> Iterator[Pairs]:
    """For consecutive query points: all stored points as near as the ``count`` nearest, and perhaps a few more.

    ``search`` is one of ``SEARCHES``; all of them find the same points.
    """
    queries, stored = queries.by_point(), stored.by_point()
    size = max(1, 65_536 // max(stored.columns, 1))  # pairs measured at once, whose cells fit into the cache
    for query, near in in_batches(_places(distance, queries, stored, count, search)):
        distances = np.empty(len(query))
        for start in range(0, len(query), size):
            block = slice(start, start + size)
            distances[block] = distance.between(queries.take(query[block]), stored.take(near[block]))
        yield sorted_pairs(query, near, distances)


def loops_pay(pairs: int) -> bool:
    """Whether compiled loops are the faster way through so many pairs."""
    loaded = "mlcli.kernels.neighbours.screening" in sys.modules
    return pairs >= (10_000 if loaded else 25_000_000)  # loading takes 0.3 s, which must pay within ten splits


def _places(distance: Distance, queries: PointSet, stored: PointSet, count: int, search: str) -> Iterator[Places]:
    """The pairs that may be near, by the route asked for, or else the fastest."""
    loops = loops_pay(len(queries) * len(stored))
    columns = min(len(stored.numbers), 64)  # no table has 2⁶⁴ rows
    few_columns = len(stored) >= TREE_PAYS * max(count, 5) * 2.0**columns
    by_tree = {"auto": loops and few_columns, "brute": False, "k-d-tree": len(stored.numbers) > 0}
    if distance.has_tree and by_tree[search]:
        return tree_places(queries, stored, count)
    screen = distance.screen(stored)
    pick = pick_compiled if loops and isinstance(screen, ProductScreen) else pick_in_numpy
    return screen_places(screen, queries, count, pick)


def screen_places(screen: Screen, queries: PointSet, count: int, pick: Pick) -> Iterator[Places]:
    """Places of pairs, block by block."""
    n = len(screen.stored)
    size = max(screen.fewest_rows, BLOCK_CELLS // n)
    room = np.empty((min(size, len(queries)), n), screen.dtype)  # fresh memory costs as much as filling it
    for start in advancing.over(range(0, len(queries), size)):
        block = queries.take(slice(start, start + size))
        values = room[: len(block)]
        query, stored = pick(values, count, screen.into(values, block))
        yield query + start, stored


def pick_in_numpy(values: Values, count: int, limit_of: LimitOf) -> Places:
    """The places of one block whose values may be among the ``count`` smallest of their row.

    Stored points are dealt into groups, 32 per neighbour wanted. The count-th smallest of the groups' minima
    bounds the count-th smallest value, and only groups whose minimum is below that limit are searched.
    """
    n = values.shape[1]
    deep = max(1, n // (32 * count))
    groups = n // deep
    body = values[:, : groups * deep].reshape(len(values), deep, groups)
    minima = np.hstack([body.min(axis=1), values[:, groups * deep :]])
    bound = np.partition(minima, count - 1, axis=1)[:, count - 1]
    limit = rounded_up(limit_of(bound.astype(float)), values.dtype)[:, None]
    row, group = np.nonzero(_within(minima, limit))
    dealt = group < groups
    group_row, group_index = row[dealt], group[dealt]
    which, depth = np.nonzero(_within(body[group_row, :, group_index], limit[group_row]))
    query = np.concatenate([group_row[which], row[~dealt]])
    stored = np.concatenate([group_index[which] + groups * depth, group[~dealt] + groups * (deep - 1)])
    return query, stored


def _within(values: Values, limit: Values) -> Flags:
    """Values up to the limit; NaN from an overflow counts as within, so that it is measured."""
    return ~(values > limit)


def pick_compiled(values: Values, count: int, limit_of: LimitOf) -> Places:
    """The same places by compiled loops."""
    from mlcli.kernels.neighbours.screening import bounds, places_within

    rows, n = values.shape
    groups = min(n, max(2 * count, ceil((n * count) ** 0.5 / 16) * 16))
    minima, bound = np.empty((rows, groups), values.dtype), np.empty(rows)
    bounds(values, minima, bound, np.empty(count, values.dtype))
    limit = rounded_up(limit_of(bound), values.dtype)
    ends, indices = np.empty(rows, np.intp), np.empty(4 * count * rows, np.intp)
    listed = places_within(values, minima, limit, ends, indices)
    if listed > len(indices):
        indices = np.empty(listed, np.intp)
        places_within(values, minima, limit, ends, indices)
    return np.repeat(np.arange(rows), np.diff(ends, prepend=0)), indices[:listed]


def tree_places(queries: PointSet, stored: PointSet, count: int) -> Iterator[Places]:
    """Places of pairs from a k-d tree, for some queries at a time."""
    from mlcli.kernels.neighbours.kd_tree import places_near

    tree, lines = KDTree.of(stored.numbers.T), queries.numbers.T
    room, start = 8 * count * ROWS_OF_TREE, 0
    while start < len(lines):
        rows = slice(start, start + ROWS_OF_TREE)
        ends, indices, distances = np.empty(ROWS_OF_TREE, np.intp), np.empty(room, np.intp), np.empty(room)
        done = places_near(
            tree.cells, tree.order, tree.first, tree.last, tree.low, tree.high, tree.widest, tree.cut, lines[rows],
            count, 8 * SAME, ends, indices, distances,
        )  # fmt: skip
        if done:
            query = np.repeat(np.arange(start, start + done), np.diff(ends[:done], prepend=0))
            yield query, indices[: len(query)]
        else:
            room *= 4
        start += done


def in_batches(blocks: Iterable[Places]) -> Iterator[Places]:
    """Blocks of places, joined until a batch has enough pairs."""
    queries, stored, pairs = list[Rows](), list[Rows](), 0
    for block in blocks:
        queries.append(block[0])
        stored.append(block[1])
        pairs += len(block[0])
        if pairs >= PAIRS_AT_ONCE:
            yield np.concatenate(queries), np.concatenate(stored)
            queries, stored, pairs = [], [], 0
    if queries:
        yield np.concatenate(queries), np.concatenate(stored)


def sorted_pairs(query: Rows, stored: Rows, distance: Array) -> Pairs:
    """Measured pairs, sorted as complex numbers, which is the fast way; ties by stored point afterwards."""
    key = np.empty(len(query), complex)
    key.real, key.imag = query, distance
    order = np.argsort(key)
    tied = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    if len(tied):
        indices = np.union1d(tied, tied + 1)
        subset = order[indices]
        order[indices] = subset[np.lexsort((stored[subset], key[subset]))]
    return Pairs(query[order], stored[order], distance[order])


@dataclass(frozen=True, eq=False)
class KDTree:
    """A k-d tree; node v has children 2v + 1 and 2v + 2, and the rows from ``first`` to ``last`` of ``order``."""

    order: Rows
    cells: Array
    """A line for each column, in the order of the tree."""
    first: Rows
    last: Rows
    low: Array
    high: Array
    widest: Rows
    cut: Array

    @classmethod
    def of(cls, rows: Array) -> KDTree:
        """The tree of some rows (n × p)."""
        from mlcli.kernels.neighbours.kd_tree import grow

        (n, columns), rows = rows.shape, np.ascontiguousarray(rows)
        nodes = 2 ** (max(0, ceil(log2(n / LEAF))) + 1) - 1
        order, first, last, widest = np.arange(n), *(np.zeros(nodes, np.intp) for _ in range(3))
        low, high, cut = np.empty((nodes, columns)), np.empty((nodes, columns)), np.zeros(nodes)
        grow(rows, order, first, last, low, high, widest, cut)
        return cls(order, np.ascontiguousarray(rows[order].T), first, last, low, high, widest, cut)

    def linked(self, limit: float) -> Codes:
        """A label for each row: rows have the same if steps up to a distance lead from one to the other."""
        from mlcli.kernels.neighbours.kd_tree import link

        parent, room = np.arange(len(self.order)), np.empty(int((self.last - self.first).max(initial=1)))
        boxes = self.first, self.last, self.low, self.high
        joined, waiting = np.zeros(len(self.first), bool), np.empty(64, np.intp)
        rows = np.ascontiguousarray(self.cells.T)
        link(rows, self.cells, *boxes, limit * limit, parent, joined, waiting, room)
        while not np.array_equal(parent, parent[parent]):
            parent = parent[parent]
        result = np.empty(len(parent), np.int32)
        result[self.order] = np.unique(parent, return_inverse=True)[1]
        return result


def neighbours_needed(weights: Array, k: int) -> int:
    """The number of rows that always fill k seats, if a row of weight w counts as w rows."""
    enough = np.cumsum(np.sort(weights)) >= k * WHOLE
    return int(np.argmax(enough)) + 1 if enough.any() else len(weights)


def kth_distance(pairs: Pairs, counts: Array, k: int) -> Array:
    """For each pair the distance at which the rows of its query point fill k seats, or that of the last row.

    ``counts`` is the number of rows that each pair stands for.
    """
    short = running_sums(pairs, counts) < k * WHOLE
    kth = pairs.begins + np.minimum(np.add.reduceat(short, pairs.begins, dtype=np.intp), pairs.counts - 1)
    return np.repeat(pairs.distance[kth], pairs.counts)


def running_sums(pairs: Pairs, counts: Array) -> Array:
    """Sums of ``counts`` so far, from the first pair of each query point."""
    total = np.cumsum(counts)
    before = (total - counts)[pairs.begins]
    return np.asarray(total - np.repeat(before, pairs.counts))
