"""Compiled growing of one tree on binned columns: search a node, deal its rows to two children, take the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.chance import random_below
from mlcli.kernels.dealing import BEGIN, DEPTH, END, FEATURE, HIGH, LEAF, LEFT, LOW, NONE_MISSING, SIDE, deal
from mlcli.kernels.histogram_splits import (
    FEW,
    Few,
    Split,
    best_level,
    best_threshold,
    best_threshold_of_few,
    sort_few,
)
from mlcli.kernels.histograms import AMOUNT, WEIGHT, Columns, Here, Ids, Whole, Words, add_up
from mlcli.kernels.random_splits import Drawing, random_level, random_threshold
from mlcli.kernels.without_counting import compiled

ROUNDING = 1e-12
ROOM = 2.0**61
"""What the amounts of a node may sum up to."""


class Targets(NamedTuple):
    """What each training row adds to the words of its node, and what is to be learnt: its class, or its value."""

    parts: Words
    """Words × n; of values the weight alone."""
    bits: int
    """How many a class has in a word; 0 of values."""
    classes: int
    """How many have room in a word."""
    slot: Rows
    output: Array


class Limits(NamedTuple):
    """How many columns are drawn for a node, how it is split, and when it becomes a leaf."""

    features: int
    least: float
    max_depth: int
    max_leaves: int


class Grown(NamedTuple):
    """The nodes of a tree, with room for more than there are."""

    nodes: Codes
    """See ``dealing``."""
    threshold: Array
    gain: Array
    """The weighted impurity that each split takes away."""
    weight: Array
    mean: Array
    """Of values."""
    totals: Words
    """The words of each node."""


class Space(NamedTuple):
    """Memory to work in; ``rows`` are the training rows of the tree, grouped by node as it grows."""

    rows: Ids
    right: Ids
    parts: Words
    away: Array
    sums: Words
    left: Words
    few: Few
    drawn: Rows
    state: Rows
    wish: Array
    opened: Rows


@compiled
def grow(
    columns: Columns, targets: Targets, limits: Limits, grown: Grown, space: Space, drawing: Drawing | None
) -> int:
    """Grow a tree on the rows of ``space``; how many nodes it has.

    Without ``drawing`` the best cut is searched for (and nothing of random cuts is compiled).

    A child comes after its parent, and two siblings side by side. With a limit of leaves the split that gains
    most comes first.
    """
    nodes, opened = grown.nodes, space.opened
    nodes[0, BEGIN], nodes[0, END], nodes[0, DEPTH] = 0, len(space.rows), 0
    made, seen, leaves, waiting = 1, 0, 1, 0
    while True:
        while seen < made:
            opened[waiting] = seen
            waiting += examine(columns, targets, limits, seen, grown, space, drawing)
            seen += 1
        if waiting == 0 or leaves >= limits.max_leaves:
            break
        place = waiting - 1 if limits.max_leaves >= len(space.rows) else most_gainful(opened, waiting, grown.gain)
        node = opened[place]
        waiting -= 1
        opened[place] = opened[waiting]
        middle = divide(columns, node, nodes, space.rows, space.right)
        nodes[node, LEFT] = made
        for child in range(2):
            nodes[made, BEGIN] = middle if child else nodes[node, BEGIN]
            nodes[made, END] = nodes[node, END] if child else middle
            nodes[made, DEPTH] = nodes[node, DEPTH] + 1
            made += 1
        leaves += 1
    for place in range(waiting):
        nodes[opened[place], FEATURE] = LEAF
    return made


@compiled
def most_gainful(opened: Rows, waiting: int, gain: Array) -> int:
    """Which of the open nodes gains most; of equals the first."""
    best = 0
    for place in range(1, waiting):
        if gain[opened[place]] > gain[opened[best]]:
            best = place
    return best


@compiled
def examine(
    columns: Columns, targets: Targets, limits: Limits, node: int, grown: Grown, space: Space,
    drawing: Drawing | None,
) -> bool:  # fmt: skip
    """Sum up a node, and find its split; whether there is one."""
    nodes = grown.nodes
    here = Here(space.rows[nodes[node, BEGIN] : nodes[node, END]], space.parts)
    count, scale, noise = len(here.rows), 1.0, 0.0
    gather(targets, here, grown.totals, node)
    nodes[node, FEATURE] = LEAF
    if targets.bits == 0:
        weight, squares = float(grown.totals[node, WEIGHT]), 0.0
        most, scale = centre(targets, here, grown, node, space.away)
    else:
        weight, squares = squares_of(grown.totals, node, targets.bits)
        squares /= weight
        most, noise = weight - squares, 1e-15 * weight
    grown.weight[node] = weight
    if count < 2 or weight < 2 * limits.least or nodes[node, DEPTH] >= limits.max_depth or most <= noise:
        return False
    if drawing is None and count <= FEW:
        lay_out(targets, here, space.few)
    whole = Whole(grown.totals[node], targets.bits, limits.least, ROUNDING * most + noise)
    search(columns, limits, node, grown, here, whole, squares, most, space, drawing)
    grown.gain[node] /= scale * scale
    return bool(nodes[node, FEATURE] != LEAF)


@compiled
def gather(targets: Targets, here: Here, totals: Words, node: int) -> None:
    """Lay the words of a node's rows side by side, and add them up."""
    for w in range(len(targets.parts)):
        source, beside, total = targets.parts[w], here.parts[w], 0
        for i in range(len(here.rows)):
            part = source[here.rows[i]]
            beside[i] = part
            total += part
        totals[node, w] = total


@compiled
def squares_of(totals: Words, node: int, bits: int) -> tuple[float, float]:
    """The weight of a node, and the sum of the squared weights of its classes."""
    weight, squares, mask = 0.0, 0.0, (1 << bits) - 1
    for w in range(totals.shape[1]):
        word = totals[node, w]
        while word:
            one = float(word & mask)
            weight += one
            squares += one * one
            word >>= bits
    return weight, squares


@compiled
def centre(targets: Targets, here: Here, grown: Grown, node: int, away: Array) -> tuple[float, float]:
    """Count amounts from the mean, in units as small as there is room for: their sum of squares, and the scale.

    The sum is 0 where values differ by rounding alone.
    """
    count, total, weight = len(here.rows), 0.0, float(grown.totals[node, WEIGHT])
    if count == 1:
        grown.mean[node] = targets.output[here.rows[0]]
        return 0.0, 1.0
    weights, amounts = here.parts[WEIGHT], here.parts[AMOUNT]
    for i in range(count):
        away[i] = targets.output[here.rows[i]]
        total += weights[i] * away[i]
    mean = total / weight
    grown.mean[node] = mean
    spread, widest = 0.0, 0.0
    for i in range(count):
        away[i] -= mean
        widest = max(widest, abs(away[i]))
        spread += weights[i] * away[i] * away[i]
    if spread / weight <= (8 * np.finfo(np.float64).eps * mean) ** 2:
        return 0.0, 1.0
    scale, rest = min(ROOM / (widest * weight), 1e150), 0
    for i in range(count):
        part = np.int64(weights[i] * away[i] * scale)
        amounts[i] = part
        rest += part
    grown.totals[node, AMOUNT] = rest
    return spread * scale * scale, scale


@compiled
def lay_out(targets: Targets, here: Here, few: Few) -> None:
    """Take few rows out of their words."""
    for k in range(len(few.totals)):
        few.totals[k] = 0.0
    for i in range(len(here.rows)):
        row = here.rows[i]
        k = targets.slot[row]
        weight = float(targets.parts[k // targets.classes, row] >> targets.bits * (k % targets.classes))
        few.weights[i] = weight
        few.amounts[i] = weight if targets.bits else float(here.parts[AMOUNT, i])
        few.slots[i] = k
        few.totals[k] += few.amounts[i]


@compiled
def search(
    columns: Columns, limits: Limits, node: int, grown: Grown, here: Here, whole: Whole, squares: float,
    most: float, space: Space, drawing: Drawing | None,
) -> None:  # fmt: skip
    """Note the best split of a node by columns drawn at random, going on while none of them gains anything.

    No split can gain more than ``most``, so the first that does ends the search. All columns are taken in order.
    """
    best, perfect, width = squares + whole.tolerance, squares + most - whole.tolerance, len(space.drawn)
    for k in range(width):
        if (k >= limits.features and grown.nodes[node, FEATURE] != LEAF) or best >= perfect:
            break
        if limits.features < width:
            other = k + random_below(space.state, width - k)
            space.drawn[k], space.drawn[other] = space.drawn[other], space.drawn[k]
        feature = space.drawn[k]
        score, low, high, side = split_by(columns, feature, here, whole, space, drawing)
        if score > best + whole.tolerance:
            best = score
            grown.gain[node] = score - squares
            grown.threshold[node] = cut_between(columns, feature, low, high, space.wish[0])
            grown.nodes[node, FEATURE], grown.nodes[node, SIDE] = feature, side
            grown.nodes[node, LOW], grown.nodes[node, HIGH] = low, high


@compiled
def split_by(
    columns: Columns, feature: int, here: Here, whole: Whole, space: Space, drawing: Drawing | None
) -> Split:
    """The best split of a node by one column, or one drawn at random."""
    known, count, few = columns.known[feature], len(here.rows), space.few
    if drawing is not None:
        if not columns.ordered[feature]:
            return random_level(columns, feature, here, whole, space.sums, space.left, space.state)
        return random_threshold(columns, drawing, feature, here, whole, space.left, space.state, space.wish)
    if columns.ordered[feature] and count <= FEW:
        sort_few(columns, feature, here, few.keys, few.order)
        last = few.order[count - 1] // FEW
        if last == few.order[0] // FEW:
            return -np.inf, 0, 0, 0
        if last < known:
            return best_threshold_of_few(count, few, whole)
    add_up(columns, feature, here, space.sums)
    if columns.ordered[feature]:
        return best_threshold(space.sums, known, whole, space.left)
    return best_level(space.sums, known, whole, space.left)


@compiled
def cut_between(columns: Columns, feature: int, low: int, high: int, wish: float) -> float:
    """The threshold between two bins: the one wished for where it lies between their values, or else half-way.

    Of a nominal column it is the level itself; infinite where ``high`` is the bin of missing cells.
    """
    if not columns.ordered[feature]:
        return float(low)
    if high == columns.known[feature]:
        return np.inf
    below, above = columns.highest[feature, low], columns.lowest[feature, high]
    middle = wish if below <= wish < above else below / 2 + above / 2
    return middle if middle < above else below


@compiled
def divide(columns: Columns, node: int, nodes: Codes, rows: Ids, right: Ids) -> int:
    """Deal the rows of a node to its branches; where those of the right one begin."""
    begin, end, feature, low = nodes[node, BEGIN], nodes[node, END], nodes[node, FEATURE], int(nodes[node, LOW])
    known, lowest = int(columns.known[feature]), 0 if columns.ordered[feature] else low
    lefts, missing = deal(
        columns.bins[feature], lowest, low, known, nodes[node, SIDE] == 1, rows[begin:end], right
    )
    if missing == 0:
        nodes[node, SIDE] = NONE_MISSING
    return int(begin + lefts)
