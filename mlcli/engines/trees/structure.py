"""Grown trees as flat arrays, one entry per node of all trees: parents before children, siblings side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.trees.cells import Cells

LEAF = -1
STOPS = -1
"""In place of a child: rows that no branch fits stop at the node, whose own value answers them."""
INDICES = ("roots", "feature", "left", "missing", "offset", "child_of")
PER_NODE = ("feature", "threshold", "left", "missing", "offset")
NOTES = ("weight", "impurity", "gain")
"""What is noted of nodes, where a method keeps it."""
CELLS_AT_ONCE, LEAST_ROWS = 1 << 17, 32
"""How many cells go through one tree before they go to the next: more do not stay in the near memory of a core,
and with fewer a large tree is fetched too often."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Of an ordered column, x ≤ ``threshold`` goes to ``left``, x above to ``left + 1``, no x to ``missing``.

    Of a nominal column, the child of code c is ``child_of[offset + c]``; or where ``offset`` is -1, the level that
    ``threshold`` names goes to ``left`` and the others to ``left + 1``.
    """

    roots: Codes
    """The first node of each tree."""
    feature: Codes
    """The column that a node asks for, or LEAF."""
    threshold: Array
    """NaN where nothing is compared; infinite where the node asks whether a number is known."""
    left: Codes
    """The first child, or LEAF."""
    missing: Codes
    offset: Codes
    child_of: Codes
    value: Array
    """Nodes × K: class shares, the mean, or a score."""
    weight: Array
    impurity: Array
    gain: Array
    """The weighted impurity that a question takes away."""

    def __len__(self) -> int:
        return len(self.roots)

    @cached_property
    def leaves(self) -> Flags:
        """Which nodes ask nothing."""
        leaves: Flags = self.feature == LEAF
        return leaves

    @cached_property
    def children(self) -> Rows:
        """How many branches each node has."""
        count = np.where(self.leaves, 0, 2).astype(np.intp)
        mapped = np.flatnonzero(self.offset >= 0)
        if len(mapped):
            mapped = mapped[np.argsort(self.offset[mapped])]
            last = np.maximum.reduceat(self.child_of, self.offset[mapped])
            count[mapped] = last - self.left[mapped] + 1
        return count

    def _below(self, nodes: Rows) -> Rows:
        """The children of some nodes, in order."""
        count = self.children[nodes]
        ends = count.cumsum()
        below: Rows = np.arange(count.sum()) + np.repeat(self.left[nodes] - ends + count, count)
        return below

    @property
    def parent(self) -> Rows:
        """The parent of each node; a root is its own."""
        parents, inner = np.arange(len(self.feature)), np.flatnonzero(~self.leaves)
        parents[self._below(inner)] = np.repeat(inner, self.children[inner])
        return parents

    def depths(self) -> Rows:
        """How many questions lead to each node."""
        depth, level, reached = np.zeros(len(self.feature), np.intp), self.roots.astype(np.intp), 0
        while len(level):
            depth[level] = reached
            level, reached = self._below(level), reached + 1
        return depth

    def part(self, first: int, end: int) -> Trees:
        """Some consecutive trees, among the same nodes."""
        part = replace(self, roots=self.roots[first:end])
        part.__dict__["_packed"] = self._packed
        return part

    def sent_with_most(self) -> Trees:
        """The same, in which rows that would stop for a missing number go on with most rows."""
        stops = ~self.leaves & (self.missing == STOPS) & (self.offset < 0)
        left = self.left[stops]
        missing = self.missing.copy()
        missing[stops] = left + (self.weight[left] < self.weight[left + 1])
        return replace(self, missing=missing)

    def with_weights_alone(self) -> Trees:
        """The same with no more than it takes to answer, and to tell what rows are asked."""
        return replace(self, impurity=np.empty(0), gain=np.empty(0))

    def tree_of(self, nodes: Rows) -> Rows:
        """Which tree each of some nodes is of."""
        return np.searchsorted(self.roots, nodes, side="right") - 1

    def answers(self, cells: Cells) -> Array:
        """The sum of what the trees say of each row (n × K)."""
        sums = np.zeros((len(cells), self.value.shape[1]))
        self.add_to(sums, cells)
        return sums

    def add_to(self, sums: Array, cells: Cells) -> None:
        """Add what the trees say of each row to sums (n × outputs·K); outputs take turns."""
        self._walk(sums, self.value, cells, np.arange(len(cells)))

    def reached(self, cells: Cells, rows: Rows | None = None) -> Codes:
        """The node of each tree (trees × n) that answers each row, or some rows: mostly a leaf."""
        rows, numbers = np.arange(len(cells)) if rows is None else rows, np.arange(len(self.feature), dtype=float)
        reached = np.zeros((len(rows), len(self)))
        self._walk(reached, numbers[:, None], cells, rows)
        return reached.T.astype(np.int32)

    def _walk(self, sums: Array, value: Array, cells: Cells, rows: Rows) -> None:
        """Add the values of the nodes that rows come to."""
        from mlcli.kernels.trees.walking import PackedTrees, add_answers

        if not len(cells.levels):  # leaves look at a column, too
            cells = Cells(np.zeros((len(cells), 1)), np.zeros(1, np.intp))
        given = np.require(cells.values, np.float64, ["C", "W"])  # for others the loops would be compiled anew
        packed = PackedTrees(*self._packed, self.offset, self.child_of, cells.ordered, cells.only_known_numbers)
        block = max(LEAST_ROWS, CELLS_AT_ONCE // given.shape[1])
        add_answers(packed, self.roots, given, rows, value, np.empty(block, np.int32), sums)

    @cached_property
    def _packed(self) -> tuple[np.ndarray[Any, Any], Codes]:
        from mlcli.kernels.trees.walking import NODE

        nodes, own = np.empty(len(self.feature), NODE), np.arange(len(self.feature), dtype=np.int32)
        nodes["threshold"] = np.where(self.leaves, np.inf, self.threshold)
        nodes["feature"], nodes["left"] = np.maximum(self.feature, 0), np.where(self.leaves, own, self.left)
        return nodes, np.where(self.missing == STOPS, own, self.missing)

    def check(self, levels: Rows, width: int, outputs: int = 1) -> None:
        """Refuse (ValueError) what could lead a row astray, given ``levels`` as ``level_counts`` has them."""
        for problem, found in self._problems(levels, width, outputs):
            if found:
                raise ValueError(f"the saved trees {problem}")

    def _problems(self, levels: Rows, width: int, outputs: int) -> Iterator[tuple[str, bool]]:
        """What may be wrong, each only looked for when the ones before are right."""
        nodes = len(self.feature)
        whole = [getattr(self, name) for name in INDICES]
        yield "have indices that are not whole numbers", any(a.dtype != np.int32 or a.ndim != 1 for a in whole)
        yield "have arrays of different lengths", any(getattr(self, name).shape != (nodes,) for name in PER_NODE)
        noted = [getattr(self, name) for name in NOTES]
        yield "have notes of other nodes", any(note.shape not in ((nodes,), (0,)) for note in noted)
        yield "have values of another shape", self.value.shape != (nodes, width)
        yield "have numbers that are not finite", not all(np.isfinite(a).all() for a in (self.value, *noted))
        yield "are not as many for each output", len(self) % outputs != 0
        ends = np.append(self.roots, nodes).astype(np.int64)
        yield "have roots out of order", bool(ends[0] != 0) or bool((np.diff(ends) < 1).any())
        there = (self.feature >= LEAF) & (self.feature < len(levels))
        yield "ask for a column that is not there", not there.all()
        inner = np.flatnonzero(~self.leaves)
        levels_here, maps = levels[self.feature[inner]], self.offset[inner] >= 0
        yield "mix thresholds and levels", bool((maps & (levels_here == 0)).any())
        yield "compare with no number", bool(np.isnan(self.threshold[inner[~maps]]).any())
        starts, stops = self.offset[inner[maps]], self.offset[inner[maps]] + levels_here[maps]
        yield "send levels astray", bool((stops > len(self.child_of)).any())
        yield "have a question without branches", bool((self.left[inner] == STOPS).any())
        mapped = [self.child_of[a:b] for a, b in zip(starts, stops, strict=True)]
        parent = np.concatenate([inner, inner[~maps], np.arange(nodes), np.repeat(inner[maps], stops - starts)])
        child = np.concatenate([self.left[inner], self.left[inner[~maps]] + 1, self.missing, *mapped])
        astray = (child <= parent) | (child >= np.repeat(ends[1:], np.diff(ends))[parent])
        yield "have children that are none", bool((astray & (child != STOPS)).any())


def no_trees() -> Trees:
    """No trees at all."""
    arrays: dict[str, Any] = {name: np.empty(0, np.int32) for name in INDICES}
    arrays |= {name: np.empty(0) for name in ("threshold", *NOTES)}
    return Trees(**arrays, value=np.empty((0, 1)))
