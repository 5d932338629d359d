"""Compiled numbering of a grown tree, level by level."""

from __future__ import annotations

from mlcli.core.tables import Codes, Rows
from mlcli.kernels.tree_layout import (
    CHILDREN,
    CODE,
    EMPTY,
    FEATURE,
    FIRST,
    Nodes,
)
from mlcli.kernels.without_counting import compiled


@compiled
def number(roots: int, count: int, nodes: Nodes, levels: Rows, order: Rows, asked: Codes) -> int:
    """Number nodes level by level: fill ``order`` with them, and ``asked`` with their columns in a tree.

    These are the feature, the first child, how many children there are, the child for missing cells, and where the
    children of levels begin, of which there are as many as is returned.
    """
    filled, mapped = roots, 0
    for new in range(count):
        if new < roots:
            order[new] = new
        node = order[new]
        feature, first, children, empty = nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN], -1
        left, offset = -1, -1
        if feature >= 0:
            left = filled
            empty = left + nodes[node, EMPTY] - first if nodes[node, EMPTY] >= 0 else -1
            for child in range(children):
                order[filled + child] = first + child
            filled += children
            if levels[feature]:
                offset = mapped
                mapped += levels[feature]
        asked[0, new], asked[1, new], asked[2, new], asked[3, new] = feature, left, children, empty
        asked[4, new] = offset
    return mapped


@compiled
def map_levels(nodes: Nodes, levels: Rows, order: Rows, asked: Codes, child_of: Codes) -> None:
    """Fill the child of every level: its own, that of the rest, or none (-1)."""
    for new in range(asked.shape[1]):
        left, children, offset = asked[1, new], asked[2, new], asked[4, new]
        if offset < 0:
            continue
        rest = left + 1 if nodes[order[left + 1], CODE] < 0 else -1
        for code in range(levels[asked[0, new]]):
            child_of[offset + code] = rest
        for child in range(left, left + children):
            if child != rest:
                child_of[offset + nodes[order[child], CODE]] = child
