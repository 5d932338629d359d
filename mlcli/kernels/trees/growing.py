"""Grow a tree: a node's sums, its best split, and the rows that go left.

A child comes after its parent, and two siblings side by side. Trees of gradients keep the sums of their nodes:
only the smaller child is summed up from its rows; the other is what its parent has besides. ID3 and C4.5 may split
a nominal column into a branch for each level; extra-trees draw one cut of each column at random.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core import ROUNDING
from mlcli.core.tables import Array, Rows
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
    Bytes,
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
from mlcli.kernels.trees.splits import (
    ParentNode,
    accumulate,
    add_up,
    best_cut,
    best_split,
    bin_of,
    bounded,
    extreme_bins,
    gather,
    mark_levels,
    random_below,
    random_level,
    random_share,
    score_of_range,
    score_of_words,
    sort_levels,
    split_in_branches,
)

SMALLEST = (8 * 2.0**-52) ** 2
"""A spread is rounding if it is at most this times the squared mean."""


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
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
    for index in range(open_nodes):
        nodes[waiting[index]]["feature"] = LEAF
    return made


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def next_node(waiting: Rows, open_nodes: int, nodes: Nodes, max_leaves: int) -> int:
    """Take from the open nodes the one that gains most, of equals the first; any if all will be split."""
    best = open_nodes - 1 if max_leaves == NO_LIMIT else 0
    for index in range(best + 1, open_nodes):
        node, other = waiting[index], waiting[best]
        gain, most = nodes[node]["gain"], nodes[other]["gain"]
        if gain > most or (gain == most and node < other):
            best = index
    found = waiting[best]
    waiting[best] = waiting[open_nodes - 1]
    return int(found)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
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
        gather(targets.parts, rows, space.parts, totals)
        if scale.bits:
            weight, before, largest = score_of_words(totals, scale.bits, limits.criterion)
            most, noise = weight - before if limits.criterion == SQUARES else -before, 1e-15 * weight
            one["weight"], one["impurity"] = weight, most / weight
            pure = largest >= limits.purity * weight
        else:
            before, most = note_mean(targets.output, scale.amount, rows, space.parts, totals, one)
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
    elif room is not None:
        search_random(columns, node, grown.nodes, rows, parent, before, floor, perfect, space, room)
    elif kept is not None:
        search_kept(columns, node, grown.nodes, parent, before, floor, space, kept)
    elif sums is not None:
        search(columns, node, grown.nodes, rows, parent, before, floor, perfect, space, sums)
    return bool(one["feature"] != LEAF)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def score_of_node(totals: Words, scale: Scale, l2: float, low: float, high: float) -> tuple[float, float]:
    """The best score of a node of gradients, and twice what it lowers the loss by."""
    curvature = (totals[WEIGHT] & scale.mask) * scale.curvature + l2
    return bounded(totals[AMOUNT] * scale.amount, curvature, low, high)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def note_mean(
    output: Array, unit: float, rows: Ids, parts: Words, total: Words, nodes: Nodes
) -> tuple[float, float]:
    """Note the mean of a node, and count amounts from there; what it scores, and the spread."""
    amounts, weights, mean, spread = parts[AMOUNT], parts[WEIGHT], 0.0, 0.0
    weight, centre = float(total[WEIGHT]), int(np.rint(total[AMOUNT] / total[WEIGHT]))
    for i in range(len(rows)):
        mean += weights[i] * output[rows[i]]
        amounts[i] -= centre * weights[i]
    mean /= weight
    for i in range(len(rows)):
        away = output[rows[i]] - mean
        spread += weights[i] * away * away
    spread = spread if spread > SMALLEST * mean * mean * weight else 0.0
    nodes["value"], nodes["weight"], nodes["impurity"] = mean, weight, spread / weight
    total[AMOUNT] -= centre * total[WEIGHT]
    value = float(total[AMOUNT]) * unit
    return value * value / weight, spread


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def search(
    columns: Binned, node: int, nodes: Nodes, rows: Ids, parent: ParentNode, before: float, floor: float,
    perfect: float, space: Workspace, sums: Words,
) -> None:  # fmt: skip
    """Note the best split of a node by columns drawn at random, going on while none of them gains anything.

    It must score more than ``floor``, and the first that is ``perfect`` ends the search. All columns are taken in
    order.
    """
    one, best, scored, parts, order, cuts = nodes[node], floor, False, space.parts, space.order, space.cuts
    width, features, tried = len(space.drawn), parent.limits.features, int(np.int64(0))
    for k in range(width):
        if one["feature"] != LEAF and (tried >= features or best >= perfect):
            break
        feature = draw_column(space.drawn, k, features, space.state)
        if not parent.limits.reuse and is_used_above(nodes, node, feature):
            continue
        tried += 1
        column, known, ordered = columns.bins[feature], int(columns.known[feature]), columns.ordered[feature]
        score, low, high, side = best_split(column, known, ordered, rows, parts, parent, sums, order, cuts)
        if score > best + (parent.tolerance if scored else 0.0):
            best, scored = score, True
            one["gain"], one["cut"], one["feature"] = score - before, np.nan, feature
            one["low"], one["high"], one["side"] = low, high, side


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def draw_column(drawn: Rows, k: int, features: int, state: Rows) -> int:
    """The k-th column to try, drawn from the untried ones if a node tries only some."""
    if features < len(drawn):
        other = k + random_below(state, len(drawn) - k)
        drawn[k], drawn[other] = drawn[other], drawn[k]
    return int(drawn[k])


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def is_used_above(nodes: Nodes, node: int, feature: int) -> bool:
    """Whether a node on the way from the root to this one asks for a column."""
    above = nodes[node]["parent"]
    while above >= 0:
        if nodes[above]["feature"] == feature:
            return True
        above = nodes[above]["parent"]
    return False


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def split_node(
    columns: Binned, scale: Scale, l2: float, node: int, made: int, grown: Grown, space: Workspace,
    kept: KeptSums | None,
) -> None:  # fmt: skip
    """Deal the rows of a node to two children, both in their order."""
    one, left, right = grown.nodes[node], grown.nodes[made], grown.nodes[made + 1]
    feature, rows, goes, missing = one["feature"], space.rows[one["begin"] : one["end"]], space.goes, 0
    column, known, low, side = columns.bins[feature], int(columns.known[feature]), int(one["low"]), one["side"]
    if kept is not None and not columns.ordered[feature]:
        sums, goes_left = kept.sums[kept.slots[node], feature], grown.goes_left[node]
        mark_levels(sums, known, low, scale, l2, space.order.keys[0], space.cuts.scores[0], goes_left)
        for i in range(len(rows)):
            goes[i] = goes_left[column[rows[i]]] == 1
    else:
        lowest = 0 if columns.ordered[feature] else low
        for i in range(len(rows)):
            b = int(column[rows[i]])
            lost = b == known
            goes[i] = ((b >= lowest) & (b <= low)) | (lost & (side == 1))
            missing += lost
    if missing == 0:
        one["side"] = NONE_MISSING
    left["parent"], right["parent"] = node, node
    one["left"], middle = made, one["begin"] + partition(rows, goes, space.right)
    left["begin"], left["end"], left["depth"] = one["begin"], middle, one["depth"] + 1
    right["begin"], right["end"], right["depth"] = middle, one["end"], one["depth"] + 1


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def sum_up_root(columns: Binned, targets: PackedTargets, grown: Grown, space: Workspace, kept: KeptSums) -> None:
    """Sum up the root, of all rows, in the first slot."""
    kept.slots[0], kept.bounds[0, 0], kept.bounds[0, 1] = 0, -np.inf, np.inf
    gather(targets.parts, space.rows, space.parts, grown.totals[0])
    for k in range(len(space.drawn)):
        feature = space.drawn[k]
        bins = columns.known[feature] + 1
        add_up(columns.bins[feature], bins, space.rows, space.parts, kept.sums[0, feature])


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
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
    gather(targets.parts, rows, space.parts, totals[smaller])
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
            bins = columns.known[feature] + 1
            add_up(columns.bins[feature], bins, rows, space.parts, own)
            for w in range(len(own)):
                for b in range(bins):
                    rest[w, b] -= own[w, b]


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def partition(rows: Ids, goes: Bytes, right: Ids) -> int:
    """Put the rows that go left before the others, both in their order; how many do.

    Nothing branches on a row, since the processor could not predict it; ``right`` is room.
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


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def search_kept(
    columns: Binned, node: int, nodes: Nodes, parent: ParentNode, before: float, floor: float,
    space: Workspace, kept: KeptSums,
) -> None:  # fmt: skip
    """The same by sums that are kept; of levels, the first ones in order of their scores go left."""
    one, best, keys, sums = nodes[node], floor, space.order.keys, kept.sums[kept.slots[node]]
    along, bins, filled, scores, lost = (
        space.cuts.along, space.cuts.bins, space.cuts.filled, space.cuts.scores, space.cuts.lost
    )  # fmt: skip
    for feature in space.drawn:
        known, ordered = int(columns.known[feature]), columns.ordered[feature]
        line, count = keys[2], known + 1
        if not ordered:
            line = keys[0]
            count = sort_levels(sums[feature], known, parent.scale, parent.limits.l2, line, scores[0])
        cuts = accumulate(line, count, sums[feature], not ordered, filled, along, bins) - 1
        missing = ordered and cuts > 1 and bins[cuts] == known
        score, index, side = best_cut(along, cuts, missing, parent, kept.directions[feature], scores, lost)
        if score > best + (parent.tolerance if one["feature"] != LEAF else 0.0):
            best = score
            one["gain"], one["cut"], one["feature"] = score - before, np.nan, feature
            one["low"], one["high"], one["side"] = bins[index], bins[index] + 1, side


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def search_random(
    columns: Binned, node: int, nodes: Nodes, rows: Ids, parent: ParentNode, before: float, floor: float,
    perfect: float, space: Workspace, codes: Bins,
) -> None:  # fmt: skip
    """The same with one threshold of each column, drawn anywhere between its smallest and its largest value.

    Of a nominal column it is one level against the rest: for classes any of the levels, for values the one that
    gains most. Missing cells go to the better side, and a single known value is split from them.
    """
    one, best, scored = nodes[node], floor, False
    parts, along, lost, scores = space.parts, space.cuts.along, space.cuts.lost, space.cuts.scores
    width, features, tried = len(space.drawn), parent.limits.features, int(np.int64(0))
    for k in range(width):
        if one["feature"] != LEAF and (tried >= features or best >= perfect):
            break
        feature, cut, score, side = draw_column(space.drawn, k, features, space.state), np.inf, -np.inf, 0
        if not parent.limits.reuse and is_used_above(nodes, node, feature):
            continue
        tried += 1
        column, known = columns.bins[feature], int(columns.known[feature])
        if columns.ordered[feature]:
            first, last, missing = extreme_bins(column, rows, known, codes)
            low, high = last, known
            if first < last:
                lowest, highest = columns.lowest[feature], columns.highest[feature]
                cut = lowest[first] + random_share(space.state) * (highest[last] - lowest[first])
                low = bin_of(lowest, cut, first, last)
                high = low + 1
            if first < last or (first == last and missing):
                score = score_of_range(parts, codes, len(rows), 0, low, -1, parent, along, lost[0], scores[0])
            if first < last and missing:
                other = score_of_range(parts, codes, len(rows), 0, low, known, parent, along, lost[0], scores[0])
                if other > score + parent.tolerance:
                    score, side = other, 1
        elif parent.scale.bits == 0:
            add_up(column, known + 1, rows, parts, along)
            score, low, _ = best_cut(along, known + 1, False, parent, 0, scores, lost)
            high = low
        else:
            extreme_bins(column, rows, known, codes)
            low, high = random_level(codes, len(rows), known + 1, space.state), known
            score = score_of_range(parts, codes, len(rows), low, low, -1, parent, along, lost[0], scores[0])
        if score > best + (parent.tolerance if scored else 0.0):
            best, scored = score, True
            one["gain"], one["cut"], one["feature"] = score - before, cut, feature
            one["low"], one["high"], one["side"] = low, high, side


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def choose_column(
    columns: Binned, nodes: Nodes, rows: Ids, parent: ParentNode, before: float, space: Workspace,
    branching: Branching,
) -> None:  # fmt: skip
    """Note the first column with the best gain, or gain ratio, among those that gain at least the average."""
    splits, weight, count, total, best = branching.splits, float(nodes["weight"]), 0, 0.0, -np.inf
    tolerance, limits = parent.tolerance / weight, parent.limits
    for k in range(len(space.drawn)):
        score = split_in_branches(columns, space.drawn[k], rows, parent, weight, branching.sums, space, splits[k])
        splits[k]["gain"] = (score - before) / weight
        if score > -np.inf:
            count, total = count + 1, total + splits[k]["gain"]
    for k in range(len(space.drawn)):
        gain, unit = splits[k]["gain"], 1.0
        if limits.gated and gain < total / max(count, 1) - tolerance:
            gain = -np.inf
        elif limits.by_ratio and gain > -np.inf:
            unit = splits[k]["information"]
        splits[k]["ratio"] = gain / unit if unit > 0.0 else 0.0
        best = max(best, splits[k]["ratio"])
    if not best > limits.min_gain + tolerance:
        return
    for k in range(len(space.drawn)):
        split = splits[k]
        unit = split["information"] if limits.by_ratio else 1.0
        if split["ratio"] + (tolerance / unit if unit > 0.0 else 0.0) >= best:
            nodes["feature"], nodes["gain"], nodes["cut"] = space.drawn[k], split["gain"] * weight, np.nan
            nodes["low"], nodes["high"], nodes["side"] = split["low"], split["high"], split["side"]
            return


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def partition_by_level(columns: Binned, node: int, made: int, grown: Grown, space: Workspace) -> int:
    """Deal the rows of a node to a child for each level that it holds; how many there are."""
    one, child, index, counts = grown.nodes[node], made, 0, space.cuts.bins
    column, rows = columns.bins[one["feature"]], space.rows[one["begin"] : one["end"]]
    levels = columns.known[one["feature"]] + 1
    for level in range(levels):
        counts[level] = 0
    for i in range(len(rows)):
        counts[column[rows[i]]] += 1
    for level in range(levels):
        held = counts[level]
        if held:
            branch = grown.nodes[child]
            branch["begin"], branch["end"] = one["begin"] + index, one["begin"] + index + held
            branch["depth"], branch["level"] = one["depth"] + 1, level
            counts[level], index, child = index, index + held, child + 1
    for i in range(len(rows)):
        level = column[rows[i]]
        space.right[counts[level]] = rows[i]
        counts[level] += 1
    for i in range(len(rows)):
        rows[i] = space.right[i]
    one["left"] = made
    return int(child - made)
