"""Asking a tree: all rows walk down together, one question per step."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._structure import STOPS, Tree


def node_of(tree: Tree, cells: Array) -> Rows:
    """The node that answers each row of cells (as ``features`` made them): a leaf, or where no branch fits."""
    at = np.zeros(len(cells), np.intp)
    walking = np.arange(len(cells))
    while len(walking := walking[tree.feature[at[walking]] >= 0]):
        node = at[walking]
        following = _next(tree, node, cells[walking, tree.feature[node]])
        moved = following != STOPS
        walking = walking[moved]
        at[walking] = following[moved]
    return at


def _next(tree: Tree, node: Rows, cell: Array) -> Rows:
    threshold, left = tree.threshold[node], tree.left[node].astype(np.intp)
    following = left + (cell > threshold)
    empty = np.isnan(cell)
    following[empty] = tree.missing[node[empty]]
    by_level = np.isnan(threshold)
    code = cell[by_level].astype(np.intp)
    following[by_level] = tree.child_of[tree.offset[node[by_level]] + code]
    return following
