"""Compiled asking of trees: every row walks down from its root to the node that answers it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.without_counting import compiled, inlined

NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("left", np.int32)])
"""What a node asks, and its first child; a leaf leads to itself, whatever the cell."""
MISSING, OFFSET = range(2)
"""Columns of ``others``: the child for missing cells, and where in ``child_of`` those of levels begin, or -1."""


@inlined
def step(node: int, row: int, cells: Array, nodes: np.ndarray[Any, Any]) -> int:
    """The next node of a row whose cell is known; a leaf is its own."""
    right: int = int(nodes[node]["left"]) + (cells[row, nodes[node]["feature"]] > nodes[node]["threshold"])
    return right


@inlined
def lacks(node: int, row: int, cells: Array, nodes: np.ndarray[Any, Any]) -> bool:
    """Whether the cell that is asked for is missing."""
    return bool(np.isnan(cells[row, nodes[node]["feature"]]))


@compiled
def walk_by_numbers(cells: Array, nodes: np.ndarray[Any, Any], reached: Rows) -> int:
    """Turn the root of each row into the node that answers it, while only numbers are asked for that are known.

    Four rows walk side by side, so that none waits for the memory of another. How many rows have arrived.
    """
    for begin in range(0, len(reached) if len(reached) > 3 else 0, 4):
        row = min(begin, len(reached) - 4)  # who has arrived stays there
        a, b, c, d = reached[row], reached[row + 1], reached[row + 2], reached[row + 3]
        moves = True
        while moves:
            if lacks(a, row, cells, nodes) or lacks(b, row + 1, cells, nodes):
                return row
            if lacks(c, row + 2, cells, nodes) or lacks(d, row + 3, cells, nodes):
                return row
            e, f = step(a, row, cells, nodes), step(b, row + 1, cells, nodes)
            g, h = step(c, row + 2, cells, nodes), step(d, row + 3, cells, nodes)
            moves = e != a or f != b or g != c or h != d
            a, b, c, d = e, f, g, h
        reached[row], reached[row + 1], reached[row + 2], reached[row + 3] = a, b, c, d
    return len(reached) if len(reached) > 3 else 0


@compiled
def walk(
    begin: int, cells: Array, nodes: np.ndarray[Any, Any], others: Codes, child_of: Codes, reached: Rows
) -> None:
    """The same for rows from ``begin`` on, whatever is asked and whatever is missing."""
    for row in range(begin, len(reached)):
        node, following = -1, reached[row]
        while following >= 0 and following != node:
            node = following
            cell = cells[row, nodes[node]["feature"]]
            if others[node, OFFSET] >= 0:
                following = np.int64(child_of[others[node, OFFSET] + int(cell)])
            elif np.isnan(cell) and nodes[node]["left"] != node:
                following = np.int64(others[node, MISSING])
            else:
                following = step(node, row, cells, nodes)
        reached[row] = node
