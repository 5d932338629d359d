"""Compiled search of histograms for the split that lowers the loss most, as a quadratic of the scores sees it.

A side with gradient G and hessian H scores −G / (H + l2), which lowers the loss by ½ G² / (H + l2). Gains leave
out the ½.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.trees.gradient_sums import Bytes, Whole
from mlcli.kernels.without_counting import inlined

NOTHING = -np.inf
LEAST_HESSIAN = 1e-3
"""The least curvature of a side: with less, no step could be trusted."""
ROUNDING = 1e-12
"""A gain no larger than this share of what the node has already is one of rounding alone."""
NUMERIC, NOMINAL = 0, 1
"""How the bins of a column may be parted: below and above, or in any two groups."""


class GradientColumns(NamedTuple):
    """Binned columns, also in blocks."""

    blocks: Bytes
    columns: Bytes
    bins: Rows
    """How many bins each column of the blocks may have, that of missing cells included."""
    known: Rows
    kinds: Rows
    directions: Rows


class Scales(NamedTuple):
    """What sums are multiples of, and what a side must heed."""

    gradient: float
    hessian: float
    l2: float
    least: int
    """The least weight of a side."""
    shift: int
    """How many bits up the weight stands in the word of the hessian."""
    bound: bool
    """Whether scores are."""


class SplitRoom(NamedTuple):
    """Memory to search one column in."""

    along: Whole
    """Gradient and packed word left of each cut, and the bin before it."""
    order: Whole
    ordered: Whole
    """The sums of a column's levels in that order."""
    gains: Array


@inlined
def hessian_of(packed: int, scales: Scales) -> float:
    """The hessian in a word that holds the weight too."""
    hessian: float = (packed & ((np.int64(1) << scales.shift) - 1)) * scales.hessian
    return hessian


@inlined
def score_of(gradient: float, hessian: float, bounds: Array) -> float:
    """The best score of a side within its bounds; ``hessian`` includes l2."""
    free = -gradient / hessian if hessian > 0.0 else 0.0
    least = free if free > bounds[0] else bounds[0]
    return least if least < bounds[1] else bounds[1]


@inlined
def lowering(gradient: float, hessian: float, score: float) -> float:
    """Twice what a score lowers the loss by."""
    return -(2.0 * gradient + hessian * score) * score


@inlined
def sides_of(gradient: int, packed: int, total: Whole, scales: Scales) -> tuple[float, float, float, float, bool]:
    """The gradient of both sides of a cut, H + l2 of both, and whether one has too little weight or curvature."""
    left, right = gradient * scales.gradient, (total[0] - gradient) * scales.gradient
    here, there = hessian_of(packed, scales), hessian_of(total[1] - packed, scales)
    weight = packed >> scales.shift
    rest = (total[1] >> scales.shift) - weight
    poor = (weight < scales.least) | (rest < scales.least) | (here < LEAST_HESSIAN) | (there < LEAST_HESSIAN)
    return left, right, here + scales.l2, there + scales.l2, poor


@inlined
def gain_of(gradient: int, packed: int, total: Whole, scales: Scales) -> float:
    """G²/(H + l2) of both sides of a cut; minus infinity where a side has too little."""
    left, right, here, there, poor = sides_of(gradient, packed, total, scales)
    gain = (left * left * there + right * right * here) / (here * there)
    return NOTHING if poor else gain


@inlined
def bounded_gain(gradient: int, packed: int, total: Whole, scales: Scales, direction: int, bounds: Array) -> float:
    """The same where scores have bounds, and those of the two sides must rise or fall in one direction."""
    left, right, here, there, poor = sides_of(gradient, packed, total, scales)
    below, above = score_of(left, here, bounds), score_of(right, there, bounds)
    gain = lowering(left, here, below) + lowering(right, there, above)
    return NOTHING if poor or direction * (above - below) < 0.0 else gain


@inlined
def best_cut(
    sums: Whole, cuts: int, gradient: int, packed: int, total: Whole, scales: Scales, direction: int,
    bounds: Array, room: SplitRoom,
) -> tuple[float, int]:  # fmt: skip
    """The first best cut between bins, with a gradient and more on the left to begin with.

    After an empty bin there is no other cut than before it, and in most nodes most bins are empty.
    """
    along, gains, count = room.along, room.gains, 0
    for k in range(cuts):
        gradient += sums[2 * k]
        packed += sums[2 * k + 1]
        along[0, count], along[1, count], along[2, count] = gradient, packed, k
        count += sums[2 * k + 1] != 0
    if scales.bound:
        for k in range(count):
            gains[k] = bounded_gain(along[0, k], along[1, k], total, scales, direction, bounds)
    else:
        for k in range(count):
            gains[k] = gain_of(along[0, k], along[1, k], total, scales)
    best, most = 0, NOTHING
    for k in range(count):
        if gains[k] > most:
            best, most = along[2, k], gains[k]
    return most, best


@inlined
def sort_levels(sums: Whole, known: int, scales: Scales, room: SplitRoom) -> int:
    """Put the levels that have rows, missing as the last of them, in order of gradient over hessian.

    Of equals the first is first. How many there are.
    """
    count, order, ratios = 0, room.order, room.gains
    for level in range(known + 1):
        packed = sums[2 * level + 1]
        if packed >> scales.shift > 0:
            hessian = hessian_of(packed, scales) + scales.l2
            ratio = sums[2 * level] * scales.gradient / (hessian if hessian > LEAST_HESSIAN else LEAST_HESSIAN)
            place = count
            while place > 0 and ratios[place - 1] > ratio:
                order[place], ratios[place] = order[place - 1], ratios[place - 1]
                place -= 1
            order[place], ratios[place] = level, ratio
            count += 1
    for k in range(count):
        room.ordered[2 * k], room.ordered[2 * k + 1] = sums[2 * order[k]], sums[2 * order[k] + 1]
    return count


@inlined
def best_of_column(
    sums: Whole, columns: GradientColumns, f: int, total: Whole, scales: Scales, bounds: Array, room: SplitRoom
) -> tuple[float, int, bool]:
    """The best cut of a column, and whether missing cells go left of it; of equals right.

    A column with an order is cut twice, with missing cells on the right and on the left; levels are put in order.
    """
    best, cut, left, known, sides = NOTHING, 0, False, columns.known[f], 2
    gradient, packed, source, direction = sums[2 * known], sums[2 * known + 1], sums, columns.directions[f]
    cuts = known if packed else known - 1
    if columns.kinds[f] == NOMINAL:
        cuts = sort_levels(sums, known, scales, room) - 1
        source, direction, sides = room.ordered, 0, 1
    elif packed == 0 or known < 2:
        sides = 1
    for side in range(sides):
        if side == 1:
            cuts = known - 1
        if cuts > 0:
            gain, place = best_cut(
                source, cuts, side * gradient, side * packed, total, scales, direction, bounds, room
            )
            if gain > best:
                best, cut, left = gain, place, side == 1
    return best, cut, left


@inlined
def best_split(
    sums: Whole, columns: GradientColumns, total: Whole, scales: Scales, bounds: Array, room: SplitRoom
) -> tuple[float, int, int, bool]:
    """What the best split of a node gains, its column, its cut, and whether missing cells go left; 0 for none."""
    best, column, cut, left = NOTHING, -1, 0, False
    for f in range(len(columns.known)):
        gain, place, side = best_of_column(sums[f], columns, f, total, scales, bounds, room)
        if gain > best:
            best, column, cut, left = gain, f, place, side
    gradient, hessian = total[0] * scales.gradient, hessian_of(total[1], scales) + scales.l2
    already = lowering(gradient, hessian, score_of(gradient, hessian, bounds))
    gain = best - already
    return (gain if gain > ROUNDING * abs(already) else 0.0), column, cut, left
