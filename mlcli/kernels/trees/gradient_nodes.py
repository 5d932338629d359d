"""Compiled growing of a tree of gradients: a node's best split, the rows that go left, the sums of its children.

A node asks whether the bin of a column is among those that go left. Only the smaller child is summed up from its
rows; the other is what its parent has besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.trees.binning import Ids
from mlcli.kernels.trees.gradient_splits import (
    NOMINAL,
    GradientColumns,
    Scales,
    SplitRoom,
    best_split,
    hessian_of,
    score_of,
    sort_levels,
)
from mlcli.kernels.trees.gradient_sums import Bytes, Whole, add_rows, clear, subtract
from mlcli.kernels.trees.growing import (
    BEGIN,
    DEPTH,
    END,
    FEATURE,
    LEAF,
    LOW,
    SIDE,
    add_children,
    begin_tree,
    end_tree,
    next_node,
)
from mlcli.kernels.without_counting import compiled, inlined


class Slopes(NamedTuple):
    """Binned rows with their gradients, the nodes of a tree, and room for what these sum up to."""

    max_depth: int
    max_leaves: int
    columns: GradientColumns
    scales: Scales
    nodes: Codes
    gain: Array
    waiting: Rows
    right: Ids
    room: SplitRoom
    fixed: Whole
    pool: Whole
    """Leaves × columns × sums in all bins."""
    slots: Rows
    """Where in the pool the sums of each node lie."""
    beside: Whole
    bounds: Array
    sets: Bytes
    """Nodes × bins: whether a bin goes left."""
    totals: Whole
    scores: Array


@compiled
def grow(slopes: Slopes, rows: Ids) -> int:
    """Grow a tree on some rows, which it groups by node; how many nodes it has."""
    nodes, waiting = slopes.nodes, slopes.waiting
    begin_tree(nodes, len(rows))
    made, seen, leaves, open_nodes = int(np.int64(1)), int(np.int64(0)), 1, 0  # of the type that nodes have
    begin(slopes, rows)
    while True:
        while seen < made:
            waiting[open_nodes] = seen
            open_nodes += examine(slopes, seen, leaves)
            seen += 1
        if open_nodes == 0 or leaves >= slopes.max_leaves:
            break
        node = next_node(waiting, open_nodes, slopes.gain, slopes.max_leaves)
        made = add_children(nodes, node, made, divide(slopes, node, made, leaves, rows))
        open_nodes, leaves = open_nodes - 1, leaves + 1
    end_tree(nodes, waiting, open_nodes)
    return made


@inlined
def begin(slopes: Slopes, rows: Ids) -> None:
    """Sum up the root: all rows, in the first slot of the pool."""
    totals, bounds = slopes.totals, slopes.bounds
    totals[0, 0], totals[0, 1] = 0, 0
    for i in range(len(slopes.fixed)):
        totals[0, 0] += slopes.fixed[i, 0]
        totals[0, 1] += slopes.fixed[i, 1]
    bounds[0, 0], bounds[0, 1], slopes.slots[0] = -np.inf, np.inf, 0
    settle(slopes.slots[0], slopes.slots[0], slopes)  # a constant would have a type of its own
    clear(slopes.pool[0], slopes.columns.bins)
    add_rows(slopes.columns.blocks, rows, slopes.fixed, slopes.beside, slopes.pool[0])


@inlined
def examine(slopes: Slopes, node: int, leaves: int) -> bool:
    """Find the split of a node; whether there is one."""
    nodes, scales, total = slopes.nodes, slopes.scales, slopes.totals[node]
    nodes[node, FEATURE], slopes.gain[node] = LEAF, 0.0
    if leaves >= slopes.max_leaves or nodes[node, DEPTH] >= slopes.max_depth:
        return False
    if total[1] >> scales.shift < 2 * scales.least:
        return False
    sums = slopes.pool[slopes.slots[node]]
    gain, column, cut, left = best_split(sums, slopes.columns, total, scales, slopes.bounds[node], slopes.room)
    if gain > 0.0:
        slopes.gain[node] = gain
        nodes[node, FEATURE], nodes[node, LOW], nodes[node, SIDE] = column, cut, left
    return gain > 0.0


@inlined
def divide(slopes: Slopes, node: int, made: int, leaves: int, rows: Ids) -> int:
    """Deal the rows of a node to two children, summed up where they may be split; where the others begin."""
    nodes = slopes.nodes
    start, end, column = nodes[node, BEGIN], nodes[node, END], nodes[node, FEATURE]
    part(slopes, node, column, nodes[node, LOW], nodes[node, SIDE], slopes.totals[made])
    middle = start + deal_by_set(slopes.sets[node], slopes.columns.columns[column], rows[start:end], slopes.right)
    settle_children(slopes, node, made, slopes.columns.directions[column])
    if leaves + 1 < slopes.max_leaves and nodes[node, DEPTH] + 1 < slopes.max_depth:
        sum_up(slopes, node, made, leaves, rows[start:middle], rows[middle:end])
    return int(middle)


@inlined
def deal_by_set(goes_left: Bytes, bins: Bytes, rows: Ids, right: Ids) -> int:
    """Put the rows of a node that go left before the others, both in their order; how many do."""
    lefts, rights = 0, 0
    for i in range(len(rows)):
        row = rows[i]
        goes = int(goes_left[bins[row]])
        rows[lefts], right[rights] = row, row
        lefts += goes
        rights += 1 - goes
    for i in range(rights):
        rows[lefts + i] = right[i]
    return lefts


@inlined
def settle_children(slopes: Slopes, node: int, first: int, direction: int) -> None:
    """Score the children of a node; of their totals the first is known."""
    totals, scores, bounds = slopes.totals, slopes.scores, slopes.bounds
    for k in range(2):
        totals[first + 1, k] = totals[node, k] - totals[first, k]
    for child in range(first, first + 2):
        settle(child, node, slopes)
    # Where one side must score less, nothing on either side may ever pass the middle between them.
    middle = (scores[first] + scores[first + 1]) / 2.0
    if direction != 0:
        side = 1 if direction > 0 else 0
        bounds[first, side], bounds[first + 1, 1 - side] = middle, middle


@inlined
def settle(node: int, parent: int, slopes: Slopes) -> None:
    """What a node scores, within the bounds of its parent."""
    bounds, total, scales = slopes.bounds, slopes.totals[node], slopes.scales
    bounds[node, 0], bounds[node, 1] = bounds[parent, 0], bounds[parent, 1]
    hessian = hessian_of(total[1], scales) + scales.l2
    slopes.scores[node] = score_of(total[0] * scales.gradient, hessian, bounds[node])


@inlined
def sum_up(slopes: Slopes, node: int, first: int, fresh: int, lefts: Ids, rights: Ids) -> None:
    """The smaller child is summed up in a fresh slot of the pool; what its parent has besides is the other's.

    A child with few rows is sooner summed up than found by subtraction.
    """
    own, bins, blocks = slopes.slots[node], slopes.columns.bins, slopes.columns.blocks
    smaller = first if len(lefts) <= len(rights) else first + 1
    slopes.slots[first], slopes.slots[first + 1] = own, own
    slopes.slots[smaller] = fresh
    is_short = max(len(lefts), len(rights)) * len(bins) < bins.sum()
    for child in range(first, first + 2):
        if is_short or child == smaller:
            sums = slopes.pool[slopes.slots[child]]
            clear(sums, bins)
            add_rows(blocks, lefts if child == first else rights, slopes.fixed, slopes.beside, sums)
    if not is_short:
        subtract(slopes.pool[own], slopes.pool[fresh], bins)


@inlined
def part(slopes: Slopes, node: int, column: int, cut: int, missing_left: int, left: Whole) -> None:
    """Fill which bins go left of a split, and what lies there; bins without rows go with the heavier side."""
    sums, goes_left = slopes.pool[slopes.slots[node], column], slopes.sets[node]
    known, nominal = slopes.columns.known[column], slopes.columns.kinds[column] == NOMINAL
    shift = slopes.scales.shift
    for b in range(len(goes_left)):
        goes_left[b] = (b <= cut) & (b < known) & (not nominal)
    if nominal:
        sort_levels(sums, known, slopes.scales, slopes.room)
        for place in range(cut + 1):
            goes_left[slopes.room.order[place]] = 1
    goes_left[known] |= missing_left
    left[0], left[1] = 0, 0
    for b in range(known + 1):
        if goes_left[b]:
            left[0] += sums[2 * b]
            left[1] += sums[2 * b + 1]
    heavier = 2 * (left[1] >> shift) >= slopes.totals[node, 1] >> shift
    for b in range(0 if nominal else known, known + 1):
        if sums[2 * b + 1] == 0:
            goes_left[b] = heavier
