"""Compiled growing of a tree: a node's sums, its best split, and the rows that go left.

A child comes after its parent, and two siblings side by side. Trees of gradients keep the sums of their nodes in a
pool: only the smaller child is summed up from its rows; the other is what its parent has besides.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.trees.branches import choose, part_levels
from mlcli.kernels.trees.random_splits import Chance, bin_of, random_below, random_split
from mlcli.kernels.trees.splits import (
    SQUARES,
    Whole,
    best_split,
    bounded,
    group,
    kept_split,
    score_of_words,
)
from mlcli.kernels.trees.sums import (
    AMOUNT,
    BEGIN,
    DEPTH,
    END,
    FEATURE,
    HIGH,
    LEAF,
    LEFT,
    LOW,
    NO_LIMIT,
    NONE_MISSING,
    SIDE,
    SMALLEST,
    WEIGHT,
    Branching,
    Columns,
    Grown,
    Here,
    Limits,
    Pool,
    Scale,
    Space,
    Targets,
    Words,
    add_up,
    deal,
    gather,
)
from mlcli.kernels.without_counting import compiled, inlined

ROUNDING = 1e-12


@compiled
def grow(
    columns: Columns, targets: Targets, limits: Limits, grown: Grown, space: Space, chance: Chance | None,
    pool: Pool | None, branching: Branching | None,
) -> int:  # fmt: skip
    """Grow a tree on the rows of ``space``; how many nodes it has.

    With ``chance`` a cut of each column is drawn, otherwise the best is searched for; with ``branching`` a column
    may part its levels.
    """
    nodes, waiting = grown.nodes, space.waiting
    nodes[0, BEGIN], nodes[0, END], nodes[0, DEPTH] = 0, len(space.rows), 0
    if pool is not None:
        begin(columns, targets, grown, space, pool)
    made, seen, leaves, open_nodes = int(np.int64(1)), int(np.int64(0)), 1, 0  # of the type that nodes have
    while True:
        while seen < made:
            waiting[open_nodes] = seen
            open_nodes += examine(columns, targets, limits, seen, leaves, grown, space, chance, pool, branching)
            seen += 1
        if open_nodes == 0 or leaves >= limits.max_leaves:
            break
        node = next_node(waiting, open_nodes, grown.gain, limits.max_leaves)
        open_nodes, leaves = open_nodes - 1, leaves + 1
        if branching is not None and not columns.ordered[nodes[node, FEATURE]]:
            made += part_levels(columns, node, made, grown, space, branching.counts)
            continue
        divide(columns, limits, node, made, grown, space, pool)
        if pool is not None:
            settle_children(columns, targets, limits, node, made, leaves, grown, space, pool)
        made += 2
    for place in range(open_nodes):
        nodes[waiting[place], FEATURE] = LEAF
    return made


@inlined
def next_node(waiting: Rows, open_nodes: int, gain: Array, max_leaves: int) -> int:
    """Take from the open nodes the one that gains most, of equals the first; any if all will be split."""
    best = open_nodes - 1 if max_leaves == NO_LIMIT else 0
    for place in range(best + 1, open_nodes):
        node, other = waiting[place], waiting[best]
        if gain[node] > gain[other] or (gain[node] == gain[other] and node < other):
            best = place
    found = waiting[best]
    waiting[best] = waiting[open_nodes - 1]
    return int(found)


@inlined
def examine(
    columns: Columns, targets: Targets, limits: Limits, node: int, leaves: int, grown: Grown, space: Space,
    chance: Chance | None, pool: Pool | None, branching: Branching | None,
) -> bool:  # fmt: skip
    """Sum up a node, and find its split; whether there is one."""
    nodes, totals, scale = grown.nodes, grown.totals[node], limits.scale
    here = Here(space.rows[nodes[node, BEGIN] : nodes[node, END]], space.parts)
    nodes[node, FEATURE], grown.gain[node] = LEAF, 0.0
    before, most, noise, pure, low, high = 0.0, 0.0, 0.0, False, -np.inf, np.inf
    if pool is not None:
        low, high = pool.bounds[node, 0], pool.bounds[node, 1]
        grown.value[node], before = score_of_node(totals, scale, low, high)
        grown.weight[node], grown.impurity[node] = totals[WEIGHT] >> scale.shift, 0.0
    else:
        gather(targets, here, grown.totals, node)
        if targets.bits:
            weight, before, largest = score_of_words(totals, targets.bits, limits.criterion)
            most, noise = weight - before if limits.criterion == SQUARES else -before, 1e-15 * weight
            grown.weight[node], grown.impurity[node] = weight, most / weight
            pure = largest >= limits.purity * weight
        else:
            before, most = settle_values(targets, here, node, scale, grown)
        if not limits.of_shares:
            pure = grown.impurity[node] <= (1.0 - limits.purity) * grown.impurity[0]
    weight = grown.weight[node]
    if leaves >= limits.max_leaves or nodes[node, DEPTH] >= limits.max_depth:
        return False
    if len(here.rows) < 2 or weight < 2 * limits.least or weight < limits.fewest:
        return False
    tolerance = ROUNDING * most + noise
    floor, perfect = before + limits.min_gain * weight + tolerance, before + most - tolerance
    if pool is not None:
        floor, perfect = before + ROUNDING * abs(before), np.inf
    elif pure or most <= noise:
        return False
    whole = Whole(totals, targets.bits, limits.criterion, limits.least, tolerance, scale, low, high)
    if branching is not None:
        choose(columns, limits, node, grown, here, whole, before, space, branching)
    else:
        search(columns, limits, node, grown, here, whole, before, floor, perfect, space, chance, pool)
    return bool(nodes[node, FEATURE] != LEAF)


@inlined
def score_of_node(totals: Words, scale: Scale, low: float, high: float) -> tuple[float, float]:
    """The best score of a node of gradients, and twice what it lowers the loss by."""
    curvature = (totals[WEIGHT] & scale.mask) * scale.curvature + scale.l2
    return bounded(totals[AMOUNT] * scale.amount, curvature, low, high)


@inlined
def settle_values(targets: Targets, here: Here, node: int, scale: Scale, grown: Grown) -> tuple[float, float]:
    """Note the mean of a node, and count amounts from there; what it scores, and the spread."""
    total, amounts, weights, mean, spread = grown.totals[node], here.parts[AMOUNT], here.parts[WEIGHT], 0.0, 0.0
    weight, centre = float(total[WEIGHT]), int(np.rint(total[AMOUNT] / total[WEIGHT]))
    for i in range(len(here.rows)):
        mean += weights[i] * targets.output[here.rows[i]]
        amounts[i] -= centre * weights[i]
    mean /= weight
    for i in range(len(here.rows)):
        away = targets.output[here.rows[i]] - mean
        spread += weights[i] * away * away
    spread = spread if spread > SMALLEST * mean * mean * weight else 0.0
    grown.value[node], grown.weight[node], grown.impurity[node] = mean, weight, spread / weight
    total[AMOUNT] -= centre * total[WEIGHT]
    value = float(total[AMOUNT]) * scale.amount
    return value * value / weight, spread


@inlined
def search(
    columns: Columns, limits: Limits, node: int, grown: Grown, here: Here, whole: Whole, before: float,
    floor: float, perfect: float, space: Space, chance: Chance | None, pool: Pool | None,
) -> None:  # fmt: skip
    """Note the best split of a node by columns drawn at random, going on while none of them gains anything.

    It must score more than ``floor``, and the first that is ``perfect`` ends the search. All columns are taken in
    order.
    """
    best, first, width = floor, True, len(space.drawn)
    for k in range(width):
        found = grown.nodes[node, FEATURE] != LEAF
        if found and (k >= limits.features or best >= perfect):
            break
        if limits.features < width:
            other = k + random_below(space.state, width - k)
            space.drawn[k], space.drawn[other] = space.drawn[other], space.drawn[k]
        feature, wish = space.drawn[k], np.nan
        score, low, high, side = -np.inf, 0, 0, 0
        if chance is not None:
            score, low, high, side = random_split(columns, feature, here, whole, space.room, space.state, chance)
            wish = chance.wish[0]
        elif pool is not None:
            sums, direction = pool.sums[pool.slots[node], feature], pool.directions[feature]
            score, low, high, side = kept_split(columns, feature, sums, direction, whole, space.room)
        else:
            score, low, high, side = best_split(columns, feature, here, whole, space.room)
        if score > best + (0.0 if first else whole.tolerance):
            best, first = score, False
            if chance is not None and low < high < columns.known[feature]:
                low = bin_of(columns.lowest[feature], wish, low, high)
                high = low + 1
            grown.gain[node], grown.wish[node] = score - before, wish
            grown.nodes[node, FEATURE], grown.nodes[node, LOW] = feature, low
            grown.nodes[node, HIGH], grown.nodes[node, SIDE] = high, side


@inlined
def divide(
    columns: Columns, limits: Limits, node: int, made: int, grown: Grown, space: Space, pool: Pool | None
) -> None:
    """Deal the rows of a node to two children, both in their order."""
    nodes = grown.nodes
    begin, end, feature = nodes[node, BEGIN], nodes[node, END], nodes[node, FEATURE]
    rows, column, known = space.rows[begin:end], columns.bins[feature], int(columns.known[feature])
    low, side, missing = int(nodes[node, LOW]), nodes[node, SIDE], 0
    if pool is not None and not columns.ordered[feature]:
        sums, goes_left = pool.sums[pool.slots[node], feature], grown.sets[node]
        group(sums, known, low, limits.scale, space.room, goes_left)
        for i in range(len(rows)):
            space.goes[i] = goes_left[column[rows[i]]] == 1
    else:
        lowest = 0 if columns.ordered[feature] else low
        for i in range(len(rows)):
            b = int(column[rows[i]])
            lost = b == known
            space.goes[i] = ((b >= lowest) & (b <= low)) | (lost & (side == 1))
            missing += lost
    if missing == 0:
        nodes[node, SIDE] = NONE_MISSING
    nodes[node, LEFT], middle = made, begin + deal(rows, space.goes, space.right)
    nodes[made, BEGIN], nodes[made, END] = begin, middle
    nodes[made + 1, BEGIN], nodes[made + 1, END] = middle, end
    nodes[made, DEPTH], nodes[made + 1, DEPTH] = nodes[node, DEPTH] + 1, nodes[node, DEPTH] + 1


@inlined
def begin(columns: Columns, targets: Targets, grown: Grown, space: Space, pool: Pool) -> None:
    """Sum up the root: all rows, in the first slot of the pool."""
    pool.slots[0], pool.bounds[0, 0], pool.bounds[0, 1] = 0, -np.inf, np.inf
    here = Here(space.rows, space.parts)
    gather(targets, here, grown.totals, 0)
    for k in range(len(space.drawn)):
        add_up(columns, space.drawn[k], here, pool.sums[0, space.drawn[k]])


@inlined
def settle_children(
    columns: Columns, targets: Targets, limits: Limits, node: int, first: int, leaves: int, grown: Grown,
    space: Space, pool: Pool,
) -> None:  # fmt: skip
    """The words of both children, the bounds of their scores, and their sums where they may be split.

    Where one side must score less, nothing on either side may ever pass the middle between them.
    """
    nodes, totals, bounds = grown.nodes, grown.totals, pool.bounds
    is_left = 2 * nodes[first, END] <= nodes[node, BEGIN] + nodes[node, END]
    smaller, larger = (first, first + 1) if is_left else (first + 1, first)
    here = Here(space.rows[nodes[smaller, BEGIN] : nodes[smaller, END]], space.parts)
    gather(targets, here, totals, smaller)
    for w in range(len(targets.parts)):
        totals[larger, w] = totals[node, w] - totals[smaller, w]
    low, high, direction = bounds[node, 0], bounds[node, 1], pool.directions[nodes[node, FEATURE]]
    bounds[first, 0], bounds[first, 1], bounds[first + 1, 0], bounds[first + 1, 1] = low, high, low, high
    if direction != 0:
        score, _ = score_of_node(totals[first], limits.scale, low, high)
        other, _ = score_of_node(totals[first + 1], limits.scale, low, high)
        side = 1 if direction > 0 else 0
        bounds[first, side], bounds[first + 1, 1 - side] = (score + other) / 2.0, (score + other) / 2.0
    if leaves < limits.max_leaves and nodes[first, DEPTH] < limits.max_depth:
        pool.slots[smaller], pool.slots[larger] = leaves - 1, pool.slots[node]
        for k in range(len(space.drawn)):
            feature = space.drawn[k]
            own, rest = pool.sums[leaves - 1, feature], pool.sums[pool.slots[node], feature]
            add_up(columns, feature, here, own)
            for w in range(len(own)):
                for b in range(columns.known[feature] + 1):
                    rest[w, b] -= own[w, b]
