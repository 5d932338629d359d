"""Compiled walks: every row goes down each tree by its cells, and adds up what the nodes say that it comes to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.kernels.without_counting import compiled, inlined

NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("left", np.int32)])
"""What a node asks, and its first child. A leaf asks whether column 0 is above infinity, and leads to itself."""


class PackedTrees(NamedTuple):
    """The nodes of trees, and how cells are compared with what they ask."""

    nodes: np.ndarray[Any, Any]
    missing: Codes
    """Where rows without the cell go; the node itself of a leaf, and where they stop."""
    offset: Codes
    """Where in ``child_of`` the children of levels begin, or -1."""
    child_of: Codes
    ordered: Flags
    plain: bool
    """Whether all columns are ordered and no cell is missing."""


@inlined
def step(trees: PackedTrees, node: int, cells: Array, row: int) -> int:
    """The next node of a row; a leaf is its own, and no branch of the code depends on it."""
    asked = trees.nodes[node]
    right: int = int(asked["left"]) + (cells[row, asked["feature"]] > asked["threshold"])
    return right


@inlined
def step_anywhere(trees: PackedTrees, node: int, cells: Array, row: int) -> int:
    """The same whatever is asked and whatever is missing; a row that no child fits stays."""
    asked = trees.nodes[node]
    cell = cells[row, asked["feature"]]
    if asked["left"] == node:
        return node
    if np.isnan(cell):
        return int(trees.missing[node])
    if trees.offset[node] >= 0:
        child = int(trees.child_of[trees.offset[node] + int(cell)])
        return child if child >= 0 else node
    if trees.ordered[asked["feature"]]:
        return int(asked["left"] + (cell > asked["threshold"]))
    return int(asked["left"] + (cell != asked["threshold"]))


@inlined
def reached_of(trees: PackedTrees, root: int, cells: Array, row: int) -> int:
    """The node that a row comes to."""
    node, following = -1, root
    while following != node:
        node = following
        following = step_anywhere(trees, node, cells, row)
    return node


@inlined
def walk_four(trees: PackedTrees, root: int, cells: Array, rows: Rows, nodes: Codes) -> None:
    """Four rows walk down together, so that none waits for the memory of another."""
    a, b, c, d = root, root, root, root
    moves = True
    while moves:
        e, f = step(trees, a, cells, rows[0]), step(trees, b, cells, rows[1])
        g, h = step(trees, c, cells, rows[2]), step(trees, d, cells, rows[3])
        moves = e != a or f != b or g != c or h != d
        a, b, c, d = e, f, g, h
    nodes[0], nodes[1], nodes[2], nodes[3] = a, b, c, d


@inlined
def walk_tree(trees: PackedTrees, root: int, cells: Array, rows: Rows, nodes: Codes) -> None:
    """Fill the nodes that some rows come to in one tree."""
    fours = len(rows) // 4 * 4 if trees.plain else 0
    for i in range(0, fours, 4):
        walk_four(trees, root, cells, rows[i : i + 4], nodes[i : i + 4])
    for i in range(fours, len(rows)):
        nodes[i] = reached_of(trees, root, cells, rows[i])


@compiled
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
            walk_tree(trees, int(np.int64(roots[tree])), cells, rows[begin:end], reached)
            first = (tree % turns) * width
            for i in range(end - begin):
                for k in range(width):
                    answers[begin + i, first + k] += value[reached[i], k]
