"""Compiled growing of one tree of a boosted sum, from binned columns and the gradients of the rows.

A node asks whether the bin of a column is among those that go left; 32 bytes say which. Children lie side by side
behind their parents. Only the smaller child is summed up from its rows; the other is what its parent has besides.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.trees.gradient_splits import (
    GOES_LEFT,
    NOMINAL,
    ORDER,
    best_split,
    by_score,
    hessian_of,
    score_of,
)
from mlcli.kernels.trees.gradient_sums import PER_COLUMN, Bytes, Whole, add_rows, clear, subtract
from mlcli.kernels.without_counting import compiled, inlined

LEAF = -1
LEAF_WISE, DEPTH_WISE = 0, 1
"""Which leaf is split next: the one that gains most, or that one among the least deep."""
COLUMN, CUT, MISSING_LEFT, SLOT, DEPTH = range(5)
"""What is noted of each node: its best split, where its sums lie, and how many questions lead to it."""


@inlined
def deal(rows: Codes, begin: int, end: int, column: Bytes, goes_left: Whole, spare: Codes) -> int:
    """Put the rows that go left before the others, both in their order; where the others begin."""
    middle, right = begin, 0
    for i in range(begin, end):
        row = rows[i]
        goes = goes_left[column[row]]
        rows[middle], spare[right] = row, row
        middle += goes
        right += 1 - goes
    for i in range(right):
        rows[middle + i] = spare[i]
    return middle


@inlined
def part(
    sums: Whole, known: int, kind: int, cut: int, missing_left: int, total: Whole, units: Array, whole: Whole,
    room: Whole, ratios: Array, left: Whole,
) -> None:  # fmt: skip
    """Fill which bins go left of a split, and what lies there; bins without rows go with the heavier side."""
    goes_left, order = room[GOES_LEFT], room[ORDER]
    for b in range(len(goes_left)):
        goes_left[b] = 1 if b <= cut and b < known and kind != NOMINAL else 0
    if kind == NOMINAL:
        by_score(sums, known, units, whole, order, ratios)
        for place in range(cut + 1):
            goes_left[order[place]] = 1
    goes_left[known] |= missing_left
    left[0], left[1] = 0, 0
    for b in range(known + 1):
        if goes_left[b]:
            left[0] += sums[2 * b]
            left[1] += sums[2 * b + 1]
    heavier = 1 if 2 * (left[1] >> whole[1]) >= total[1] >> whole[1] else 0
    for b in range(0 if kind == NOMINAL else known, known + 1):
        if sums[2 * b + 1] == 0:
            goes_left[b] = heavier


@inlined
def eighths(goes_left: Whole, packed: Bytes) -> None:
    """Fill ``packed`` with the same truths, eight to a byte, the first in the lowest bit."""
    for k in range(len(packed)):
        byte = 0
        for bit in range(8):
            byte |= goes_left[8 * k + bit] << bit
        packed[k] = byte


@inlined
def next_to_split(gains: Array, asked: Rows, nodes: int, growth: int) -> int:
    """The leaf that is split next, or LEAF where none gains."""
    best = LEAF
    for node in range(nodes):
        if gains[node] <= 0.0:
            continue
        if best == LEAF:
            best = node
        elif growth == DEPTH_WISE and asked[node, DEPTH] != asked[best, DEPTH]:
            best = node if asked[node, DEPTH] < asked[best, DEPTH] else best
        elif gains[node] > gains[best]:
            best = node
    return best


@inlined
def divide(
    node: int, first: int, direction: int, column: Bytes, rows: Codes, spare: Codes, units: Array, whole: Whole,
    room: Whole, total: Whole, span: Rows, scores: Array, bounds: Array,
) -> None:  # fmt: skip
    """Deal the rows of a node to its children ``first`` and ``first + 1``; of their totals the first is known."""
    second, begin, end = first + 1, span[node, 0], span[node, 1]
    middle = deal(rows, begin, end, column, room[GOES_LEFT], spare)
    span[first, 0], span[first, 1], span[second, 0], span[second, 1] = begin, middle, middle, end
    for k in range(2):
        total[second, k] = total[node, k] - total[first, k]
    for child in range(first, second + 1):
        settle(child, node, units, whole, total, scores, bounds)
    # Where one side must score less, nothing on either side may ever pass the middle between them.
    middle_score = (scores[first] + scores[second]) / 2.0
    if direction != 0:
        side = 1 if direction > 0 else 0
        bounds[first, side], bounds[second, 1 - side] = middle_score, middle_score


@inlined
def settle(node: int, parent: int, units: Array, whole: Whole, total: Whole, scores: Array, bounds: Array) -> None:
    """What a node scores, within the bounds of its parent."""
    bounds[node, 0], bounds[node, 1] = bounds[parent, 0], bounds[parent, 1]
    hessian = hessian_of(total[node, 1], units, whole) + units[2]
    scores[node] = score_of(total[node, 0] * units[0], hessian, bounds[node, 0], bounds[node, 1])


@inlined
def sum_up(
    node: int, first: int, fresh: int, blocks: Bytes, rows: Codes, fixed: Whole, beside: Whole, bins: Rows,
    span: Rows, pool: Whole, asked: Rows,
) -> None:  # fmt: skip
    """The smaller child is summed up in a fresh slot of the pool; what its parent has besides is the other's.

    A child with few rows is sooner summed up than found by subtraction.
    """
    smaller = first if span[first, 1] - span[first, 0] <= span[first + 1, 1] - span[first + 1, 0] else first + 1
    larger, most = 2 * first + 1 - smaller, 0
    for b in range(len(bins)):
        most += bins[b]
    own = asked[node, SLOT]
    asked[smaller, SLOT], asked[larger, SLOT] = fresh, own
    is_short = (span[larger, 1] - span[larger, 0]) * len(bins) < most
    for child in range(first, first + 2) if is_short else range(smaller, smaller + 1):
        slot = asked[child, SLOT]
        clear(pool[slot], bins)
        add_rows(blocks, rows[span[child, 0] : span[child, 1]], fixed, beside, pool[slot])
    if not is_short:
        subtract(pool[own], pool[fresh], bins)


@inlined
def may_split(node: int, depth: int, total: Whole, whole: Whole, limits: Rows) -> bool:
    """Whether a node is heavy enough for two leaves, and not too deep."""
    heavy: bool = total[node, 1] >> whole[1] >= 2 * whole[0]
    return heavy and depth < limits[1]


@inlined
def begin(
    rows: Codes, fixed: Whole, units: Array, whole: Whole, left: Codes, scores: Array, gains: Array, total: Whole,
    span: Rows, asked: Rows, bounds: Array,
) -> None:  # fmt: skip
    """The root: all rows, in the first slot."""
    total[0, 0], total[0, 1] = 0, 0
    for i in range(len(fixed)):
        total[0, 0] += fixed[i, 0]
        total[0, 1] += fixed[i, 1]
    span[0, 0], span[0, 1], bounds[0, 0], bounds[0, 1] = 0, len(rows), -np.inf, np.inf
    left[0], gains[0], asked[0, DEPTH], asked[0, SLOT] = LEAF, 0.0, 0, 0
    settle(span[0, 0], span[0, 0], units, whole, total, scores, bounds)


@compiled
def grow(
    blocks: Bytes, columns: Bytes, bins: Rows, known: Rows, kinds: Rows, directions: Rows, fixed: Whole,
    units: Array, whole: Whole, limits: Rows, rows: Codes, pool: Whole, spare: Codes, beside: Whole, room: Whole,
    ordered: Whole, found: Array, bounds: Array,
    asked: Rows, left: Codes, sets: Bytes, scores: Array, gains: Array, total: Whole, span: Rows,
) -> int:  # fmt: skip
    """Grow one tree into the arrays of the last line, and tell how many nodes it has.

    ``limits`` are the most leaves, the most questions before one, and which leaf is split next. ``rows`` come out
    grouped by leaf; ``span`` says where. ``gains`` of a node that asks are negative: what it gained, less than 0.
    """
    begin(rows, fixed, units, whole, left, scores, gains, total, span, asked, bounds)
    first = span[0, 0]  # a constant would have a type of its own, for which all would be compiled again
    nodes, leaves = first + 1, first + 1
    if may_split(first, asked[0, DEPTH], total, whole, limits):
        clear(pool[0], bins)
        add_rows(blocks, rows, fixed, beside, pool[0])
    while leaves < limits[0]:
        for child in range(first, nodes):
            if may_split(child, asked[child, DEPTH], total, whole, limits):
                gains[child], asked[child, COLUMN], asked[child, CUT], asked[child, MISSING_LEFT] = best_split(
                    pool[asked[child, SLOT]], known, kinds, total[child], units, whole,
                    span[child, 1] - span[child, 0], directions, bounds[child], room, ordered, found,
                )  # fmt: skip
        node = next_to_split(gains, asked, nodes, limits[2])
        if node == LEAF:
            break
        first, column = nodes, asked[node, COLUMN]
        nodes, leaves = nodes + 2, leaves + 1
        part(
            pool[asked[node, SLOT], column * PER_COLUMN : (column + 1) * PER_COLUMN], known[column], kinds[column],
            asked[node, CUT], asked[node, MISSING_LEFT], total[node], units, whole, room, found, total[first],
        )  # fmt: skip
        eighths(room[GOES_LEFT], sets[node])
        divide(
            node, first, directions[column], columns[column], rows, spare, units, whole, room, total, span, scores,
            bounds,
        )  # fmt: skip
        left[node], gains[node] = first, -gains[node]
        on = False
        for child in range(first, nodes):
            left[child], gains[child], asked[child, DEPTH] = LEAF, 0.0, asked[node, DEPTH] + 1
            on |= may_split(child, asked[child, DEPTH], total, whole, limits)
        if on and leaves < limits[0]:
            sum_up(node, first, leaves - 1, blocks, rows, fixed, beside, bins, span, pool, asked)
    return int(nodes)
