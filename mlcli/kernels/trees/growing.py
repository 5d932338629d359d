"""Compiled growing of one tree on binned columns: search a node, deal its rows to two children, take the next.

A child comes after its parent, and two siblings side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.trees.gradient_nodes import Slopes, begin, divide_slopes, examine_slopes
from mlcli.kernels.trees.nodes import (
    BEGIN,
    DEPTH,
    END,
    FEATURE,
    LEAF,
    LEFT,
    NO_LIMIT,
    Grown,
    Limits,
    Space,
    divide,
    examine,
)
from mlcli.kernels.trees.splits import Chance
from mlcli.kernels.trees.sums import Columns
from mlcli.kernels.without_counting import compiled, inlined


@compiled
def grow(
    columns: Columns | None, targets: Any, unit: float, limits: Limits, grown: Grown, space: Space,
    chance: Chance | None, slopes: Slopes | None,
) -> int:  # fmt: skip
    """Grow a tree on the rows of ``space``; how many nodes it has.

    With ``chance`` a cut of each column is drawn, otherwise the best is searched for. An amount is a whole
    number of ``unit``. With ``slopes``, and neither columns nor targets, a tree is grown on gradients; what is
    None is not compiled.
    """
    nodes, waiting = grown.nodes, space.waiting
    nodes[0, BEGIN], nodes[0, END], nodes[0, DEPTH] = 0, len(space.rows), 0
    made, seen, leaves, open_nodes = int(np.int64(1)), int(np.int64(0)), 1, 0  # of the type that nodes have
    if slopes is not None:
        begin(slopes, space.rows)
    while True:
        while seen < made:
            waiting[open_nodes] = seen
            if columns is not None:
                open_nodes += examine(columns, targets, unit, limits, seen, grown, space, chance)
            if slopes is not None:
                open_nodes += examine_slopes(slopes, limits, seen, leaves, grown)
            seen += 1
        if open_nodes == 0 or leaves >= limits.max_leaves:
            break
        place = next_place(waiting, open_nodes, grown.gain, limits.max_leaves)
        node = waiting[place]
        open_nodes -= 1
        waiting[place] = waiting[open_nodes]
        middle = int(np.int64(0))
        if columns is not None:
            middle = divide(columns, node, nodes, space.rows, space.right)
        if slopes is not None:
            middle = divide_slopes(slopes, node, nodes, made, leaves, limits, space.rows, space.right)
        made = add_children(nodes, node, made, middle)
        leaves += 1
    for place in range(open_nodes):
        nodes[waiting[place], FEATURE] = LEAF
    return made


@inlined
def next_place(waiting: Rows, open_nodes: int, gain: Array, max_leaves: int) -> int:
    """Where the open node stands that is split next: what gains most, of equals the first; any if all will be."""
    best = open_nodes - 1 if max_leaves == NO_LIMIT else 0
    for place in range(best + 1, open_nodes):
        node, other = waiting[place], waiting[best]
        if gain[node] > gain[other] or (gain[node] == gain[other] and node < other):
            best = place
    return best


@inlined
def add_children(nodes: Codes, node: int, made: int, middle: int) -> int:
    """Two nodes, whose rows meet at the middle; how many there are then."""
    nodes[node, LEFT] = made
    for child in range(2):
        nodes[made, BEGIN] = middle if child else nodes[node, BEGIN]
        nodes[made, END] = nodes[node, END] if child else middle
        nodes[made, DEPTH] = nodes[node, DEPTH] + 1
        made += 1
    return made
