"""Compiled walks: every row goes down each tree by its cells, and adds up what the nodes say that it comes to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.kernels.trees.records import Nodes

NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("left", np.int32)])
"""What a node asks, and its first child. A leaf asks whether column 0 is above infinity, and leads to itself."""


class PackedTrees(NamedTuple):
    """The nodes of trees, and how cells are compared with what they ask."""

    nodes: Nodes
    missing: Codes
    """Where rows without the cell go; the node itself of a leaf, and where they stop."""
    offset: Codes
    """Where in ``child_of`` the children of levels begin, or -1."""
    child_of: Codes
    ordered: Flags
    plain: bool
    """Whether all columns are ordered and no cell is missing."""


@njit(cache=True, nogil=True, error_model="numpy")
def step(nodes: Nodes, node: int, cells: Array, row: int) -> int:
    """The next node of a row; a leaf is its own, and no branch of the code depends on it."""
    asked = nodes[node]
    right: int = int(asked["left"]) + (cells[row, asked["feature"]] > asked["threshold"])
    return right


@njit(cache=True, nogil=True, error_model="numpy")
def walk_known(nodes: Nodes, root: int, cells: Array, rows: Rows, reached: Codes) -> None:
    """Fill the nodes that rows come to, where all columns are ordered and no cell is missing.

    Four rows walk down together, so that none waits for the memory of another.
    """
    fours = len(rows) // 4 * 4
    for i in range(0, fours, 4):
        a, b, c, d = root, root, root, root
        moves = True
        while moves:
            e, f = step(nodes, a, cells, rows[i]), step(nodes, b, cells, rows[i + 1])
            g, h = step(nodes, c, cells, rows[i + 2]), step(nodes, d, cells, rows[i + 3])
            moves = e != a or f != b or g != c or h != d
            a, b, c, d = e, f, g, h
        reached[i], reached[i + 1], reached[i + 2], reached[i + 3] = a, b, c, d
    for i in range(fours, len(rows)):
        node, following = -1, root
        while following != node:
            node = following
            following = step(nodes, node, cells, rows[i])
        reached[i] = node


@njit(cache=True, nogil=True, error_model="numpy")
def walk_any(trees: PackedTrees, root: int, cells: Array, rows: Rows, reached: Codes) -> None:
    """The same whatever is asked and whatever is missing; a row that no child fits stays."""
    nodes, missing, offset, child_of, ordered = (
        trees.nodes,
        trees.missing,
        trees.offset,
        trees.child_of,
        trees.ordered,
    )
    for i in range(len(rows)):
        node, following = -1, root
        while following != node:
            node = following
            asked = nodes[node]
            cell, left = cells[rows[i], asked["feature"]], int(asked["left"])
            if left == node:
                break
            if np.isnan(cell):
                following = int(missing[node])
            elif offset[node] >= 0:
                child = int(child_of[offset[node] + int(cell)])
                following = child if child >= 0 else node
            elif ordered[asked["feature"]]:
                following = int(left + (cell > asked["threshold"]))
            else:
                following = int(left + (cell != asked["threshold"]))
        reached[i] = node


@njit(cache=True, nogil=True, error_model="numpy")
def add_answers(
    trees: PackedTrees, roots: Codes, cells: Array, rows: Rows, value: Array, reached: Codes, answers: Array
) -> None:
    """Add what trees say of ``rows``, all in order, to the answers (n × outputs·K); outputs take turns.

    As many rows as ``reached`` has room for go through one tree before they go to the next.
    """
    width, block = value.shape[1], len(reached)
    turns = answers.shape[1] // width
    for begin in range(0, len(rows), block):
        end = begin + block if begin + block < len(rows) else len(rows)
        for tree in range(len(roots)):
            root = int(np.int64(roots[tree]))
            if trees.plain:
                walk_known(trees.nodes, root, cells, rows[begin:end], reached)
            else:
                walk_any(trees, root, cells, rows[begin:end], reached)
            first = (tree % turns) * width
            for i in range(end - begin):
                for k in range(width):
                    answers[begin + i, first + k] += value[reached[i], k]
