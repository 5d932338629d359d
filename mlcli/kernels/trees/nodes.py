"""Compiled growing of a tree: a node's sums, its best split, and the rows that go left.

A child comes after its parent, and two siblings side by side. Trees of gradients keep the sums of their nodes in a
pool: only the smaller child is summed up from its rows; the other is what its parent has besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.trees.binning import Ids
from mlcli.kernels.trees.random_splits import Chance, bin_of, random_below, random_split
from mlcli.kernels.trees.splits import (
    PLACES,
    SQUARES,
    Scale,
    Split,
    Whole,
    best_grouping,
    best_split,
    best_threshold,
    bits_of_left,
    bounded,
    score_of_levels,
    score_of_words,
    sort_levels,
)
from mlcli.kernels.trees.sums import (
    AMOUNT,
    WEIGHT,
    Bytes,
    Columns,
    Here,
    Room,
    Targets,
    Words,
    add_up,
    gather,
    mean_and_spread,
)
from mlcli.kernels.without_counting import compiled, inlined

FEATURE, LOW, HIGH, SIDE, LEFT, BEGIN, END, DEPTH, LEVEL = range(9)
"""Columns of ``nodes``: what is asked (bins up to ``LOW`` go left, from ``HIGH`` on right; or ``HIGH`` levels have
a branch each), the side of missing cells, the first child, the rows, the depth, and the level that led there."""
LEAF = -1
"""The feature of a node that asks nothing."""
NO_LIMIT = 2**31 - 1
"""Of depth and of leaves."""
NONE_MISSING = 2
"""The side of missing cells where there were none, or of levels without rows."""
ROUNDING = 1e-12


class Limits(NamedTuple):
    """How many columns are drawn for a node, when it becomes a leaf, and what sums count."""

    features: int
    criterion: int
    least: int
    """The least weight of a leaf, and of a node that is split, in units."""
    fewest: float
    max_depth: int
    max_leaves: int
    min_gain: float
    """What a split must gain more than, by the weight of the node."""
    of_shares: bool
    purity: float
    """A node with this share of one class, or else with this part of the root's impurity gone, is a leaf."""
    scale: Scale


class Grown(NamedTuple):
    """The nodes of a tree, with room for more than there are."""

    nodes: Codes
    wish: Array
    """The threshold that was drawn, if any."""
    gain: Array
    """The weighted impurity that each split takes away."""
    weight: Array
    impurity: Array
    value: Array
    """The mean of values, or the score of gradients."""
    totals: Words
    """The words of each node."""
    sets: Bytes
    """Nodes × bins: whether a level goes left, where any group of levels may."""


class Space(NamedTuple):
    """Memory to work in; ``rows`` are the training rows of the tree, grouped by node as it grows."""

    rows: Ids
    right: Ids
    goes: Bytes
    parts: Words
    drawn: Rows
    state: Rows
    waiting: Rows
    room: Room


class Pool(NamedTuple):
    """Sums that are kept, of leaves × columns × words × bins, and bounds of scores."""

    sums: Words
    slots: Rows
    """Where the sums of each node lie."""
    bounds: Array
    directions: Rows
    """Per column 1 or −1 where scores may only rise or fall with it, else 0."""


class Branching(NamedTuple):
    """How columns compete that may have a branch for each level, and what each has found."""

    by_ratio: bool
    """Whether gains are divided by the information in branches (C4.5's split information)."""
    gated: bool
    """Whether only those compete that gain as much as the average one."""
    gains: Array
    information: Array
    ratios: Array
    found: Rows
    """Columns × low, high and side."""
    counts: Rows
    """Of rows by level."""


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
            before, most, noise, pure = settle_classes(totals, node, targets.bits, limits, grown)
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
    total = grown.totals[node]
    grown.value[node], spread = mean_and_spread(targets, here)
    grown.weight[node], grown.impurity[node] = total[WEIGHT], spread / total[WEIGHT]
    centre = int(np.rint(total[AMOUNT] / total[WEIGHT]))
    total[AMOUNT] -= centre * total[WEIGHT]
    for i in range(len(here.rows)):
        here.parts[AMOUNT, i] -= centre * here.parts[WEIGHT, i]
    value = float(total[AMOUNT]) * scale.amount
    return value * value / total[WEIGHT], spread


@inlined
def settle_classes(
    totals: Words, node: int, bits: int, limits: Limits, grown: Grown
) -> tuple[float, float, float, bool]:
    """Note the weight of a node; what it scores, what its best split could gain, rounding, and if it is pure."""
    weight, before, largest = score_of_words(totals, bits, limits.criterion)
    most = weight - before if limits.criterion == SQUARES else -before
    grown.weight[node], grown.impurity[node] = weight, most / weight
    return before, most, 1e-15 * weight, largest >= limits.purity * weight


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
            score, low, high, side = kept_split(columns, feature, whole, pool, pool.slots[node], space.room)
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
def kept_split(columns: Columns, feature: int, whole: Whole, pool: Pool, slot: int, room: Room) -> Split:
    """The best split of a node whose sums are kept."""
    known, sums = int(columns.known[feature]), pool.sums[slot, feature]
    if not columns.ordered[feature]:
        return best_grouping(sums, known, whole, room)
    direction = pool.directions[feature]
    score, low, _, side = best_threshold(room.every, known + 1, sums, known, False, whole, direction, room)
    return score, low, low + 1, side


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


@inlined
def group(sums: Words, known: int, low: int, scale: Scale, room: Room, goes_left: Bytes) -> None:
    """Fill which levels go left: the first ones in order of what they score."""
    for b in range(known + 1):
        goes_left[b] = NONE_MISSING
    for place in range(sort_levels(sums, known, scale, room)):
        goes_left[room.places[0, place] & PLACES] = place <= low


@inlined
def deal(rows: Ids, goes: Bytes, right: Ids) -> int:
    """Put the rows that go left before the others, both in their order; how many do.

    Nothing branches on a row, since nobody could foresee where it goes; ``right`` is room.
    """
    lefts, rights = np.uint64(0), np.uint64(0)
    for i in range(len(rows)):
        row = rows[i]
        rows[lefts] = row
        right[rights] = row
        lefts += np.uint64(goes[i])
        rights += np.uint64(1 - goes[i])
    rest = rows[lefts:]
    for i in range(len(rest)):
        rest[i] = right[i]
    return int(lefts)


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
