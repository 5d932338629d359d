"""Compiled split of one node: the best cut by every column, which column is chosen, and the branch of each row."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.tree_layout import (
    ABOVE,
    ALL,
    AMOUNT,
    BEGIN,
    BELOW,
    BUFFER,
    CODE,
    CRITERION,
    CUT,
    EACH,
    EMPTY,
    END,
    GAIN,
    GATED,
    INFORMATION,
    LEAST,
    LEFT,
    LOST,
    MEAN,
    MIN_GAIN,
    MISSING_RANK,
    OF_SHARES,
    OUTPUT,
    RANK,
    RATIO,
    ROW,
    ROW_WEIGHT,
    SIDE,
    SPREAD,
    SQUARES,
    WEIGHT,
    WHOLE,
    Nodes,
    Places,
)
from mlcli.kernels.tree_scans import bits, purity_of_left, scan_classes, scan_levels, scan_values
from mlcli.kernels.without_counting import inlined


@inlined
def weigh_rows(
    node: int, places: Places, slot: Rows | None, facts: Array, nodes: Nodes, settled: Array, sums: Array
) -> None:
    """What each row of a node adds to its sum (a value is counted from the mean, to keep digits), and the sums."""
    rows, buffer = places.shape[1] - 1, nodes[node, BUFFER]
    for k in range(sums.shape[1]):
        sums[LEFT, k] = 0.0
    for place in range(nodes[node, BEGIN], nodes[node, END]):
        row = places[buffer, rows, place]
        centre = settled[node, MEAN] if slot is None else 0.0
        facts[row, AMOUNT] = facts[row, ROW_WEIGHT] * (facts[row, OUTPUT] - centre)
        sums[LEFT, 0 if slot is None else slot[row]] += facts[row, AMOUNT]
    for k in range(sums.shape[1]):
        sums[ALL, k] = sums[LEFT, k]


@inlined
def search(
    node: int, places: Places, slot: Rows | None, facts: Array, levels: Rows | None, columns: Rows, rules: Array,
    nodes: Nodes, settled: Array, sums: Array, found: Array,
) -> float:  # fmt: skip
    """Find the best cut by each column, with a gain of -inf where there is none; what rounding may add to it."""
    weight, least, criterion = settled[node, WEIGHT], rules[LEAST], rules[CRITERION]
    buffer, begin, end = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    before = purity_of_left(criterion, sums, weight)
    impurity = (1.0 if criterion == SQUARES else 0.0) - before / weight
    tolerance: float = 1e-12 * impurity + 1e-15 if rules[OF_SHARES] else 1e-12 * settled[node, SPREAD]
    slack = tolerance * weight
    for column in range(len(columns)):
        best, cut, left, on_left, known, lost = -np.inf, end - 1, 0.0, 0, end, 0.0
        each, sides = False, 1
        if levels is not None:
            each = rules[EACH] > 0.0 and levels[column] > 0
            if levels[column]:
                best, cut, left = scan_levels(
                    places, buffer, column, begin, end, slot, facts, sums, weight, least, slack, criterion,
                    rules[EACH],
                )  # fmt: skip
                sides = 0
        for k in range(sums.shape[1]):
            sums[LEFT, k] = sums[LOST, k] = 0.0
        while known > begin and places[buffer, column, known - 1] >> RANK == columns[column, MISSING_RANK]:
            known, sides = known - 1, 2
            row = places[buffer, column, known] & ROW
            sums[LOST, 0 if slot is None else slot[row]] += facts[row, AMOUNT]
            lost += facts[row, ROW_WEIGHT]
        for side in range(sides):
            stop = known - 1 if side or known == end else known
            if slot is None:
                purity, place, heavy = scan_values(
                    places, buffer, column, begin, stop, facts, sums, lost * side, weight, least, slack
                )
            else:
                purity, place, heavy = scan_classes(
                    places, buffer, column, begin, stop, slot, facts, sums, lost * side, weight, least, slack,
                    criterion, rules[WHOLE],
                )  # fmt: skip
            if purity > best + slack or (side and purity >= best - slack and place < cut):
                best, cut, left, on_left = purity, place, heavy, side
            for k in range(sums.shape[1]):
                sums[LEFT, k] = sums[LOST, k]
        share = left / weight if left < weight else 1.0
        found[column, GAIN] = (best - before) / weight
        found[column, INFORMATION] = left if each else -bits(share) - bits(1 - share)
        columns[column, CUT], columns[column, SIDE] = cut, on_left
    return tolerance


@inlined
def choose(found: Array, tolerance: float, rules: Array) -> int:
    """The first column with the best score among those that may compete, or -1."""
    total, possible, best, chosen = 0.0, 0, -np.inf, -1
    for column in range(len(found)):
        if found[column, GAIN] > -np.inf:
            total += found[column, GAIN]
            possible += 1
    if possible == 0:
        return -1
    bar = total / possible - tolerance if rules[GATED] else -np.inf
    for column in range(len(found)):
        gain, scale = found[column, GAIN], found[column, INFORMATION] if rules[RATIO] else 1.0
        if gain > -np.inf and gain >= bar:
            score = gain / scale if scale > 0.0 else 0.0
            best = score if score > best else best
    for column in range(len(found) - 1, -1, -1):
        gain, scale = found[column, GAIN], found[column, INFORMATION] if rules[RATIO] else 1.0
        if gain > -np.inf and gain >= bar:
            score = gain / scale + tolerance / scale if scale > 0.0 else 0.0
            chosen = column if score >= best else chosen
    return chosen if best > rules[MIN_GAIN] + tolerance else -1


@inlined
def branch_in_two(
    node: int, column: int, first: int, places: Places, columns: Rows, nominal: bool, nodes: Nodes, branch: Rows
) -> int:
    """Ask for a threshold, or for one level: the branch of every row, and which rows the two children have."""
    buffer, begin, end, right = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END], 0
    cut, side, missing_rank = columns[column, CUT], columns[column, SIDE], columns[column, MISSING_RANK]
    low = places[buffer, column, cut] >> RANK
    for place in range(begin, end):
        here = places[buffer, column, place]
        rank = here >> RANK
        above = side == 0 if rank == missing_rank else rank > low
        goes_right = rank != low if nominal else above
        branch[here & ROW] = goes_right
        right += goes_right
    nodes[first, BEGIN], nodes[first, END], nodes[first, CODE] = begin, end - right, low
    nodes[first + 1, BEGIN], nodes[first + 1, END], nodes[first + 1, CODE] = end - right, end, -1
    if not nominal:
        nodes[node, BELOW], nodes[node, ABOVE] = places[buffer, column, cut], places[buffer, column, cut + 1]
        if places[buffer, column, end - 1] >> RANK == missing_rank:
            nodes[node, EMPTY] = first + 1 - side
    return 2


@inlined
def branch_by_level(node: int, column: int, first: int, places: Places, nodes: Nodes, branch: Rows) -> int:
    """The same with a child for every level that the node holds; how many there are."""
    buffer, child, rank = nodes[node, BUFFER], first - 1, -1
    for place in range(nodes[node, BEGIN], nodes[node, END]):
        here = places[buffer, column, place]
        if here >> RANK != rank:
            rank, child = here >> RANK, child + 1
            nodes[child, CODE], nodes[child, BEGIN] = rank, place
        nodes[child, END] = place + 1
        branch[here & ROW] = child - first
    return child - first + 1
