"""Compiled stages of a node of gradients: its best split, the rows that go left, and the sums of its children.

A node asks whether the bin of a column is among those that go left; 32 bytes say which. Only the smaller child is
summed up from its rows; the other is what its parent has besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Rows
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
from mlcli.kernels.trees.sums import Ids
from mlcli.kernels.without_counting import inlined


class Slopes(NamedTuple):
    """Binned rows with their gradients, and room for the sums of nodes."""

    blocks: Bytes
    columns: Bytes
    bins: Rows
    """How many bins each column of the blocks may have, that of missing cells included."""
    known: Rows
    kinds: Rows
    directions: Rows
    fixed: Whole
    units: Array
    whole: Whole
    pool: Whole
    """Leaves × sums in all bins of all columns."""
    slots: Rows
    """Where in the pool the sums of each node lie."""
    beside: Whole
    of_bins: Whole
    """Four rows about the bins of a column."""
    ordered: Whole
    """The sums of a column in another order."""
    found: Array
    """What each cut of a column gains."""
    bounds: Array
    sets: Bytes
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
    clear(slopes.pool[0], slopes.bins)
    add_rows(slopes.blocks, rows, slopes.fixed, slopes.beside, slopes.pool[0])


@inlined
def best_of_node(slopes: Slopes, node: int, rows: int) -> tuple[float, int, int, bool]:
    """What the best split of a node gains, its column, its cut, and whether missing cells go left; 0 for none."""
    if slopes.totals[node, 1] >> slopes.whole[1] < 2 * slopes.whole[0]:
        return 0.0, -1, 0, False
    return best_split(
        slopes.pool[slopes.slots[node]], slopes.known, slopes.kinds, slopes.totals[node], slopes.units,
        slopes.whole, rows, slopes.directions, slopes.bounds[node], slopes.of_bins, slopes.ordered, slopes.found,
    )  # fmt: skip


@inlined
def deal_by_set(
    slopes: Slopes, node: int, column: int, cut: int, missing_left: int, first: int, rows: Ids, right: Ids
) -> int:
    """Put the rows of a node that go left before the others, both in their order; how many do."""
    goes_left, bins, lefts, rights = slopes.of_bins[GOES_LEFT], slopes.columns[column], 0, 0
    sums = slopes.pool[slopes.slots[node], column * PER_COLUMN : (column + 1) * PER_COLUMN]
    part(
        sums, slopes.known[column], slopes.kinds[column], cut, missing_left, slopes.totals[node], slopes.units,
        slopes.whole, slopes.of_bins, slopes.found, slopes.totals[first],
    )  # fmt: skip
    eighths(goes_left, slopes.sets[node])
    for i in range(len(rows)):
        row = rows[i]
        goes = goes_left[bins[row]]
        rows[lefts], right[rights] = row, row
        lefts += goes
        rights += 1 - goes
    for i in range(rights):
        rows[lefts + i] = right[i]
    return int(lefts)


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
    bounds, totals, units = slopes.bounds, slopes.totals, slopes.units
    bounds[node, 0], bounds[node, 1] = bounds[parent, 0], bounds[parent, 1]
    hessian = hessian_of(totals[node, 1], units, slopes.whole) + units[2]
    slopes.scores[node] = score_of(totals[node, 0] * units[0], hessian, bounds[node, 0], bounds[node, 1])


@inlined
def sum_up(slopes: Slopes, node: int, first: int, fresh: int, lefts: Ids, rights: Ids) -> None:
    """The smaller child is summed up in a fresh slot of the pool; what its parent has besides is the other's.

    A child with few rows is sooner summed up than found by subtraction.
    """
    own, most, bins = slopes.slots[node], 0, slopes.bins
    for b in range(len(bins)):
        most += bins[b]
    smaller = first if len(lefts) <= len(rights) else first + 1
    slopes.slots[first], slopes.slots[first + 1] = own, own
    slopes.slots[smaller] = fresh
    is_short = max(len(lefts), len(rights)) * len(bins) < most
    for child in range(first, first + 2):
        if is_short or child == smaller:
            slot = slopes.slots[child]
            clear(slopes.pool[slot], bins)
            some = lefts if child == first else rights
            add_rows(slopes.blocks, some, slopes.fixed, slopes.beside, slopes.pool[slot])
    if not is_short:
        subtract(slopes.pool[own], slopes.pool[fresh], bins)


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
