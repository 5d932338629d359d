"""Compiled dealing of rows to the two branches of a node, in training and of the rows out of a tree's bag."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Flags
from mlcli.kernels.binning import Bins
from mlcli.kernels.histograms import Columns, Ids
from mlcli.kernels.without_counting import compiled, inlined

FEATURE, LOW, HIGH, SIDE, LEFT, BEGIN, END, DEPTH = range(8)
"""What the columns of the nodes of a growing tree hold: what is asked (bins up to
``LOW`` go left, those from ``HIGH`` on right), the first child, the rows, and the depth."""
LEAF = -1
"""The feature of a node that asks nothing."""
NONE_MISSING = 2
"""The side of missing cells where there were none."""


class Settled(NamedTuple):
    """A tree as it is kept: of a leaf, ``left`` is its row in ``value``."""

    feature: Codes
    left: Codes
    threshold: Array
    missing_left: Flags
    value: Array
    worth: Array
    """The weighted impurity that each column takes away."""


@inlined
def deal(
    column: Bins, lowest: int, low: int, known: int, missing_left: bool, rows: Ids, right: Ids
) -> tuple[int, int]:
    """Put the rows in bins from ``lowest`` to ``low`` before the others, both in their order.

    Rows in the bin ``known`` miss the cell. How many go left, and how many miss; ``right`` is room. Nothing
    branches on a row, since nobody could foresee where it goes.
    """
    lefts, rights, missing = np.uint64(0), np.uint64(0), 0
    for i in range(len(rows)):
        row = rows[i]
        b = int(column[row])
        lost = b == known
        goes = ((b >= lowest) & (b <= low)) | (lost & missing_left)
        rows[lefts] = row
        right[rights] = row
        lefts += np.uint64(goes)
        rights += np.uint64(not goes)
        missing += lost
    rest = rows[lefts:]
    for i in range(len(rest)):
        rest[i] = right[i]
    return int(lefts), missing


@compiled
def deal_outside(
    columns: Columns, cells: Array, nodes: Codes, tree: Settled, rows: Ids, right: Ids, leaves: Codes
) -> None:
    """Deal the rows out of a tree's bag from its root to its leaves, and say the leaf of each.

    The spans of the training rows in ``nodes`` are overwritten.
    """
    nodes[0, BEGIN], nodes[0, END] = 0, len(rows)
    for node in range(len(tree.left)):
        begin, end, child = nodes[node, BEGIN], nodes[node, END], nodes[node, LEFT]
        if nodes[node, FEATURE] == LEAF:
            for i in range(begin, end):
                leaves[i] = tree.left[node]
            continue
        lefts = 0
        if begin < end:
            lefts = deal_by_cells(columns, cells, nodes[node], tree, node, rows[begin:end], right)
        nodes[child, BEGIN], nodes[child, END] = begin, begin + lefts
        nodes[child + 1, BEGIN], nodes[child + 1, END] = begin + lefts, end


@inlined
def deal_by_cells(
    columns: Columns, cells: Array, asked: Codes, tree: Settled, node: int, rows: Ids, right: Ids
) -> int:
    """Deal rows of which some may be in bins between those beside the cut, which no training row was in.

    They go where their cells lie. How many go left.
    """
    feature, low, high = asked[FEATURE], int(asked[LOW]), int(asked[HIGH])
    known, column = int(columns.known[feature]), columns.bins[feature]
    lowest = 0 if columns.ordered[feature] else low
    # A missing level is a level like others; only numbers that miss have a side of their own.
    missing_left, cut = tree.missing_left[node] and columns.ordered[feature], tree.threshold[node]
    lefts, rights = np.uint64(0), np.uint64(0)
    for i in range(len(rows)):
        row = rows[i]
        b = int(column[row])
        goes = ((b >= lowest) & (b <= low)) | ((b == known) & missing_left)
        if low < b < high:
            goes = cells[row, feature] <= cut
        rows[lefts] = row
        right[rights] = row
        lefts += np.uint64(goes)
        rights += np.uint64(not goes)
    rest = rows[lefts:]
    for i in range(len(rest)):
        rest[i] = right[i]
    return int(lefts)
