"""Compiled choice among columns that may have a branch for each level, as ID3 and C4.5 make it."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Rows
from mlcli.kernels.trees.splits import Whole, best_split, bits_of_left, score_of_levels
from mlcli.kernels.trees.sums import (
    BEGIN,
    DEPTH,
    END,
    FEATURE,
    LEFT,
    LEVEL,
    LOW,
    Branching,
    Columns,
    Grown,
    Here,
    Limits,
    Space,
    add_up,
)
from mlcli.kernels.without_counting import inlined


@inlined
def choose(
    columns: Columns, limits: Limits, node: int, grown: Grown, here: Here, whole: Whole, before: float,
    space: Space, branching: Branching,
) -> None:  # fmt: skip
    """Note the first column with the best gain, or gain ratio, of those that gain as much as the average one."""
    gains, information, found = branching.gains, branching.information, branching.found
    count, total, best, weight = 0, 0.0, -np.inf, grown.weight[node]
    tolerance = whole.tolerance / weight
    for k in range(len(space.drawn)):
        feature = space.drawn[k]
        if columns.ordered[feature]:
            score, low, high, side = best_split(columns, feature, here, whole, space.room)
            information[k] = bits_of_left(whole, weight, space.room) if score > -np.inf else 0.0
        else:
            add_up(columns, feature, here, space.room.sums)
            score, information[k], high = score_of_levels(columns.known[feature], whole, weight, space.room)
            low, side = 0, 0
        gains[k], found[k, 0], found[k, 1], found[k, 2] = (score - before) / weight, low, high, side
        if score > -np.inf:
            count, total = count + 1, total + gains[k]
    for k in range(len(space.drawn)):
        if branching.gated and gains[k] < total / max(count, 1) - tolerance:
            gains[k] = -np.inf
        unit = information[k] if branching.by_ratio and gains[k] > -np.inf else 1.0
        branching.ratios[k] = gains[k] / unit if unit > 0.0 else 0.0
        best = max(best, branching.ratios[k])
    if not best > limits.min_gain + tolerance:
        return
    for k in range(len(space.drawn)):
        unit = information[k] if branching.by_ratio else 1.0
        if branching.ratios[k] + (tolerance / unit if unit > 0.0 else 0.0) >= best:
            grown.nodes[node, FEATURE], grown.gain[node], grown.wish[node] = (
                space.drawn[k],
                gains[k] * weight,
                np.nan,
            )
            for j in range(3):
                grown.nodes[node, LOW + j] = found[k, j]
            return


@inlined
def part_levels(columns: Columns, node: int, made: int, grown: Grown, space: Space, counts: Rows) -> int:
    """Deal the rows of a node to a child for each level that it holds; how many there are."""
    nodes = grown.nodes
    begin, end, feature = nodes[node, BEGIN], nodes[node, END], nodes[node, FEATURE]
    column, rows, child, place = columns.bins[feature], space.rows[begin:end], made, 0
    for b in range(columns.known[feature] + 1):
        counts[b] = 0
    for i in range(len(rows)):
        counts[column[rows[i]]] += 1
    for b in range(columns.known[feature] + 1):
        held = counts[b]
        if held:
            nodes[child, BEGIN], nodes[child, END] = begin + place, begin + place + held
            nodes[child, DEPTH], nodes[child, LEVEL] = nodes[node, DEPTH] + 1, b
            counts[b], place, child = place, place + held, child + 1
    for i in range(len(rows)):
        b = column[rows[i]]
        space.right[counts[b]] = rows[i]
        counts[b] += 1
    for i in range(len(rows)):
        rows[i] = space.right[i]
    nodes[node, LEFT] = made
    return int(child - made)
