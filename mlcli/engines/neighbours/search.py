"""Exact search for the nearest stored points: list the pairs that may be near, then measure them.

Pairs are listed by a screen of blocks, whose smallest values NumPy picks where pairs are few and compiled loops
where they are many, or by a k-d tree. Whichever it is, the same neighbours at the same distances come out.
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
"""How many values of a screen a block holds."""
PAIRS_AT_ONCE = 200_000
"""How many pairs a batch holds; a block with more ties than that stays whole."""
CELLS_AT_ONCE = 65_536
"""How many cells are measured at once."""
GROUPS = 32
"""Into how many groups per wanted neighbour the stored points are dealt; see ``pick_in_numpy``."""
COMPILED_FROM = 25_000_000
"""The number of pairs from which loading compiled loops (0.3 s) pays within ten splits."""
LOADED_FROM = 10_000
"""The same if they are already loaded."""
TREE_PAYS = 60
"""A tree is faster than a screen when there are so many rows, times the neighbours wanted, times 2^columns."""
SEARCHES = ("auto", "brute", "k-d-tree")
"""The search methods a user can choose; a tree is used only for a distance that it measures."""
ROWS_OF_TREE = 4_096
"""How many rows ask a tree at once."""

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
        """How many pairs each query point has."""
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

    A ``search`` of ``SEARCHES`` takes that route; all of them find the same points.
    """
    queries, stored = queries.by_point(), stored.by_point()
    for here, there in in_batches(_places(distance, queries, stored, count, search)):
        yield sorted_pairs(here, there, _measured(distance, queries, stored, here, there))


def loops_pay(pairs: int) -> bool:
    """Whether compiled loops are the faster way through so many pairs."""
    loaded = "mlcli.kernels.neighbours.screening" in sys.modules
    return pairs >= (LOADED_FROM if loaded else COMPILED_FROM)


def _places(distance: Distance, queries: PointSet, stored: PointSet, count: int, search: str) -> Iterator[Places]:
    """The pairs that may be near, by the route that is wanted, or else the fastest."""
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
    room = np.empty((min(size, len(queries)), n), screen.dtype)  # fresh pages cost as much as what is put there
    for start in advancing.over(range(0, len(queries), size)):
        rows = slice(start, start + size)
        point_set = queries.take(rows)
        values = room[: len(point_set)]
        here, there = pick(values, count, screen.into(values, point_set))
        yield here + start, there


def pick_in_numpy(values: Values, count: int, limit_of: LimitOf) -> Places:
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
    limit = rounded_up(limit_of(bound.astype(float)), values.dtype)[:, None]
    row, group = np.nonzero(_within(minima, limit))
    dealt = group < groups
    among = row[dealt], group[dealt]
    which, depth = np.nonzero(_within(body[among[0], :, among[1]], limit[among[0]]))
    here = np.concatenate([among[0][which], row[~dealt]])
    there = np.concatenate([among[1][which] + groups * depth, group[~dealt] + groups * (deep - 1)])
    return here, there


def _within(values: Values, limit: Values) -> Flags:
    """At most the limit; what overflowed counts as within, so that it is measured."""
    return ~(values > limit)


def pick_compiled(values: Values, count: int, limit_of: LimitOf) -> Places:
    """The same in compiled loops."""
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
        ends, indices, apart = np.empty(ROWS_OF_TREE, np.intp), np.empty(room, np.intp), np.empty(room)
        done = places_near(
            tree.cells, tree.order, tree.first, tree.last, tree.low, tree.high, tree.widest, tree.cut, lines[rows],
            count, 8 * SAME, ends, indices, apart,
        )  # fmt: skip
        if done:
            here = np.repeat(np.arange(start, start + done), np.diff(ends[:done], prepend=0))
            yield here, indices[: len(here)]
        else:
            room *= 4
        start += done


def in_batches(blocks: Iterable[Places]) -> Iterator[Places]:
    """Places gathered block by block until there are enough pairs."""
    batch: list[Places] = []
    pairs = 0
    for block in blocks:
        batch.append(block)
        pairs += len(block[0])
        if pairs >= PAIRS_AT_ONCE:
            yield _joined(batch)
            batch, pairs = [], 0
    if batch:
        yield _joined(batch)


def _joined(batch: list[Places]) -> Places:
    here, there = map(np.concatenate, zip(*batch, strict=True))
    return here, there


def _measured(distance: Distance, queries: PointSet, stored: PointSet, here: Rows, there: Rows) -> Array:
    """The distances of pairs, so many at a time that their cells take little room."""
    size, result = max(1, CELLS_AT_ONCE // max(stored.columns, 1)), np.empty(len(here))
    for start in range(0, len(here), size):
        block = slice(start, start + size)
        result[block] = distance.between(queries.take(here[block]), stored.take(there[block]))
    return result


def sorted_pairs(query: Rows, stored: Rows, distance: Array) -> Pairs:
    """Measured pairs, sorted: as one complex number each, which is the fast way, then those that tie."""
    key = np.empty(len(query), complex)
    key.real, key.imag = query, distance
    order = np.argsort(key)
    tied = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    if len(tied):
        indices = np.union1d(tied, tied + 1)
        subset = order[indices]
        order[indices] = subset[np.lexsort((stored[subset], key[subset]))]
    return Pairs(query[order], stored[order], distance[order])


LEAF = 32
"""About how many rows a leaf holds."""


@dataclass(frozen=True, eq=False)
class KDTree:
    """Node v has the halves 2v + 1 and 2v + 2, and the rows from ``first`` to ``last`` of ``order``."""

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
        """A number for each row: rows have the same if steps up to a distance lead from one to the other."""
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


WHOLE = 1 - 1e-9
"""Summed weights reach a whole number when they come this close."""


def neighbours_needed(weights: Array, k: int) -> int:
    """How many rows always hold k seats, when a row of weight w counts as w rows."""
    enough = np.cumsum(np.sort(weights)) >= k * WHOLE
    return int(np.argmax(enough)) + 1 if enough.any() else len(weights)


def kth_distance(pairs: Pairs, counts: Array, k: int) -> Array:
    """For each pair the distance at which the rows of its query point fill k seats, or that of the last row.

    ``counts`` says for how many rows each pair stands.
    """
    short = running_sums(pairs, counts) < k * WHOLE
    kth = pairs.begins + np.minimum(np.add.reduceat(short, pairs.begins, dtype=np.intp), pairs.counts - 1)
    return np.repeat(pairs.distance[kth], pairs.counts)


def running_sums(pairs: Pairs, counts: Array) -> Array:
    """Sums of ``counts`` so far, from the first pair of each query point."""
    total = np.cumsum(counts)
    before = (total - counts)[pairs.begins]
    return np.asarray(total - np.repeat(before, pairs.counts))
