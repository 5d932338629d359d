"""Asking a tree: all rows walk down together, one question per step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._structure import LEAF, STOPS, Tree


def node_of(tree: Tree, cells: Array, root: Rows | None = None) -> Rows:
    """The node that answers each row of cells (as ``features`` made them): a leaf, or where no branch fits.

    Where several trees are one, each row has a ``root``.
    """
    questions = Questions(tree, tree.feature.astype(np.intp), tree.left.astype(np.intp))
    following = questions.by_threshold if _only_known_numbers(tree, cells) else questions.of_any_kind
    at = np.zeros(len(cells), np.intp) if root is None else root.copy()
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
