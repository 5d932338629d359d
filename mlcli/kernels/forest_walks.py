"""Compiled walks through trees that lie behind one another in one array, from each root to a leaf."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.kernels.without_counting import compiled, inlined

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


@inlined
def leaf_of(wood: Wood, root: int, cells: Array, row: int) -> int:
    """The leaf that a row comes to."""
    node = root
    while wood.nodes[node]["feature"] >= 0:
        asked = wood.nodes[node]["feature"]
        right = goes_right(wood, node, asked, cells[row, asked])
        node = wood.nodes[node]["left"] + right
    return int(wood.nodes[node]["left"])


@inlined
def leaf_with(wood: Wood, root: int, cells: Array, row: int, feature: int, cell: float) -> int:
    """The leaf that a row comes to with another cell in one column."""
    node = root
    while wood.nodes[node]["feature"] >= 0:
        asked = wood.nodes[node]["feature"]
        right = goes_right(wood, node, asked, cell if asked == feature else cells[row, asked])
        node = wood.nodes[node]["left"] + right
    return int(wood.nodes[node]["left"])


@inlined
def goes_right(wood: Wood, node: int, asked: int, cell: float) -> bool:
    """Whether a cell goes to the right: above the threshold, or not the level."""
    threshold = wood.nodes[node]["threshold"]
    if wood.plain:
        return bool(cell > threshold)
    if np.isnan(cell):
        return not wood.missing_left[node]
    return bool(cell > threshold if wood.ordered[asked] else cell != threshold)


@inlined
def step(wood: Wood, node: int, cells: Array, row: int) -> int:
    """The next node of a row; a leaf is its own, and no branch of the code depends on it."""
    asked = wood.nodes[node]["feature"]
    right = goes_right(wood, node, max(asked, 0), cells[row, max(asked, 0)])
    return int(wood.nodes[node]["left"] + right if asked >= 0 else node)


@inlined
def four_leaves(wood: Wood, root: int, cells: Array, rows: Rows, leaves: Codes) -> None:
    """Four rows walk down together, so that none waits for the memory of another."""
    a, b, c, d = root, root, root, root
    asked = 0
    while asked >= 0:
        a, b = step(wood, a, cells, rows[0]), step(wood, b, cells, rows[1])
        c, d = step(wood, c, cells, rows[2]), step(wood, d, cells, rows[3])
        asked = max(
            max(wood.nodes[a]["feature"], wood.nodes[b]["feature"]),
            max(wood.nodes[c]["feature"], wood.nodes[d]["feature"]),
        )
    leaves[0], leaves[1] = wood.nodes[a]["left"], wood.nodes[b]["left"]
    leaves[2], leaves[3] = wood.nodes[c]["left"], wood.nodes[d]["left"]


@inlined
def leaves_of(wood: Wood, root: int, cells: Array, rows: Rows, leaves: Codes) -> None:
    """Fill ``leaves`` with those that some rows come to in one tree."""
    fours = len(rows) // 4 * 4
    for i in range(0, fours, 4):
        four_leaves(wood, root, cells, rows[i : i + 4], leaves[i : i + 4])
    for i in range(fours, len(rows)):
        leaves[i] = leaf_of(wood, root, cells, rows[i])


@compiled
def add_answers(
    wood: Wood, roots: Codes, cells: Array, value: Array, rows: Rows, leaves: Codes, answers: Array
) -> None:
    """Add what the leaves of all trees say of ``rows``, all in order, to the answers (n × K)."""
    for begin in range(0, len(cells), BLOCK):
        end = min(begin + BLOCK, len(cells))
        for root in roots:
            leaves_of(wood, root, cells, rows[begin:end], leaves)
            for i in range(end - begin):
                for k in range(value.shape[1]):
                    answers[begin + i, k] += value[leaves[i], k]


@compiled
def leaves_with(
    wood: Wood, root: int, cells: Array, rows: Rows, feature: int, others: Rows, leaves: Codes
) -> None:
    """The same with the cells of one column taken from other rows."""
    for i in range(len(rows)):
        leaves[i] = leaf_with(wood, root, cells, rows[i], feature, cells[others[i], feature])
