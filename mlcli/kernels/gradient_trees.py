"""Compiled growing of one tree of a boosted sum, from binned columns and the gradients of the rows.

A node asks whether the bin of a column is among those that go left; 32 bytes say which. Children lie side by side
behind their parents. Only the smaller child is summed up from its rows; the other is what its parent has besides.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.gradient_histograms import BINS, BLOCK, PER_COLUMN, Bytes, Whole, add_rows, clear, subtract
from mlcli.kernels.gradient_splits import NOMINAL, best_split, by_score, hessian_of, score_of

LEAF = -1
LEAF_WISE, DEPTH_WISE = 0, 1
"""Which leaf is split next: the one that gains most, or that one among the least deep."""
COLUMN, CUT, MISSING_LEFT, SLOT, DEPTH = range(5)
"""What is noted of each node: its best split, where its sums lie, and how many questions lead to it."""


@njit(cache=True, nogil=True, error_model="numpy")
def deal(rows: Codes, column: Bytes, goes_left: Rows, spare: Codes) -> int:
    """Put the rows that go left before the others, both in their order; how many go left."""
    left, right = 0, 0
    for i in range(len(rows)):
        row = rows[i]
        goes = goes_left[column[row]]
        rows[left], spare[right] = row, row
        left += goes
        right += 1 - goes
    rows[left:] = spare[:right]
    return left


@njit(cache=True, nogil=True, error_model="numpy")
def part(
    sums: Whole, known: int, kind: int, cut: int, missing_left: bool, total: Whole, units: Array, whole: Whole,
    goes_left: Rows, left: Whole,
) -> None:  # fmt: skip
    """Fill which bins go left of a split, and what lies there; bins without rows go with the heavier side."""
    order = by_score(sums, known, units, whole) if kind == NOMINAL else np.arange(known)
    goes_left[:] = 0
    goes_left[order[: cut + 1]] = 1
    goes_left[known] |= missing_left
    left[:] = 0
    for bin_ in range(known + 1):
        if goes_left[bin_]:
            left[0] += sums[2 * bin_]
            left[1] += sums[2 * bin_ + 1]
    heavier = 2 * (left[1] >> whole[1]) >= total[1] >> whole[1]
    for bin_ in range(0 if kind == NOMINAL else known, known + 1):
        if sums[2 * bin_ + 1] == 0:
            goes_left[bin_] = heavier


@njit(cache=True, nogil=True, error_model="numpy")
def eighths(goes_left: Rows, packed: Bytes) -> None:
    """Fill ``packed`` with the same truths, eight to a byte, the first in the lowest bit."""
    for k in range(len(packed)):
        byte = 0
        for bit in range(8):
            byte |= goes_left[8 * k + bit] << bit
        packed[k] = byte


@njit(cache=True, nogil=True, error_model="numpy")
def next_to_split(gains: Array, depths: Rows, growth: int) -> int:
    """The leaf that is split next, or LEAF where none gains."""
    best = LEAF
    for node in range(len(gains)):
        if gains[node] <= 0.0:
            continue
        if best == LEAF:
            best = node
        elif growth == DEPTH_WISE and depths[node] != depths[best]:
            best = node if depths[node] < depths[best] else best
        elif gains[node] > gains[best]:
            best = node
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def search(
    node: int, sums: Whole, known: Rows, kinds: Rows, directions: Rows, units: Array, whole: Whole,
    total: Whole, span: Rows, bounds: Array, along: Whole, found: Array, gains: Array, asked: Rows,
) -> None:  # fmt: skip
    """Note the best split of a node."""
    gains[node], asked[node, COLUMN], asked[node, CUT], asked[node, MISSING_LEFT] = best_split(
        sums, known, kinds, total[node], units, whole, span[node, 1] - span[node, 0], directions, bounds[node],
        along, found,
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def divide(
    node: int, first: int, direction: int, goes_left: Rows, column: Bytes, rows: Codes, spare: Codes,
    units: Array, whole: Whole, total: Whole, span: Rows, scores: Array, bounds: Array,
) -> None:  # fmt: skip
    """Deal the rows of a node to its children ``first`` and ``first + 1``; of their totals the first is known."""
    second, begin, end = first + 1, span[node, 0], span[node, 1]
    total[second] = total[node] - total[first]
    middle = begin + deal(rows[begin:end], column, goes_left, spare)
    span[first, 0], span[first, 1], span[second, 0], span[second, 1] = begin, middle, middle, end
    for child in (first, second):
        gradient, hessian = total[child, 0] * units[0], hessian_of(total[child, 1], units, whole)
        scores[child] = score_of(gradient, hessian + units[2], bounds[node, 0], bounds[node, 1])
        bounds[child] = bounds[node]
    # Where one side must score less, nothing on either side may ever pass the middle between them.
    middle_score = (scores[first] + scores[second]) / 2.0
    if direction != 0:
        side = 1 if direction > 0 else 0
        bounds[first, side], bounds[second, 1 - side] = middle_score, middle_score


@njit(cache=True, nogil=True, error_model="numpy")
def sum_up(
    node: int, first: int, fresh: int, blocks: Bytes, rows: Codes, fixed: Whole, beside: Whole, bins: Rows,
    span: Rows, pool: Whole, asked: Rows,
) -> None:  # fmt: skip
    """The smaller child is summed up in a fresh slot of the pool; what its parent has besides is the other's.

    A child with few rows is sooner summed up than found by subtraction.
    """
    left_is_smaller = span[first, 1] - span[first, 0] <= span[first + 1, 1] - span[first + 1, 0]
    smaller, larger = (first, first + 1) if left_is_smaller else (first + 1, first)
    asked[smaller, SLOT], asked[larger, SLOT] = fresh, asked[node, SLOT]
    clear(pool[fresh], bins)
    add_rows(blocks, rows[span[smaller, 0] : span[smaller, 1]], fixed, beside, pool[fresh])
    others = rows[span[larger, 0] : span[larger, 1]]
    if len(others) * len(bins) < bins.sum():
        clear(pool[asked[node, SLOT]], bins)
        add_rows(blocks, others, fixed, beside, pool[asked[node, SLOT]])
    else:
        subtract(pool[asked[node, SLOT]], pool[fresh], bins)


@njit(cache=True, nogil=True, error_model="numpy")
def may_split(total: Whole, depth: int, whole: Whole, limits: Rows) -> bool:
    """Whether a node is heavy enough for two leaves, and not too deep."""
    heavy: bool = total[1] >> whole[1] >= 2 * whole[0]
    return heavy and depth < limits[1]


@njit(cache=True, nogil=True, error_model="numpy")
def grow(
    blocks: Bytes, columns: Bytes, known: Rows, kinds: Rows, directions: Rows, fixed: Whole, units: Array,
    whole: Whole, limits: Rows, pool: Whole, rows: Codes, spare: Codes, beside: Whole,
    asked: Rows, left: Codes, sets: Bytes, scores: Array, gains: Array, total: Whole, span: Rows,
) -> int:  # fmt: skip
    """Grow one tree into the arrays of the last line, and tell how many nodes it has.

    ``limits`` are the most leaves, the most questions before one, and which leaf is split next. ``rows`` come out
    grouped by leaf; ``span`` says where. ``gains`` of a node that asks are negative: what it gained, less than 0.
    """
    bounds = np.empty((len(left), 2))
    along, found = np.empty((2, BINS), np.int64), np.empty(BINS)
    goes_left, all_bins = np.zeros(BINS, np.intp), np.ones(BLOCK * len(blocks), np.intp)
    all_bins[: len(known)] += known
    total[0, 0], total[0, 1] = fixed[:, 0].sum(), fixed[:, 1].sum()
    span[0, 0], span[0, 1], bounds[0, 0], bounds[0, 1] = 0, len(rows), -np.inf, np.inf
    scores[0] = score_of(total[0, 0] * units[0], hessian_of(total[0, 1], units, whole) + units[2], -np.inf, np.inf)
    left[0], gains[0], asked[0, DEPTH], asked[0, SLOT] = LEAF, 0.0, 0, 0
    if may_split(total[0], 0, whole, limits):
        clear(pool[0], all_bins)
        add_rows(blocks, rows, fixed, beside, pool[0])
        search(0, pool[0], known, kinds, directions, units, whole, total, span, bounds, along, found, gains, asked)
    nodes = 1
    for leaves in range(2, limits[0] + 1):
        node = next_to_split(gains[:nodes], asked[:, DEPTH], limits[2])
        if node == LEAF:
            break
        first, column, slot = nodes, asked[node, COLUMN], asked[node, SLOT]
        nodes += 2
        part(
            pool[slot, column * PER_COLUMN : (column + 1) * PER_COLUMN], known[column], kinds[column],
            asked[node, CUT], asked[node, MISSING_LEFT] > 0, total[node], units, whole, goes_left, total[first],
        )  # fmt: skip
        eighths(goes_left, sets[node])
        divide(
            node, first, directions[column], goes_left, columns[column], rows, spare, units, whole, total, span,
            scores, bounds,
        )  # fmt: skip
        left[node], gains[node] = first, -gains[node]
        left[first:nodes], gains[first:nodes], asked[first:nodes, DEPTH] = LEAF, 0.0, asked[node, DEPTH] + 1
        deeper = asked[first, DEPTH]
        if leaves == limits[0] or not (
            may_split(total[first], deeper, whole, limits) or may_split(total[first + 1], deeper, whole, limits)
        ):
            continue
        sum_up(node, first, leaves - 1, blocks, rows, fixed, beside, all_bins, span, pool, asked)
        for child in range(first, nodes):
            if may_split(total[child], deeper, whole, limits):
                search(
                    child, pool[asked[child, SLOT]], known, kinds, directions, units, whole, total, span, bounds,
                    along, found, gains, asked,
                )  # fmt: skip
    return nodes
