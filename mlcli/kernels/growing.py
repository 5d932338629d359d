"""Compiled growing of one tree on binned columns: search a node, deal its rows to two children, take the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.chance import random_below
from mlcli.kernels.histogram_splits import (
    FEW,
    Keys,
    Split,
    Whole,
    best_level,
    best_threshold,
    best_threshold_of_few,
    sort_few,
)
from mlcli.kernels.histograms import AMOUNT, WEIGHT, Columns, Here, add_up
from mlcli.kernels.random_splits import random_level, random_threshold
from mlcli.kernels.without_counting import compiled

LEAF = -1
FEATURE, LOW, HIGH, SIDE, LEFT, BEGIN, END, DEPTH = range(8)
"""What the columns of ``Grown.nodes`` hold."""
NONE_MISSING = 2
"""The side of missing cells where there were none."""
ROUNDING = 1e-12


class Targets(NamedTuple):
    """What each training row adds to its node: weight × output to the sum number ``slot``."""

    slot: Rows
    output: Array
    weight: Array


class Limits(NamedTuple):
    """How many columns are drawn for a node, how it is split, and when it becomes a leaf."""

    features: int
    random_cuts: bool
    """Whether a cut is drawn instead of searched for."""
    least: float
    max_depth: int
    max_leaves: int


class Grown(NamedTuple):
    """The nodes of a tree, with room for more than there are."""

    nodes: Codes
    threshold: Array
    gain: Array
    """The weighted impurity that each split takes away."""
    weight: Array
    value: Array


class Space(NamedTuple):
    """Memory to work in; ``rows`` are the training rows of the tree, grouped by node as it grows."""

    rows: Codes
    right: Codes
    slots: Rows
    parts: Array
    totals: Array
    left: Array
    sums: Array
    present: Codes
    keys: Keys
    order: Keys
    drawn: Rows
    state: Rows
    wish: Array
    opened: Rows


@compiled
def grow(columns: Columns, targets: Targets, limits: Limits, grown: Grown, space: Space) -> int:
    """Grow a tree on the rows of ``space``; how many nodes it has.

    A child comes after its parent, and two siblings side by side. With a limit of leaves the split that gains
    most comes first.
    """
    nodes, opened = grown.nodes, space.opened
    nodes[0, BEGIN], nodes[0, END], nodes[0, DEPTH] = 0, len(space.rows), 0
    made, leaves, waiting = 1, 1, 0
    opened[0] = 0
    waiting += examine(columns, targets, limits, 0, grown, space)
    while waiting > 0 and leaves < limits.max_leaves:
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
            opened[waiting] = made
            waiting += examine(columns, targets, limits, made, grown, space)
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
def examine(columns: Columns, targets: Targets, limits: Limits, node: int, grown: Grown, space: Space) -> bool:
    """Settle what a node answers, and find its split; whether there is one."""
    nodes, totals = grown.nodes, space.totals
    here = Here(space.rows, nodes[node, BEGIN], nodes[node, END], space.slots, space.parts)
    gather(targets, here, totals)
    last = len(totals) - 1
    weight, impurity = totals[last], 1.0
    grown.weight[node] = weight
    for k in range(last):
        share = totals[k] / weight
        grown.value[node, k] = share
        impurity -= share * share
    nodes[node, FEATURE] = LEAF
    if here.end - here.begin < 2 or weight < 2 * limits.least or nodes[node, DEPTH] >= limits.max_depth:
        return False
    if last == 1:
        impurity = centre(targets, here, totals, grown.value[node, 0])
    if impurity <= (ROUNDING if last > 1 else 0.0):
        return False
    tolerance = (ROUNDING * impurity + (1e-15 if last > 1 else 0.0)) * weight
    search(columns, limits, node, grown, here, Whole(totals, limits.least, tolerance), impurity * weight, space)
    return bool(nodes[node, FEATURE] != LEAF)


@compiled
def gather(targets: Targets, here: Here, totals: Array) -> None:
    """Lay the rows of a node side by side and sum them up."""
    last = len(totals) - 1
    for k in range(last + 1):
        totals[k] = 0.0
    for i in range(here.end - here.begin):
        row = here.rows[here.begin + i]
        k, weight = targets.slot[row], targets.weight[row]
        here.slots[i] = k
        here.parts[i, WEIGHT] = weight
        here.parts[i, AMOUNT] = weight * targets.output[row]
        totals[k] += here.parts[i, AMOUNT]
        totals[last] += weight


@compiled
def centre(targets: Targets, here: Here, totals: Array, mean: float) -> float:
    """Count amounts from the mean, which keeps digits; the variance, or 0 where that is only rounding."""
    spread, rest = 0.0, 0.0
    for i in range(here.end - here.begin):
        away = targets.output[here.rows[here.begin + i]] - mean
        here.parts[i, AMOUNT] = here.parts[i, WEIGHT] * away
        rest += here.parts[i, AMOUNT]
        spread += here.parts[i, AMOUNT] * away
    totals[0] = rest
    variance = spread / totals[1]
    return variance if variance > (8 * np.finfo(np.float64).eps * mean) ** 2 else 0.0


@compiled
def search(
    columns: Columns, limits: Limits, node: int, grown: Grown, here: Here, whole: Whole, most: float, space: Space
) -> None:
    """Note the best split of a node by columns drawn at random, going on while none of them gains anything.

    No split can gain more than ``most``, so the first that does ends the search. All columns are taken in order.
    """
    squares = 0.0
    for k in range(len(whole.totals) - 1):
        squares += whole.totals[k] * whole.totals[k]
    squares /= whole.totals[len(whole.totals) - 1]
    best, perfect, width = squares + whole.tolerance, squares + most - whole.tolerance, len(space.drawn)
    for k in range(width):
        if (k >= limits.features and grown.nodes[node, FEATURE] != LEAF) or best >= perfect:
            break
        if limits.features < width:
            other = k + random_below(space.state, width - k)
            space.drawn[k], space.drawn[other] = space.drawn[other], space.drawn[k]
        feature = space.drawn[k]
        score, low, high, side = split_by(columns, limits.random_cuts, feature, here, whole, space)
        if score > best + whole.tolerance:
            best = score
            grown.gain[node] = score - squares
            grown.threshold[node] = cut_between(columns, feature, low, high, space.wish[0])
            grown.nodes[node, FEATURE], grown.nodes[node, SIDE] = feature, side
            grown.nodes[node, LOW], grown.nodes[node, HIGH] = low, high


@compiled
def split_by(columns: Columns, random_cuts: bool, feature: int, here: Here, whole: Whole, space: Space) -> Split:
    """The best split of a node by one column, or one drawn at random."""
    known, count = columns.known[feature], here.end - here.begin
    if random_cuts and columns.ordered[feature]:
        return random_threshold(columns, feature, here, whole, space.sums, space.state, space.wish)
    if random_cuts:
        return random_level(columns, feature, here, whole, space.sums, space.state)
    if columns.ordered[feature] and count <= FEW:
        sort_few(columns, feature, here, space.keys, space.order)
        last = space.order[count - 1] // FEW
        if last == space.order[0] // FEW:
            return -np.inf, 0, 0, 0
        if last < known:
            return best_threshold_of_few(here, whole, space.order, space.left)
    add_up(columns, feature, here, space.sums)
    if columns.ordered[feature]:
        return best_threshold(space.sums, known, whole, space.left, space.present)
    return best_level(space.sums, known, whole)


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
def divide(columns: Columns, node: int, nodes: Codes, rows: Codes, right: Codes) -> int:
    """Deal the rows of a node to its branches, in the order they have; where those of the right one begin."""
    feature, low, side = nodes[node, FEATURE], nodes[node, LOW], nodes[node, SIDE]
    known, ordered = columns.known[feature], columns.ordered[feature]
    middle, others, missing = int(nodes[node, BEGIN]), 0, 0
    for i in range(nodes[node, BEGIN], nodes[node, END]):
        row = rows[i]
        b = columns.bins[feature, row]
        goes = (b <= low or (b == known and side == 1)) if ordered else b == low
        rows[middle] = row
        right[others] = row
        middle += goes
        others += not goes
        missing += b == known
    if missing == 0:
        nodes[node, SIDE] = NONE_MISSING
    for i in range(others):
        rows[middle + i] = right[i]
    return middle
