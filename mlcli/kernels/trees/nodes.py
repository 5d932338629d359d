"""Compiled stages of a node of classes or values: its sums, its best split, and the rows that go left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.trees.binning import Bins
from mlcli.kernels.trees.splits import (
    ENTROPY,
    SQUARES,
    Chance,
    Whole,
    best_split,
    bin_of,
    bits_of,
    random_below,
    random_split,
)
from mlcli.kernels.trees.sums import (
    AMOUNT,
    WEIGHT,
    Columns,
    Here,
    Ids,
    Room,
    Targets,
    Words,
    gather,
    mean_and_spread,
)
from mlcli.kernels.without_counting import inlined

ROUNDING = 1e-12
FEATURE, LOW, SIDE, LEFT, BEGIN, END, DEPTH = range(7)
"""Columns of ``nodes``: what is asked (bins up to ``LOW`` go left), the side of missing cells, the first child,
the rows, and the depth."""
LEAF = -1
"""The feature of a node that asks nothing."""
NO_LIMIT = 2**31 - 1
"""Of depth and of leaves."""
NONE_MISSING = 2
"""The side of missing cells where there were none."""


class Limits(NamedTuple):
    """How many columns are drawn for a node, and when it becomes a leaf."""

    features: int
    criterion: int
    least: float
    """The least weight of a leaf, and of a node that is split, in units."""
    fewest: float
    max_depth: int
    max_leaves: int
    min_gain: float
    """What a split must gain more than, by the weight of the node."""
    of_shares: bool
    purity: float
    """A node with this share of one class, or else with this part of the root's impurity gone, is a leaf."""


class Grown(NamedTuple):
    """The nodes of a tree, with room for more than there are."""

    nodes: Codes
    threshold: Array
    gain: Array
    """The weighted impurity that each split takes away."""
    weight: Array
    impurity: Array
    mean: Array
    """Of values."""
    totals: Words
    """The words of each node."""


class Space(NamedTuple):
    """Memory to work in; ``rows`` are the training rows of the tree, grouped by node as it grows."""

    rows: Ids
    right: Ids
    parts: Words
    drawn: Rows
    state: Rows
    waiting: Rows
    room: Room


@inlined
def examine(
    columns: Columns, targets: Targets, unit: float, limits: Limits, node: int, grown: Grown, space: Space,
    chance: Chance | None,
) -> bool:  # fmt: skip
    """Sum up a node, and find its split; whether there is one."""
    nodes = grown.nodes
    here = Here(space.rows[nodes[node, BEGIN] : nodes[node, END]], space.parts)
    gather(targets, here, grown.totals, node)
    nodes[node, FEATURE] = LEAF
    before, most, noise, pure = 0.0, 0.0, 0.0, False
    if targets.bits == 0:
        weight = float(grown.totals[node, WEIGHT])
        most, pure = settle_values(targets, here, grown, node, limits.purity)
        before = float(grown.totals[node, AMOUNT]) ** 2 / weight
    else:
        weight, before, largest = settle_classes(grown.totals, node, targets.bits, limits.criterion)
        most = weight - before if limits.criterion == SQUARES else -before
        noise, grown.impurity[node] = 1e-15 * weight, most / weight
        pure = largest >= limits.purity * weight
        if not limits.of_shares:
            pure = grown.impurity[node] <= (1.0 - limits.purity) * grown.impurity[0]
    grown.weight[node], grown.gain[node] = weight, 0.0
    if len(here.rows) < 2 or weight < 2 * limits.least or weight < limits.fewest:
        return False
    if nodes[node, DEPTH] >= limits.max_depth or pure or most <= noise:
        return False
    scale = unit * unit if targets.bits == 0 else 1.0
    most /= scale
    tolerance = ROUNDING * most + noise
    whole = Whole(grown.totals[node], targets.bits, limits.criterion, limits.least, tolerance)
    wanted = limits.min_gain * weight / scale
    search(columns, limits, node, grown, here, whole, before, most, wanted, space, chance)
    grown.gain[node] *= scale
    return bool(nodes[node, FEATURE] != LEAF)


@inlined
def settle_values(targets: Targets, here: Here, grown: Grown, node: int, purity: float) -> tuple[float, bool]:
    """Mean and spread of a node of values, whose amounts are counted from there; the spread, and if it is pure."""
    total = grown.totals[node]
    grown.mean[node], spread = mean_and_spread(targets, here)
    grown.impurity[node] = spread / total[WEIGHT]
    centre = int(np.rint(total[AMOUNT] / total[WEIGHT]))
    total[AMOUNT] -= centre * total[WEIGHT]
    for i in range(len(here.rows)):
        here.parts[AMOUNT, i] -= centre * here.parts[WEIGHT, i]
    return spread, grown.impurity[node] <= (1.0 - purity) * grown.impurity[0]


@inlined
def settle_classes(totals: Words, node: int, bits: int, criterion: int) -> tuple[float, float, float]:
    """The weight of a node of classes, what it scores, and the weight of its largest class."""
    weight, score, largest, mask = 0.0, 0.0, 0.0, (1 << bits) - 1
    for w in range(totals.shape[1]):
        word = totals[node, w]
        while word:
            one = float(word & mask)
            weight += one
            largest = one if one > largest else largest
            score += bits_of(one) if criterion == ENTROPY else one * one
            word >>= bits
    if criterion == SQUARES:
        return weight, score / weight, largest
    return weight, score - bits_of(weight) if criterion == ENTROPY else largest - weight, largest


@inlined
def search(
    columns: Columns, limits: Limits, node: int, grown: Grown, here: Here, whole: Whole, before: float,
    most: float, wanted: float, space: Space, chance: Chance | None,
) -> None:  # fmt: skip
    """Note the best split of a node by columns drawn at random, going on while none of them gains anything.

    No split can gain more than ``most``, so the first that does ends the search. All columns are taken in order.
    """
    best, perfect, width = before + wanted + whole.tolerance, before + most - whole.tolerance, len(space.drawn)
    first = True
    for k in range(width):
        found = grown.nodes[node, FEATURE] != LEAF
        if found and (k >= limits.features or best >= perfect):
            break
        if limits.features < width:
            other = k + random_below(space.state, width - k)
            space.drawn[k], space.drawn[other] = space.drawn[other], space.drawn[k]
        feature, wish = space.drawn[k], np.nan
        score, low, high, side = -np.inf, 0, 0, 0
        if chance is None:
            score, low, high, side = best_split(columns, feature, here, whole, space.room)
        else:
            score, low, high, side = random_split(columns, feature, here, whole, space.room, space.state, chance)
            wish = chance.wish[0]
        if score > best + (0.0 if first else whole.tolerance):
            best, first = score, False
            grown.gain[node] = score - before
            if chance is not None and low < high < columns.known[feature]:
                low = bin_of(columns.lowest[feature], wish, low, high)
                high = low + 1
            grown.threshold[node] = cut_between(columns, feature, low, high, wish)
            grown.nodes[node, FEATURE], grown.nodes[node, LOW], grown.nodes[node, SIDE] = feature, low, side


@inlined
def cut_between(columns: Columns, feature: int, low: int, high: int, wish: float) -> float:
    """The threshold between two bins: the one wished for where it lies there, or else half-way; or the level.

    Infinite where ``high`` is the bin of missing cells.
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


@inlined
def deal(
    column: Bins, lowest: int, low: int, known: int, missing_left: bool, rows: Ids, right: Ids
) -> tuple[int, int]:
    """Put the rows in bins from ``lowest`` to ``low`` before the others, both in their order.

    Rows in the bin ``known`` miss the cell. How many go left, and how many miss; ``right`` is room. Nothing
    branches on a row, since nobody could foresee where it goes.
    """
    lefts, rights, missing = np.uint64(0), np.uint64(0), 0
    for i in range(len(rows)):
        row = rows[i]
        b = int(column[row])
        lost = b == known
        goes = ((b >= lowest) & (b <= low)) | (lost & missing_left)
        rows[lefts] = row
        right[rights] = row
        lefts += np.uint64(goes)
        rights += np.uint64(not goes)
        missing += lost
    rest = rows[lefts:]
    for i in range(len(rest)):
        rest[i] = right[i]
    return int(lefts), missing
