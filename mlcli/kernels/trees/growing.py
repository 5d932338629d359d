"""What growing a tree is made of, whatever its nodes sum up: they are numbered, and wait to be split.

A child comes after its parent, and two siblings side by side.
"""

from __future__ import annotations

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.without_counting import inlined

FEATURE, LOW, SIDE, LEFT, BEGIN, END, DEPTH = range(7)
"""Columns of ``nodes``: what is asked (bins up to ``LOW`` go left), the side of missing cells, the first child,
the rows, and the depth."""
LEAF = -1
"""The feature of a node that asks nothing."""
NO_LIMIT = 2**31 - 1
"""Of depth and of leaves."""


@inlined
def begin_tree(nodes: Codes, rows: int) -> None:
    """A root with all rows."""
    nodes[0, BEGIN], nodes[0, END], nodes[0, DEPTH] = 0, rows, 0


@inlined
def next_node(waiting: Rows, open_nodes: int, gain: Array, max_leaves: int) -> int:
    """Take from the open nodes the one that gains most, of equals the first; any if all will be split."""
    best = open_nodes - 1 if max_leaves == NO_LIMIT else 0
    for place in range(best + 1, open_nodes):
        node, other = waiting[place], waiting[best]
        if gain[node] > gain[other] or (gain[node] == gain[other] and node < other):
            best = place
    found = waiting[best]
    waiting[best] = waiting[open_nodes - 1]
    return int(found)


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


@inlined
def end_tree(nodes: Codes, waiting: Rows, open_nodes: int) -> None:
    """Nodes that still wait are leaves."""
    for place in range(open_nodes):
        nodes[waiting[place], FEATURE] = LEAF
