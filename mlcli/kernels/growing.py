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
from mlcli.kernels.histograms import WEIGHT, Columns, Here, Ids, Whole, Words, add_up
from mlcli.kernels.node_sums import Grown, Targets, centre, gather, lay_out, squares_of
from mlcli.kernels.random_splits import Drawing, random_level, random_threshold
from mlcli.kernels.without_counting import compiled, inlined

ROUNDING = 1e-12


class Limits(NamedTuple):
    """How many columns are drawn for a node, how it is split, and when it becomes a leaf."""

    features: int
    least: float
    max_depth: int
    max_leaves: int


class Space(NamedTuple):
    """Memory to work in; ``rows`` are the training rows of the tree, grouped by node as it grows."""

    rows: Ids
    right: Ids
    parts: Words
    away: Array
    sums: Words
    left: Words
    drawn: Rows
    state: Rows
    wish: Array
    opened: Rows


@compiled
def grow(
    columns: Columns, targets: Targets, limits: Limits, grown: Grown, space: Space, few: Few | None,
    drawing: Drawing | None,
) -> int:  # fmt: skip
    """Grow a tree on the rows of ``space``; how many nodes it has.

    With ``few`` the best cut is searched for, with ``drawing`` one is drawn; what is None is not compiled.

    A child comes after its parent, and two siblings side by side. With a limit of leaves the split that gains
    most comes first.
    """
    nodes, opened = grown.nodes, space.opened
    nodes[0, BEGIN], nodes[0, END], nodes[0, DEPTH] = 0, len(space.rows), 0
    made, seen, leaves, waiting = int(np.int64(1)), int(np.int64(0)), 1, 0  # of the type that nodes have
    while True:
        while seen < made:
            opened[waiting] = seen
            waiting += examine(columns, targets, limits, seen, grown, space, few, drawing)
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


@inlined
def most_gainful(opened: Rows, waiting: int, gain: Array) -> int:
    """Which of the open nodes gains most; of equals the first."""
    best = 0
    for place in range(1, waiting):
        if gain[opened[place]] > gain[opened[best]]:
            best = place
    return best


@inlined
def examine(
    columns: Columns, targets: Targets, limits: Limits, node: int, grown: Grown, space: Space, few: Few | None,
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
    if few is not None and count <= FEW:
        lay_out(targets, here, few)
    whole = Whole(grown.totals[node], targets.bits, limits.least, ROUNDING * most + noise)
    search(columns, limits, node, grown, here, whole, squares, most, space, few, drawing)
    grown.gain[node] /= scale * scale
    return bool(nodes[node, FEATURE] != LEAF)


@inlined
def search(
    columns: Columns, limits: Limits, node: int, grown: Grown, here: Here, whole: Whole, squares: float,
    most: float, space: Space, few: Few | None, drawing: Drawing | None,
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
        score, low, high, side = -np.inf, 0, 0, 0
        if few is not None:
            score, low, high, side = split_by(columns, feature, here, whole, space, few)
        if drawing is not None:
            score, low, high, side = random_split(columns, feature, here, whole, space, drawing)
        if score > best + whole.tolerance:
            best = score
            grown.gain[node] = score - squares
            grown.threshold[node] = cut_between(columns, feature, low, high, space.wish[0])
            grown.nodes[node, FEATURE], grown.nodes[node, SIDE] = feature, side
            grown.nodes[node, LOW], grown.nodes[node, HIGH] = low, high


@inlined
def split_by(columns: Columns, feature: int, here: Here, whole: Whole, space: Space, few: Few) -> Split:
    """The best split of a node by one column."""
    known, count = columns.known[feature], len(here.rows)
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


@inlined
def random_split(
    columns: Columns, feature: int, here: Here, whole: Whole, space: Space, drawing: Drawing
) -> Split:
    """A split of a node by one column, drawn at random."""
    if columns.ordered[feature]:
        return random_threshold(columns, drawing, feature, here, whole, space.left, space.state, space.wish)
    return random_level(columns, feature, here, whole, space.sums, space.left, space.state)


@inlined
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


@inlined
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
