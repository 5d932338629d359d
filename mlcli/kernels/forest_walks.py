"""Compiled walks through trees that lie behind one another in one array, from each root to a leaf."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.kernels.without_counting import compiled

NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("left", np.int32)])
"""What a node asks; in a leaf, which has feature -1, ``left`` is its number among the leaves."""
BLOCK = 512
"""How many rows go through one tree before they go to the next."""


class Wood(NamedTuple):
    """The nodes of trees, and how cells are compared with what they ask."""

    nodes: np.ndarray[Any, Any]
    missing_left: Flags
    ordered: Flags
    plain: bool
    """Whether all columns are ordered and no cell is missing."""


@compiled
def leaf_of(wood: Wood, root: int, cells: Array, row: int) -> int:
    """The leaf that a row comes to."""
    node = root
    while wood.nodes[node]["feature"] >= 0:
        asked = wood.nodes[node]["feature"]
        right = goes_right(wood, node, asked, cells[row, asked])
        node = wood.nodes[node]["left"] + right
    return int(wood.nodes[node]["left"])


@compiled
def leaf_with(wood: Wood, root: int, cells: Array, row: int, feature: int, cell: float) -> int:
    """The leaf that a row comes to with another cell in one column."""
    node = root
    while wood.nodes[node]["feature"] >= 0:
        asked = wood.nodes[node]["feature"]
        right = goes_right(wood, node, asked, cell if asked == feature else cells[row, asked])
        node = wood.nodes[node]["left"] + right
    return int(wood.nodes[node]["left"])


@compiled
def goes_right(wood: Wood, node: int, asked: int, cell: float) -> bool:
    """Whether a cell goes to the right: above the threshold, or not the level."""
    threshold = wood.nodes[node]["threshold"]
    if wood.plain:
        return bool(cell > threshold)
    if np.isnan(cell):
        return not wood.missing_left[node]
    return bool(cell > threshold if wood.ordered[asked] else cell != threshold)


@compiled
def step(wood: Wood, node: int, cells: Array, row: int) -> int:
    """The next node of a row; a leaf is its own, and no branch of the code depends on it."""
    asked = wood.nodes[node]["feature"]
    right = goes_right(wood, node, max(asked, 0), cells[row, max(asked, 0)])
    return int(wood.nodes[node]["left"] + right if asked >= 0 else node)


@compiled
def add_four(wood: Wood, root: int, cells: Array, row: int, value: Array, answers: Array) -> None:
    """Four rows walk down together, so that none waits for the memory of another."""
    a, b, c, d = root, root, root, root
    asked = 0
    while asked >= 0:
        a, b = step(wood, a, cells, row), step(wood, b, cells, row + 1)
        c, d = step(wood, c, cells, row + 2), step(wood, d, cells, row + 3)
        asked = max(
            max(wood.nodes[a]["feature"], wood.nodes[b]["feature"]),
            max(wood.nodes[c]["feature"], wood.nodes[d]["feature"]),
        )
    for k in range(value.shape[1]):
        answers[row, k] += value[wood.nodes[a]["left"], k]
        answers[row + 1, k] += value[wood.nodes[b]["left"], k]
        answers[row + 2, k] += value[wood.nodes[c]["left"], k]
        answers[row + 3, k] += value[wood.nodes[d]["left"], k]


@compiled
def add_answers(wood: Wood, roots: Codes, cells: Array, value: Array, answers: Array) -> None:
    """Add the values of the leaves of all trees to the answers (n × K)."""
    for begin in range(0, len(cells), BLOCK):
        for root in roots:
            end = min(begin + BLOCK, len(cells))
            fours = begin + (end - begin) // 4 * 4
            for row in range(begin, fours, 4):
                add_four(wood, root, cells, row, value, answers)
            for row in range(fours, end):
                leaf = leaf_of(wood, root, cells, row)
                for k in range(value.shape[1]):
                    answers[row, k] += value[leaf, k]


@compiled
def leaves_of(wood: Wood, root: int, cells: Array, rows: Rows, leaves: Codes) -> None:
    """Fill ``leaves`` with those that some rows come to in one tree."""
    for i in range(len(rows)):
        leaves[i] = leaf_of(wood, root, cells, rows[i])


@compiled
def leaves_with(
    wood: Wood, root: int, cells: Array, rows: Rows, feature: int, others: Rows, leaves: Codes
) -> None:
    """The same with the cells of one column taken from other rows."""
    for i in range(len(rows)):
        leaves[i] = leaf_with(wood, root, cells, rows[i], feature, cells[others[i], feature])
