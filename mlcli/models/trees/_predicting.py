"""Asking a tree: all rows walk down together, one question per step; or one after another in compiled loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._spending import spending
from mlcli.models.trees._structure import LEAF, STOPS, Tree

AN_ASKING, A_ROW = 5e-5, 1.5e-7
"""About how many seconds NumPy takes longer for a table, and for each row of it."""


def node_of(tree: Tree, cells: Array, root: Rows | None = None) -> Rows:
    """The node that answers each row of cells (as ``features`` made them): a leaf, or where no branch fits.

    Where several trees are one, each row has a ``root``.
    """
    walked = by_loops if spending.loads(AN_ASKING + A_ROW * len(cells)) else together
    return walked(tree, cells, np.zeros(len(cells), np.intp) if root is None else root.astype(np.intp))


def by_loops(tree: Tree, cells: Array, root: Rows) -> Rows:
    """Compiled, one row after another."""
    from mlcli.kernels.tree_walks import NODE, walk, walk_by_numbers

    nodes = np.empty(len(tree.feature), NODE)
    nodes["threshold"], nodes["feature"] = tree.threshold, np.maximum(tree.feature, 0)
    nodes["left"] = np.where(tree.leaves, np.arange(len(nodes)), tree.left)
    at, arrived = root.copy(), 0
    if cells.shape[1] == 0:
        return at
    cells = np.require(cells, requirements=["C", "W"])  # other arrays would be compiled for again
    if not len(tree.child_of):
        arrived = walk_by_numbers(cells, nodes, at)
    if arrived < len(at):
        others, child_of = np.stack([tree.missing, tree.offset], axis=1), tree.child_of
        walk(arrived, cells, nodes, others.astype(np.int32), np.require(child_of, np.int32, ["C", "W"]), at)
    return at


def together(tree: Tree, cells: Array, root: Rows) -> Rows:
    """By NumPy, one question after another."""
    questions = Questions(tree, tree.feature.astype(np.intp), tree.left.astype(np.intp))
    following = questions.by_threshold if _only_known_numbers(tree, cells) else questions.of_any_kind
    at = root.copy()
    walking, node = np.arange(len(cells)), at
    while len(walking):
        asked = questions.feature[node]
        asks = asked != LEAF
        if not asks.all():
            at[walking] = node
            walking, node, asked = walking[asks], node[asks], asked[asks]
        reached = following(node, cells[walking, asked])
        moved = reached != STOPS
        if not moved.all():
            at[walking] = node
            walking, reached = walking[moved], reached[moved]
        node = reached
    return at


def _only_known_numbers(tree: Tree, cells: Array) -> bool:
    """Whether every question is of a threshold, and every cell is known."""
    return bool((tree.asks_threshold | tree.leaves).all() and not np.isnan(cells).any())


@dataclass(frozen=True, eq=False)
class Questions:
    """A tree with the arrays that every step reads, as NumPy indexes fastest."""

    tree: Tree
    feature: Rows
    left: Rows

    def by_threshold(self, node: Rows, cell: Array) -> Rows:
        """The next node of each row, all of which are asked for a number that they have."""
        following: Rows = self.left[node] + (cell > self.tree.threshold[node])
        return following

    def of_any_kind(self, node: Rows, cell: Array) -> Rows:
        """The next node of each row, or STOPS."""
        tree, following = self.tree, self.by_threshold(node, cell)
        empty = np.isnan(cell)
        following[empty] = tree.missing[node[empty]]
        by_level = ~tree.asks_threshold[node]
        code = cell[by_level].astype(np.intp)
        following[by_level] = tree.child_of[tree.offset[node[by_level]] + code]
        return following
