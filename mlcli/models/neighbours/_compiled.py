"""The compiled search: a screen or a tree lists the rows that may be near, then they are measured and sorted.

Numba is imported here and nowhere else in this family; the answers are those of the NumPy search, to the bit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.models.neighbours._points import Points
from mlcli.models.neighbours._screens import SAME, not_below, screen_by_squares

COMPILED_FROM = 25_000_000
"""From how many pairs of rows on loading compiled loops (0.3 s) pays within ten splits."""
LOADED_FROM = 10_000
"""From how many pairs on they pay when they are loaded already."""
BLOCK_BYTES = 1_500_000
"""What the screened values of one block may take."""
FEWEST_ROWS = 64
"""How many rows are screened at once though they take more: a product of fewer is slow."""
ROWS_OF_TREE = 4_096
"""How many rows ask a tree at once."""
LEAF = 32
"""About how many rows a leaf of a tree holds."""
TREE_PAYS = 60
"""A tree is faster than a screen when there are so many rows, times the neighbours wanted, times 2^columns."""
FAR_OFF = 1e15
"""A row so many times farther off than any stored one is beyond single precision."""


def pays(pairs: int) -> bool:
    """Whether compiled loops are the faster way through so many pairs."""
    return pairs >= (LOADED_FROM if "mlcli.kernels.near_rows" in sys.modules else COMPILED_FROM)


@dataclass(frozen=True, eq=False)
class Question:
    """Rows asked and stored rows, line by line, as the search sees them.

    Row i of those asked must not see the stored rows from ``begin[i]`` to ``end[i]``, and where it is at distance
    d of the last one wanted, all rows up to (d + ``beside[i]``) ``stretch[i]`` + ``beside[i]`` are wanted, too.
    """

    asked: Array
    stored: Array
    count: int
    begin: Rows
    end: Rows
    stretch: Array
    beside: Array

    @classmethod
    def plain(cls, asked: Array, stored: Array, count: int) -> Question:
        """All stored rows are seen, as they are."""
        nothing = np.zeros(len(asked), np.intp)
        return cls(asked, stored, count, nothing, nothing, np.ones(len(asked)), np.zeros(len(asked)))


@dataclass(frozen=True, eq=False)
class Ruler:
    """What distances are measured with: cells, line by line, in the units that the part of the row asked has."""

    asked: Array
    stored: Array
    asked_gaps: Array
    stored_gaps: Array
    unit: Array
    fill: Array
    part: Rows
    beside: Array
    """How much farther than the last one wanted a row may be."""

    @classmethod
    def plain(cls, asked: Array, stored: Array) -> Ruler:
        """The cells are what they are."""
        none, length = np.empty((0, 0)), len(asked)
        return cls(asked, stored, none, none, none, none, np.zeros(length, np.intp), np.zeros(length))


@dataclass(frozen=True, eq=False)
class Near:
    """Rows near consecutive rows asked: those of the i-th end at ``ends[i]``; ``kth`` is its count-th distance."""

    start: int
    ends: Rows
    places: Rows
    distances: Array
    kth: Array


Listed = Iterator[tuple[int, Rows, Rows]]
"""The first row asked of a block, where the places of each end, and the places."""


def nearest(question: Question, ruler: Ruler, names: Rows | None = None) -> Iterator[Near]:
    """All stored rows as near as the last one wanted, the nearest first, by the place or the name they have."""
    from mlcli.kernels.near_rows import measured

    for start, ends, places in _listed(question):
        rows = slice(start, start + len(ends))
        places = places if names is None else names[places]
        distances, kth = np.empty(len(places)), np.empty(len(ends))
        gaps = ruler.asked_gaps[rows] if len(ruler.fill) else ruler.asked_gaps
        kept = measured(
            ruler.asked[rows], ruler.stored, gaps, ruler.stored_gaps, ruler.unit, ruler.fill, ruler.part[rows],
            question.count, SAME, ruler.beside[rows], ends, places, distances, kth,
        )  # fmt: skip
        yield Near(start, ends, places[:kept].copy(), distances[:kept].copy(), kth)


def _listed(question: Question) -> Listed:
    """The faster way to the rows that may be near."""
    n, columns = question.stored.shape
    return by_tree(question) if n >= TREE_PAYS * max(question.count, 5) * 2.0**columns else by_screen(question)


def by_screen(question: Question) -> Listed:
    """Blocks of a matrix product; of groups of stored rows only those with a small value are looked into."""
    from mlcli.kernels.near_rows import bounds, places_within

    n, count = len(question.stored), question.count
    screen = screen_by_squares(_points(question.stored))
    groups = min(n, max(2 * count, ceil((n * count) ** 0.5 / 16) * 16))
    size = max(FEWEST_ROWS, BLOCK_BYTES // (4 * n))
    block, room = screen.room(size), 4 * count * size
    for start in range(0, len(question.asked), size):
        rows = slice(start, start + size)
        values, lengths = screen.into(block, _points(question.asked[rows]))
        begin, end = question.begin[rows], question.end[rows]
        minima, bound = np.empty((len(values), groups), np.float32), np.empty(len(values))
        bounds(values, begin, end, minima, bound, np.empty(count, np.float32))
        limit = screen.limit(bound, lengths, question.stretch[rows], question.beside[rows])
        held = not_below(np.where(lengths < FAR_OFF, limit, np.inf), block.dtype)
        ends = np.empty(len(values), np.intp)
        while True:
            places = np.empty(room, np.intp)
            listed = places_within(values, minima, held, begin, end, ends, places)
            if listed <= room:
                break
            room = listed
        yield start, ends, places[:listed].copy()


def by_tree(question: Question) -> Listed:
    """A k-d tree, asked by some rows at a time."""
    from mlcli.kernels.kd_tree import grow, places_near

    n, columns = question.stored.shape
    nodes = 2 ** (max(0, ceil(log2(n / LEAF))) + 1) - 1
    order, first, last, widest = np.arange(n), *(np.zeros(nodes, np.intp) for _ in range(3))
    low, high, cut = np.empty((nodes, columns)), np.empty((nodes, columns)), np.zeros(nodes)
    grow(question.stored, order, first, last, low, high, widest, cut)
    cells = np.ascontiguousarray(question.stored[order].T)
    room, start = 8 * question.count * ROWS_OF_TREE, 0
    while start < len(question.asked):
        rows = slice(start, start + ROWS_OF_TREE)
        asked, ends = question.asked[rows], np.empty(ROWS_OF_TREE, np.intp)
        places, apart = np.empty(room, np.intp), np.empty(room)
        done = places_near(
            cells, order, first, last, low, high, widest, cut, asked, question.begin[rows], question.end[rows],
            question.stretch[rows], question.beside[rows], question.count, 8 * SAME, ends, places, apart,
        )  # fmt: skip
        if done:
            yield start, ends[:done], places[: ends[done - 1]].copy()
        else:
            room *= 4
        start += done


def _points(rows: Array) -> Points:
    return Points(rows.T, np.empty((0, len(rows)), np.int32))
