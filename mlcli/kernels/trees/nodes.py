"""Compiled growing of a tree: a node's sums, its best split, and the rows that go left.

A child comes after its parent, and two siblings side by side. Trees of gradients keep the sums of their nodes:
only the smaller child is summed up from its rows; the other is what its parent has besides.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Rows
from mlcli.core.tolerances import ROUNDING
from mlcli.kernels.trees.branches import choose_column, partition_by_level
from mlcli.kernels.trees.random_splits import bin_of, random_below, random_split
from mlcli.kernels.trees.records import (
    AMOUNT,
    LEAF,
    NO_LIMIT,
    NONE_MISSING,
    SQUARES,
    WEIGHT,
    Binned,
    Bins,
    Branching,
    Grown,
    Ids,
    KeptSums,
    Limits,
    Nodes,
    PackedTargets,
    Scale,
    Words,
    Workspace,
)
from mlcli.kernels.trees.splits import ParentNode, best_split, bounded, kept_split, mark_levels, score_of_words
from mlcli.kernels.trees.sums import add_up, gather, partition
from mlcli.kernels.without_counting import compiled, inlined

SMALLEST = (8 * 2.0**-52) ** 2
"""A spread is rounding if it is at most this times the squared mean."""


@compiled
def grow(
    columns: Binned, targets: PackedTargets, limits: Limits, grown: Grown, space: Workspace,
    sums: Words | None, room: Bins | None, kept: KeptSums | None, branching: Branching | None,
) -> int:  # fmt: skip
    """Grow a tree on the rows of ``space``; how many nodes it has.

    What is given of the last four says how nodes are split: by the best cut, with room for the ``sums`` of words ×
    bins; by a cut drawn of each column, with ``room`` for the bins of rows; by sums that are ``kept``; or with a
    branch for each level. What is None is not compiled.
    """
    nodes, waiting = grown.nodes, space.waiting
    nodes[0]["begin"], nodes[0]["end"], nodes[0]["depth"], nodes[0]["parent"] = 0, len(space.rows), 0, -1
    if kept is not None:
        sum_up_root(columns, targets, grown, space, kept)
    made, leaves, seen, open_nodes = int(np.int64(1)), int(np.int64(1)), int(np.int64(0)), 0  # no constants
    while True:
        while seen < made:
            waiting[open_nodes] = seen
            open_nodes += find_split(
                columns, targets, limits, seen, leaves, grown, space, sums, room, kept, branching
            )
            seen += 1
        if open_nodes == 0 or leaves >= limits.max_leaves:
            break
        node = next_node(waiting, open_nodes, nodes, limits.max_leaves)
        open_nodes, leaves = open_nodes - 1, leaves + 1
        if branching is not None and not columns.ordered[nodes[node]["feature"]]:
            made += partition_by_level(columns, node, made, grown, space)
            continue
        split_node(columns, targets.scale, limits.l2, node, made, grown, space, kept)
        if kept is not None:
            sum_up_children(columns, targets, limits, node, made, leaves, grown, space, kept)
        made += 2
    for place in range(open_nodes):
        nodes[waiting[place]]["feature"] = LEAF
    return made


@inlined
def next_node(waiting: Rows, open_nodes: int, nodes: Nodes, max_leaves: int) -> int:
    """Take from the open nodes the one that gains most, of equals the first; any if all will be split."""
    best = open_nodes - 1 if max_leaves == NO_LIMIT else 0
    for place in range(best + 1, open_nodes):
        node, other = waiting[place], waiting[best]
        gain, most = nodes[node]["gain"], nodes[other]["gain"]
        if gain > most or (gain == most and node < other):
            best = place
    found = waiting[best]
    waiting[best] = waiting[open_nodes - 1]
    return int(found)


@inlined
def find_split(
    columns: Binned, targets: PackedTargets, limits: Limits, node: int, leaves: int, grown: Grown,
    space: Workspace, sums: Words | None, room: Bins | None, kept: KeptSums | None, branching: Branching | None,
) -> bool:  # fmt: skip
    """Sum up a node, and find its split; whether there is one."""
    one, totals, scale = grown.nodes[node], grown.totals[node], targets.scale
    rows = space.rows[one["begin"] : one["end"]]
    one["feature"], one["gain"] = LEAF, 0.0
    before, most, noise, pure, low, high = 0.0, 0.0, 0.0, False, -np.inf, np.inf
    if kept is not None:
        low, high = kept.bounds[node, 0], kept.bounds[node, 1]
        one["value"], before = score_of_node(totals, scale, limits.l2, low, high)
        one["weight"], one["impurity"] = totals[WEIGHT] >> scale.shift, 0.0
    else:
        gather(targets, rows, space, totals)
        if scale.bits:
            weight, before, largest = score_of_words(totals, scale.bits, limits.criterion)
            most, noise = weight - before if limits.criterion == SQUARES else -before, 1e-15 * weight
            one["weight"], one["impurity"] = weight, most / weight
            pure = largest >= limits.purity * weight
        else:
            before, most = note_mean(targets, rows, space.parts, totals, one)
        if not limits.of_shares:
            pure = one["impurity"] <= (1.0 - limits.purity) * grown.nodes[0]["impurity"]
    weight, least = one["weight"], int(limits.min_leaf)
    if leaves >= limits.max_leaves or one["depth"] >= limits.max_depth:
        return False
    if len(rows) < 2 or weight < 2 * least or weight < limits.min_split:
        return False
    tolerance = ROUNDING * most + noise
    floor, perfect = before + limits.min_gain * weight + tolerance, before + most - tolerance
    if kept is not None:
        floor, perfect = before + ROUNDING * abs(before), np.inf
    elif pure or most <= noise:
        return False
    parent = ParentNode(totals, scale, limits, least, tolerance, low, high)
    if branching is not None:
        choose_column(columns, one, rows, parent, before, space, branching)
    else:
        search(columns, node, grown.nodes, rows, parent, before, floor, perfect, space, sums, room, kept)
    return bool(one["feature"] != LEAF)


@inlined
def score_of_node(totals: Words, scale: Scale, l2: float, low: float, high: float) -> tuple[float, float]:
    """The best score of a node of gradients, and twice what it lowers the loss by."""
    curvature = (totals[WEIGHT] & scale.mask) * scale.curvature + l2
    return bounded(totals[AMOUNT] * scale.amount, curvature, low, high)


@inlined
def note_mean(targets: PackedTargets, rows: Ids, parts: Words, total: Words, one: Nodes) -> tuple[float, float]:
    """Note the mean of a node, and count amounts from there; what it scores, and the spread."""
    amounts, weights, mean, spread = parts[AMOUNT], parts[WEIGHT], 0.0, 0.0
    weight, centre = float(total[WEIGHT]), int(np.rint(total[AMOUNT] / total[WEIGHT]))
    for i in range(len(rows)):
        mean += weights[i] * targets.output[rows[i]]
        amounts[i] -= centre * weights[i]
    mean /= weight
    for i in range(len(rows)):
        away = targets.output[rows[i]] - mean
        spread += weights[i] * away * away
    spread = spread if spread > SMALLEST * mean * mean * weight else 0.0
    one["value"], one["weight"], one["impurity"] = mean, weight, spread / weight
    total[AMOUNT] -= centre * total[WEIGHT]
    value = float(total[AMOUNT]) * targets.scale.amount
    return value * value / weight, spread


@inlined
def search(
    columns: Binned, node: int, nodes: Nodes, rows: Ids, parent: ParentNode, before: float, floor: float,
    perfect: float, space: Workspace, sums: Words | None, room: Bins | None, kept: KeptSums | None,
) -> None:  # fmt: skip
    """Note the best split of a node by columns drawn at random, going on while none of them gains anything.

    It must score more than ``floor``, and the first that is ``perfect`` ends the search. All columns are taken in
    order.
    """
    one, best, first = nodes[node], floor, True
    width, features, tried = len(space.drawn), parent.limits.features, int(np.int64(0))
    for k in range(width):
        if one["feature"] != LEAF and (tried >= features or best >= perfect):
            break
        if features < width:
            other = k + random_below(space.state, width - k)
            space.drawn[k], space.drawn[other] = space.drawn[other], space.drawn[k]
        feature, cut = space.drawn[k], np.nan
        if not parent.limits.reuse and is_used_above(nodes, node, feature):
            continue
        tried += 1
        score, low, high, side = -np.inf, 0, 0, 0
        if room is not None:
            score, low, high, side, cut = random_split(columns, feature, rows, parent, space, room)
        elif kept is not None:
            own, direction = kept.sums[kept.slots[node], feature], kept.directions[feature]
            score, low, high, side = kept_split(columns, feature, own, direction, parent, space)
        elif sums is not None:
            score, low, high, side = best_split(columns, feature, rows, parent, sums, space)
        if score > best + (0.0 if first else parent.tolerance):
            best, first = score, False
            if room is not None and low < high < columns.known[feature]:
                low = bin_of(columns.lowest[feature], cut, low, high)
                high = low + 1
            one["gain"], one["cut"], one["feature"] = score - before, cut, feature
            one["low"], one["high"], one["side"] = low, high, side


@inlined
def is_used_above(nodes: Nodes, node: int, feature: int) -> bool:
    """Whether a node on the way from the root to this one asks for a column."""
    above = nodes[node]["parent"]
    while above >= 0:
        if nodes[above]["feature"] == feature:
            return True
        above = nodes[above]["parent"]
    return False


@inlined
def split_node(
    columns: Binned, scale: Scale, l2: float, node: int, made: int, grown: Grown, space: Workspace,
    kept: KeptSums | None,
) -> None:  # fmt: skip
    """Deal the rows of a node to two children, both in their order."""
    one, left, right = grown.nodes[node], grown.nodes[made], grown.nodes[made + 1]
    feature, rows, missing = one["feature"], space.rows[one["begin"] : one["end"]], 0
    column, known, low, side = columns.bins[feature], int(columns.known[feature]), int(one["low"]), one["side"]
    if kept is not None and not columns.ordered[feature]:
        sums, goes_left = kept.sums[kept.slots[node], feature], grown.goes_left[node]
        mark_levels(sums, known, low, scale, l2, space, goes_left)
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
        one["side"] = NONE_MISSING
    left["parent"], right["parent"] = node, node
    one["left"], middle = made, one["begin"] + partition(rows, space.goes, space.right)
    left["begin"], left["end"], left["depth"] = one["begin"], middle, one["depth"] + 1
    right["begin"], right["end"], right["depth"] = middle, one["end"], one["depth"] + 1


@inlined
def sum_up_root(columns: Binned, targets: PackedTargets, grown: Grown, space: Workspace, kept: KeptSums) -> None:
    """Sum up the root, of all rows, in the first slot."""
    kept.slots[0], kept.bounds[0, 0], kept.bounds[0, 1] = 0, -np.inf, np.inf
    gather(targets, space.rows, space, grown.totals[0])
    for k in range(len(space.drawn)):
        add_up(columns, space.drawn[k], space.rows, space, kept.sums[0, space.drawn[k]])


@inlined
def sum_up_children(
    columns: Binned, targets: PackedTargets, limits: Limits, node: int, first: int, leaves: int, grown: Grown,
    space: Workspace, kept: KeptSums,
) -> None:  # fmt: skip
    """The words of both children, the bounds of their scores, and their sums where they may be split.

    Where one side must score less, nothing on either side may ever pass the middle between them.
    """
    nodes, totals, bounds, scale = grown.nodes, grown.totals, kept.bounds, targets.scale
    is_left = 2 * nodes[first]["end"] <= nodes[node]["begin"] + nodes[node]["end"]
    smaller, larger = (first, first + 1) if is_left else (first + 1, first)
    rows = space.rows[nodes[smaller]["begin"] : nodes[smaller]["end"]]
    gather(targets, rows, space, totals[smaller])
    for w in range(len(targets.parts)):
        totals[larger, w] = totals[node, w] - totals[smaller, w]
    low, high, direction = bounds[node, 0], bounds[node, 1], kept.directions[nodes[node]["feature"]]
    bounds[first, 0], bounds[first, 1], bounds[first + 1, 0], bounds[first + 1, 1] = low, high, low, high
    if direction != 0:
        score, _ = score_of_node(totals[first], scale, limits.l2, low, high)
        other, _ = score_of_node(totals[first + 1], scale, limits.l2, low, high)
        side = 1 if direction > 0 else 0
        bounds[first, side], bounds[first + 1, 1 - side] = (score + other) / 2.0, (score + other) / 2.0
    if leaves < limits.max_leaves and nodes[first]["depth"] < limits.max_depth:
        kept.slots[smaller], kept.slots[larger] = leaves - 1, kept.slots[node]
        for k in range(len(space.drawn)):
            feature = space.drawn[k]
            own, rest = kept.sums[leaves - 1, feature], kept.sums[kept.slots[node], feature]
            add_up(columns, feature, rows, space, own)
            for w in range(len(own)):
                for b in range(columns.known[feature] + 1):
                    rest[w, b] -= own[w, b]
