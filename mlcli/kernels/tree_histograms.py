"""Compiled search of one node on binned columns: rows are summed up by bin, and cuts lie between bins.

The sums of a bin are a row of ``histogram``: one for each class, which make its weight; or that of values, and the
weight. Of every sixteen bins ``used`` knows whether one has rows, so that few rows cost little. What is found is
what ``tree_search`` finds where the cells of a column are the numbers of their bins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.tree_layout import (
    ABOVE,
    ABOVE_CUT,
    AMOUNT,
    BEGIN,
    BELOW,
    BUFFER,
    CHILDREN,
    CODE,
    CRITERION,
    CUT,
    EACH,
    EMPTY,
    END,
    FEATURE,
    FIRST,
    GAIN,
    INFORMATION,
    LEAST,
    LEFT,
    MISSING_RANK,
    OF_SHARES,
    ORDERED,
    RANK,
    ROW_WEIGHT,
    SIDE,
    SPREAD,
    SQUARES,
    WEIGHT,
    Nodes,
    Places,
)
from mlcli.kernels.tree_scans import bits, purity_of_both, purity_of_left
from mlcli.kernels.tree_search import choose, weigh_rows
from mlcli.kernels.without_counting import inlined

Bins = np.ndarray[Any, np.dtype[Any]]

BLOCK = 4
"""The bins of a block have numbers that are the same but for so many last bits."""


@inlined
def fill(
    node: int, column: int, dealt: Places, bins: Bins, slot: Rows | None, facts: Array, nodes: Nodes,
    histogram: Array, used: Rows,
) -> bool:  # fmt: skip
    """Sum up the rows of a node by bin; whether they are in more than one."""
    buffer, begin = nodes[node, BUFFER], nodes[node, BEGIN]
    first, several = np.int64(bins[column, dealt[buffer, 0, begin]]), False
    for place in range(begin, nodes[node, END]):
        row = dealt[buffer, 0, place]
        found = np.int64(bins[column, row])
        several = several or found != first
        used[found >> BLOCK] |= 1 << (found & ((1 << BLOCK) - 1))
        if slot is None:
            histogram[found, 0] += facts[row, AMOUNT]
            histogram[found, 1] += facts[row, ROW_WEIGHT]
        else:
            histogram[found, slot[row]] += facts[row, ROW_WEIGHT]
    return several


@inlined
def next_bin(found: int, used: Rows) -> int:
    """The first bin with rows from this one on, or -1; the last block is never used."""
    block = found >> BLOCK
    left = used[block] >> (found & ((1 << BLOCK) - 1))
    while left == 0:
        block += 1
        if block >= len(used):
            return -1
        left, found = used[block], block << BLOCK
    while left & 1 == 0:
        left >>= 1
        found += 1
    return found


@inlined
def weight_of(found: int, slot: Rows | None, histogram: Array) -> float:
    """The weight of a bin."""
    if slot is None:
        return float(histogram[found, 1])
    weight = 0.0
    for k in range(histogram.shape[1]):
        weight += histogram[found, k]
    return weight


@inlined
def scan_bins(
    missing: int, side: int, slot: Rows | None, histogram: Array, used: Rows, sums: Array, weight: float,
    least: float, slack: float, criterion: float,
) -> tuple[float, int, int, float]:  # fmt: skip
    """The best threshold with rows of the missing bin on a side, 1 being left.

    The purity, the bins on both sides of the threshold, and the weight on its left.
    """
    best, low, high, on_left, before = -np.inf, -1, -1, 0.0, -1
    heavy = weight_of(missing, slot, histogram) * side
    for k in range(sums.shape[1]):
        sums[LEFT, k] = histogram[missing, k] * side
    found = next_bin(int(used[-1]), used)
    while found >= 0 and (side == 0 or found != missing):
        rest = weight - heavy
        if before >= 0 and heavy >= least and rest >= least and rest > 0.0:
            purity = purity_of_both(criterion, sums, heavy, rest)
            if purity > best + slack:
                best, low, high, on_left = purity, before, found, heavy
        for k in range(sums.shape[1]):
            sums[LEFT, k] += histogram[found, k]
        heavy += weight_of(found, slot, histogram)
        before = found
        found = next_bin(found + 1, used)
    return best, low, high, on_left


@inlined
def scan_codes(
    slot: Rows | None, histogram: Array, used: Rows, sums: Array, weight: float, least: float, slack: float,
    criterion: float, each: float,
) -> tuple[float, int, float]:  # fmt: skip
    """The best level against the rest: the purity, the level, and its weight.

    Or a branch for each: how pure all are together, any level, and the entropy of the weights.
    """
    best, cut, on_left, together, information = -np.inf, -1, 0.0, 0.0, 0.0
    found = next_bin(int(used[-1]), used)
    while found >= 0:
        for k in range(sums.shape[1]):
            sums[LEFT, k] = histogram[found, k]
        heavy = weight_of(found, slot, histogram)
        rest = weight - heavy
        if each:
            together += purity_of_left(criterion, sums, heavy) if heavy >= least else -np.inf
            information -= bits(heavy / weight)
        elif heavy >= least and rest >= least and rest > 0.0:
            purity = purity_of_both(criterion, sums, heavy, rest)
            if purity > best + slack:
                best, cut, on_left = purity, found, heavy
        found = next_bin(found + 1, used)
    return (together, cut, information) if each else (best, cut, on_left)


@inlined
def search_bins(
    node: int, dealt: Places, bins: Bins, slot: Rows | None, facts: Array, levels: Rows | None, columns: Rows,
    rules: Array, nodes: Nodes, settled: Array, sums: Array, found: Array, histogram: Array, used: Rows,
) -> float:  # fmt: skip
    """Find the best cut by each column, with a gain of -inf where there is none; what rounding may add to it."""
    weight, least, criterion = settled[node, WEIGHT], rules[LEAST], rules[CRITERION]
    before = purity_of_left(criterion, sums, weight)
    impurity = (1.0 if criterion == SQUARES else 0.0) - before / weight
    tolerance: float = 1e-12 * impurity + 1e-15 if rules[OF_SHARES] else 1e-12 * settled[node, SPREAD]
    slack = tolerance * weight
    for column in range(len(columns)):
        best, cut, high, left, on_left, each = -np.inf, -1, -1, 0.0, 0, False
        missing = columns[column, MISSING_RANK]
        sides = 2 if fill(node, column, dealt, bins, slot, facts, nodes, histogram, used) else 0
        if sides and missing >= 0 and weight_of(missing, slot, histogram) == 0.0:
            sides = 1
        if levels is not None:
            each = rules[EACH] > 0.0 and levels[column] > 0
            if levels[column] and sides:
                sides = 0
                best, cut, left = scan_codes(
                    slot, histogram, used, sums, weight, least, slack, criterion, rules[EACH]
                )
        for side in range(sides):
            purity, low, above, heavy = scan_bins(
                missing, side, slot, histogram, used, sums, weight, least, slack, criterion
            )
            if purity > best + slack or (side and purity >= best - slack and low < cut):
                best, cut, high, left, on_left = purity, low, above, heavy, side
        for block in range(len(used)):
            if used[block]:
                used[block] = 0
                for one in range(block << BLOCK, min((block + 1) << BLOCK, len(histogram))):
                    for k in range(histogram.shape[1]):
                        histogram[one, k] = 0.0
        share = left / weight if left < weight else 1.0
        found[column, GAIN] = (best - before) / weight
        found[column, INFORMATION] = left if each else -bits(share) - bits(1 - share)
        columns[column, CUT], columns[column, ABOVE_CUT], columns[column, SIDE] = cut, high, on_left
    return tolerance


@inlined
def branch_between_bins(
    node: int, column: int, first: int, dealt: Places, bins: Bins, columns: Rows, nominal: bool, nodes: Nodes,
    branch: Rows,
) -> int:  # fmt: skip
    """Ask for a threshold, or for one level: the branch of every row, and which rows the two children have."""
    buffer, begin, end = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    low, side, missing = columns[column, CUT], columns[column, SIDE], columns[column, MISSING_RANK]
    right, empty = 0, False
    for place in range(begin, end):
        row = dealt[buffer, 0, place]
        found = np.int64(bins[column, row])
        above = side == 0 if found == missing else found > low
        goes_right = found != low if nominal else above
        empty = empty or found == missing
        branch[row] = goes_right
        right += goes_right
    nodes[first, BEGIN], nodes[first, END], nodes[first, CODE] = begin, end - right, low
    nodes[first + 1, BEGIN], nodes[first + 1, END], nodes[first + 1, CODE] = end - right, end, -1
    if not nominal:
        nodes[node, BELOW], nodes[node, ABOVE] = low << RANK, columns[column, ABOVE_CUT] << RANK
        if empty:
            nodes[node, EMPTY] = first + 1 - side
    return 2


@inlined
def branch_by_code(
    node: int, column: int, first: int, dealt: Places, bins: Bins, nodes: Nodes, branch: Rows, counts: Rows
) -> int:
    """The same with a child for every level that the node holds; how many there are."""
    buffer, begin, end = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    children, begins = 0, begin
    for place in range(begin, end):
        counts[np.int64(bins[column, dealt[buffer, 0, place]])] += 1
    for code in range(len(counts)):
        if counts[code]:
            child = first + children
            nodes[child, CODE], nodes[child, BEGIN], nodes[child, END] = code, begins, begins + counts[code]
            begins += counts[code]
            counts[code] = children
            children += 1
    for place in range(begin, end):
        row = dealt[buffer, 0, place]
        branch[row] = counts[np.int64(bins[column, row])]
    for code in range(len(counts)):
        counts[code] = 0
    return children


@inlined
def split_bins(
    node: int, first: int, dealt: Places, bins: Bins, slot: Rows | None, facts: Array, levels: Rows | None,
    columns: Rows, rules: Array, nodes: Nodes, settled: Array, branch: Rows, sums: Array, found: Array,
    histogram: Any, used: Any, counts: Any,
) -> int:  # fmt: skip
    """Ask what gains most, and say which rows the children have; how many there are, none for a leaf."""
    weigh_rows(node, dealt, slot, facts, nodes, settled, sums)
    tolerance = search_bins(
        node, dealt, bins, slot, facts, levels, columns, rules, nodes, settled, sums, found, histogram, used
    )
    column, nominal, children = choose(found, tolerance, rules), False, 0
    if column < 0:
        return 0
    if levels is not None:
        nominal = levels[column] > 0
        if nominal and rules[EACH]:
            children = branch_by_code(node, column, first, dealt, bins, nodes, branch, counts)
    if not children:
        children = branch_between_bins(node, column, first, dealt, bins, columns, nominal, nodes, branch)
    nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN] = column, first, children
    return children


@inlined
def order_few(node: int, places: Places, dealt: Places, bins: Bins, nodes: Nodes, counts: Any) -> bool:
    """Order the rows of a node by the bins of every column, if there is room for them; whether there is."""
    buffer, begin, end, rows = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END], places.shape[1] - 1
    if end - begin > places.shape[2]:
        return False
    for column in range(rows):
        for place in range(begin, end):
            counts[np.int64(bins[column, dealt[buffer, 0, place]])] += 1
        at = 0
        for rank in range(len(counts)):
            at += counts[rank]
            counts[rank] = at - counts[rank]
        for place in range(begin, end):
            row = dealt[buffer, 0, place]
            bin_of_row = np.int64(bins[column, row])
            places[0, column, counts[bin_of_row]] = (bin_of_row << RANK) | row
            counts[bin_of_row] += 1
        for rank in range(len(counts)):
            counts[rank] = 0
    for place in range(begin, end):
        places[0, rows, place - begin] = dealt[buffer, 0, place]
    nodes[node, ORDERED], nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END] = 1, 0, 0, end - begin
    return True
