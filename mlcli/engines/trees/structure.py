"""Grown trees as flat arrays, and the cells of a table as trees read them.

All trees of a model share one set of arrays with an entry per node: parents before children, siblings side by
side. To predict, every row goes down each tree from its root, in a compiled loop, to the node where it stops; the
values of these nodes are added up. A single tree, a forest and boosting differ only in what ``value`` holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Flags, Rows, Table, is_missing

LEAF = -1
"""The ``feature`` of a leaf."""
STOPS = -1
"""In place of a child: rows that no branch fits stop at the node, whose own value is their prediction."""
INDICES = ("roots", "feature", "left", "missing", "offset", "child_of")
PER_NODE = ("feature", "threshold", "left", "missing", "offset")
NOTES = ("weight", "impurity", "gain")
"""Notes about nodes that predictions do not need; empty where a method drops them."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of rows in one matrix, in the order of the columns of the table.

    *Ordered* columns (numbers, and ordinal levels as their rank) are split by a threshold; NaN is missing. The
    cells of *nominal* columns are codes; the missing level is one past the last.
    """

    values: Array
    """Rows × columns."""
    levels: Rows
    """The number of levels of each nominal column, the missing one included; 0 for ordered columns."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def ordered(self) -> Flags:
        """Which columns are split by a threshold."""
        return np.asarray(self.levels == 0)

    @cached_property
    def only_known_numbers(self) -> bool:
        """Whether all columns are ordered and no cell is missing."""
        return bool(self.ordered.all()) and not np.isnan(self.values).any()


def is_ordered(column: Column) -> bool:
    """Whether a column is split by a threshold."""
    return column.kind in ("numeric", "ordinal")


def level_counts(columns: Sequence[Column]) -> Rows:
    """The number of levels of each column, as ``Cells`` have it."""
    counts = [0 if is_ordered(column) else len(column.levels) + 1 for column in columns]
    return np.array(counts, dtype=np.intp)


def cells_of(table: Table, fills: Array | None = None) -> Cells:
    """The cells of a table; missing ones take the fill of their column, unless that is NaN.

    Without nominal columns and fills these are the numbers of the table itself, not a copy.
    """
    levels = level_counts(table.columns)
    fills = np.full(len(levels), np.nan) if fills is None else fills
    if not table.codes.shape[1] and np.isnan(fills).all():
        return Cells(table.numbers, levels)
    fills = np.where(np.isnan(fills), np.where(levels == 0, np.nan, levels - 1), fills)
    values = np.empty((len(table), len(levels)))
    for index, (_, column_cells) in enumerate(table.parts()):
        values[:, index] = np.where(is_missing(column_cells), fills[index], column_cells)
    return Cells(values, levels)


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees over the same columns, as arrays with an entry per node of all trees.

    A node that splits an ordered column sends x ≤ ``threshold`` to ``left``, larger x to ``left + 1`` and missing
    x to ``missing``. One that splits a nominal column sends code c to ``child_of[offset + c]``; or, if ``offset``
    is -1, the level that ``threshold`` names to ``left`` and all others to ``left + 1``.
    """

    roots: Codes
    """The first node of each tree."""
    feature: Codes
    """The column that a node splits, or LEAF."""
    threshold: Array
    """NaN where no number is compared; infinite where the node splits known from missing cells."""
    left: Codes
    """The first child, or LEAF."""
    missing: Codes
    offset: Codes
    child_of: Codes
    value: Array
    """Nodes × K: class shares, the mean, or a score."""
    weight: Array
    """The weight of the training rows of each node."""
    impurity: Array
    gain: Array
    """The weighted impurity that the split of a node removes."""

    def __len__(self) -> int:
        return len(self.roots)

    @cached_property
    def leaves(self) -> Flags:
        """Which nodes are leaves."""
        return np.asarray(self.feature == LEAF)

    @cached_property
    def children(self) -> Rows:
        """The number of children of each node."""
        count = np.where(self.leaves, 0, 2).astype(np.intp)
        mapped = np.flatnonzero(self.offset >= 0)
        if len(mapped):
            mapped = mapped[np.argsort(self.offset[mapped])]
            last = np.maximum.reduceat(self.child_of, self.offset[mapped])
            count[mapped] = last - self.left[mapped] + 1
        return count

    def _children_of(self, nodes: Rows) -> Rows:
        """The children of some nodes, one node's after the other's."""
        count = self.children[nodes]
        ends = count.cumsum()
        children: Rows = np.arange(count.sum()) + np.repeat(self.left[nodes] - ends + count, count)
        return children

    @property
    def parent(self) -> Rows:
        """The parent of each node; a root is its own."""
        parents, inner = np.arange(len(self.feature)), np.flatnonzero(~self.leaves)
        parents[self._children_of(inner)] = np.repeat(inner, self.children[inner])
        return parents

    def depths(self) -> Rows:
        """The depth of each node; that of a root is 0."""
        depths, level, depth = np.zeros(len(self.feature), np.intp), self.roots.astype(np.intp), 0
        while len(level):
            depths[level] = depth
            level, depth = self._children_of(level), depth + 1
        return depths

    def tree_of(self, nodes: Rows) -> Rows:
        """The tree that each of some nodes belongs to."""
        return np.searchsorted(self.roots, nodes, side="right") - 1

    def part(self, first: int, end: int) -> Trees:
        """Some consecutive trees; the numbers of nodes stay the same."""
        part = replace(self, roots=self.roots[first:end])
        part.__dict__["_packed"] = self._packed
        return part

    def with_missing_sent_on(self) -> Trees:
        """The same trees, in which rows do not stop for a missing number but go to the child with more weight."""
        stops = ~self.leaves & (self.missing == STOPS) & (self.offset < 0)
        left = self.left[stops]
        missing = self.missing.copy()
        missing[stops] = left + (self.weight[left] < self.weight[left + 1])
        return replace(self, missing=missing)

    def without_gains(self) -> Trees:
        """The same trees without notes of impurity and gain, for models that store many trees."""
        return replace(self, impurity=np.empty(0), gain=np.empty(0))

    def predict(self, cells: Cells) -> Array:
        """The sum over trees of the value of each row's node (n × K)."""
        sums = np.zeros((len(cells), self.value.shape[1]))
        self.add_predictions(sums, cells)
        return sums

    def add_predictions(self, sums: Array, cells: Cells) -> None:
        """Add the values of each row's nodes to sums (n × outputs·K); trees of the outputs take turns."""
        self._add_values(sums, self.value, cells, np.arange(len(cells)))

    def nodes_of(self, cells: Cells, rows: Rows | None = None) -> Codes:
        """The node, mostly a leaf, at which each row, or some of the rows, ends in each tree (trees × n)."""
        rows, numbers = np.arange(len(cells)) if rows is None else rows, np.arange(len(self.feature), dtype=float)
        nodes = np.zeros((len(rows), len(self)))
        self._add_values(nodes, numbers[:, None], cells, rows)
        return nodes.T.astype(np.int32)

    def _add_values(self, sums: Array, value: Array, cells: Cells, rows: Rows) -> None:
        """Add the values of the nodes at which rows end."""
        from mlcli.kernels.trees.walking import PackedTrees, add_answers

        if not len(cells.levels):  # leaves look at a column, too
            cells = Cells(np.zeros((len(cells), 1)), np.zeros(1, np.intp))
        given = np.require(cells.values, np.float64, ["C", "W"])  # other layouts would compile the loops anew
        packed = PackedTrees(*self._packed, self.offset, self.child_of, cells.ordered, cells.only_known_numbers)
        # Rows go through a tree in blocks of 2^17 cells, which stay in the cache of a core; at least 32 rows, or a
        # large tree would be fetched too often.
        block = max(32, (1 << 17) // given.shape[1])
        add_answers(packed, self.roots, given, rows, value, np.empty(block, np.int32), sums)

    @cached_property
    def _packed(self) -> tuple[NDArray[np.void], Codes]:
        """What a walk reads of each node, in which a leaf leads to itself."""
        from mlcli.kernels.trees.walking import NODE

        nodes, own = np.empty(len(self.feature), NODE), np.arange(len(self.feature), dtype=np.int32)
        nodes["threshold"] = np.where(self.leaves, np.inf, self.threshold)
        nodes["feature"], nodes["left"] = np.maximum(self.feature, 0), np.where(self.leaves, own, self.left)
        return nodes, np.where(self.missing == STOPS, own, self.missing)

    def check(self, levels: Rows, width: int, outputs: int = 1) -> None:
        """Raise ValueError for saved trees that could lead a row astray; ``levels`` as by ``level_counts``."""
        for problem, is_wrong in self._problems(levels, width, outputs):
            if is_wrong:
                raise ValueError(f"the saved trees {problem}")

    def _problems(self, levels: Rows, width: int, outputs: int) -> Iterator[tuple[str, bool]]:
        """What may be wrong; each check relies on the ones before."""
        nodes = len(self.feature)
        indices = [getattr(self, name) for name in INDICES]
        yield "have indices that are not whole numbers", any(a.dtype != np.int32 or a.ndim != 1 for a in indices)
        yield "have arrays of different lengths", any(getattr(self, name).shape != (nodes,) for name in PER_NODE)
        notes = [getattr(self, name) for name in NOTES]
        yield "have notes of other nodes", any(note.shape not in ((nodes,), (0,)) for note in notes)
        yield "have values of another shape", self.value.shape != (nodes, width)
        yield "have numbers that are not finite", not all(np.isfinite(a).all() for a in (self.value, *notes))
        yield "are not as many for each output", len(self) % outputs != 0
        ends = np.append(self.roots, nodes).astype(np.int64)
        yield "have roots out of order", bool(ends[0] != 0) or bool((np.diff(ends) < 1).any())
        exists = (self.feature >= LEAF) & (self.feature < len(levels))
        yield "ask for a column that is not there", not exists.all()
        inner = np.flatnonzero(~self.leaves)
        levels_here, mapped = levels[self.feature[inner]], self.offset[inner] >= 0
        yield "mix thresholds and levels", bool((mapped & (levels_here == 0)).any())
        yield "compare with no number", bool(np.isnan(self.threshold[inner[~mapped]]).any())
        starts, stops = self.offset[inner[mapped]], self.offset[inner[mapped]] + levels_here[mapped]
        yield "send levels astray", bool((stops > len(self.child_of)).any())
        yield "have a question without branches", bool((self.left[inner] == STOPS).any())
        by_level = [self.child_of[a:b] for a, b in zip(starts, stops, strict=True)]
        parent = np.concatenate(
            [inner, inner[~mapped], np.arange(nodes), np.repeat(inner[mapped], stops - starts)]
        )
        child = np.concatenate([self.left[inner], self.left[inner[~mapped]] + 1, self.missing, *by_level])
        astray = (child <= parent) | (child >= np.repeat(ends[1:], np.diff(ends))[parent])
        yield "have children that are none", bool((astray & (child != STOPS)).any())
