"""Compiled stages of a node of gradients: its best split, the rows that go left, and the sums of its children.

A node asks whether the bin of a column is among those that go left. Only the smaller child is summed up from its
rows; the other is what its parent has besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
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
from mlcli.kernels.trees.nodes import BEGIN, DEPTH, END, FEATURE, LEAF, LOW, SIDE, Grown, Limits
from mlcli.kernels.trees.sums import Ids
from mlcli.kernels.without_counting import inlined


class Slopes(NamedTuple):
    """Binned rows with their gradients, and room for the sums of nodes."""

    columns: GradientColumns
    scales: Scales
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
def examine_slopes(slopes: Slopes, limits: Limits, node: int, leaves: int, grown: Grown) -> bool:
    """Find the split of a node; whether there is one."""
    nodes, scales, total = grown.nodes, slopes.scales, slopes.totals[node]
    nodes[node, FEATURE], grown.gain[node] = LEAF, 0.0
    if leaves >= limits.max_leaves or nodes[node, DEPTH] >= limits.max_depth:
        return False
    if total[1] >> scales.shift < 2 * scales.least:
        return False
    sums = slopes.pool[slopes.slots[node]]
    gain, column, cut, left = best_split(sums, slopes.columns, total, scales, slopes.bounds[node], slopes.room)
    if gain > 0.0:
        grown.gain[node] = gain
        nodes[node, FEATURE], nodes[node, LOW], nodes[node, SIDE] = column, cut, left
    return gain > 0.0


@inlined
def divide_slopes(
    slopes: Slopes, node: int, nodes: Codes, made: int, leaves: int, limits: Limits, rows: Ids, right: Ids
) -> int:
    """Deal the rows of a node to two children, summed up where they may be split; where the others begin."""
    start, end, column = nodes[node, BEGIN], nodes[node, END], nodes[node, FEATURE]
    part(slopes, node, column, nodes[node, LOW], nodes[node, SIDE], slopes.totals[made])
    middle = start + deal_by_set(slopes.sets[node], slopes.columns.columns[column], rows[start:end], right)
    settle_children(slopes, node, made, slopes.columns.directions[column])
    if leaves + 1 < limits.max_leaves and nodes[node, DEPTH] + 1 < limits.max_depth:
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
