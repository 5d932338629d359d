"""Compiled search of histograms for the split that lowers the loss most, as a quadratic of the scores sees it.

A side with gradient G and hessian H scores −G / (H + l2), which lowers the loss by ½ G² / (H + l2). Gains leave
out the ½. ``units`` are what sums of gradients and of hessians are multiples of, and l2; ``whole`` are the least
weight of a side, how many bits up the weight stands, and whether scores are bound.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.trees.gradient_sums import PER_COLUMN, Whole
from mlcli.kernels.without_counting import inlined

NOTHING = -np.inf
LEAST_HESSIAN = 1e-3
"""The least curvature of a side: with less, no step could be trusted."""
ROUNDING = 1e-12
"""A gain no larger than this share of what the node has already is one of rounding alone."""

LEFT_GRADIENT, LEFT_PACKED, ORDER, GOES_LEFT = range(4)
"""What the rows of the room to work in hold, of every bin."""
FEW = 4
"""With so many bins for each row, empty bins are passed by."""
NUMERIC, NOMINAL = 0, 1
"""How the bins of a column may be parted: below and above, or in any two groups."""


@inlined
def hessian_of(packed: int, units: Array, whole: Whole) -> float:
    """The hessian in a word that holds the weight too."""
    hessian: float = (packed & ((np.int64(1) << whole[1]) - 1)) * units[1]
    return hessian


@inlined
def running(sums: Whole, cuts: int, gradient: int, packed: int, along: Whole) -> None:
    """Fill ``along`` with what lies left of the cut after each bin; there is something already to begin with."""
    for k in range(cuts):
        gradient += sums[2 * k]
        packed += sums[2 * k + 1]
        along[LEFT_GRADIENT, k], along[LEFT_PACKED, k] = gradient, packed


@inlined
def free_gains(along: Whole, cuts: int, total: Whole, units: Array, whole: Whole, gains: Array) -> None:
    """Fill ``gains`` with G²/(H + l2) of both sides of every cut; minus infinity where a side has too little."""
    least, shift = whole[0], whole[1]
    mask = (np.int64(1) << shift) - 1
    unit, scale, l2 = units[0], units[1], units[2]
    all_weight, all_gradient, all_hessian = total[1] >> shift, total[0], total[1] & mask
    for k in range(cuts):
        weight, low = along[LEFT_PACKED, k] >> shift, along[LEFT_PACKED, k] & mask
        left, right = along[LEFT_GRADIENT, k] * unit, (all_gradient - along[LEFT_GRADIENT, k]) * unit
        here, there = low * scale, (all_hessian - low) * scale
        poor = (weight < least) | (all_weight - weight < least) | (here < LEAST_HESSIAN) | (there < LEAST_HESSIAN)
        here = l2 + (here if here > LEAST_HESSIAN else LEAST_HESSIAN)
        there = l2 + (there if there > LEAST_HESSIAN else LEAST_HESSIAN)
        gain = (left * left * there + right * right * here) / (here * there)
        gains[k] = NOTHING if poor else gain


@inlined
def score_of(gradient: float, hessian: float, lower: float, upper: float) -> float:
    """The best score of a side within its bounds; ``hessian`` includes l2."""
    free = -gradient / hessian if hessian > 0.0 else 0.0
    least = free if free > lower else lower
    return least if least < upper else upper


@inlined
def lowering(gradient: float, hessian: float, score: float) -> float:
    """Twice what a score lowers the loss by."""
    return -(2.0 * gradient + hessian * score) * score


@inlined
def bounded_gains(
    along: Whole, cuts: int, total: Whole, units: Array, whole: Whole, direction: int, bounds: Array, gains: Array
) -> None:
    """The same where scores have bounds, and those of the two sides must rise or fall in one direction."""
    for k in range(cuts):
        weight, all_weight = along[LEFT_PACKED, k] >> whole[1], total[1] >> whole[1]
        left, right = along[LEFT_GRADIENT, k] * units[0], (total[0] - along[LEFT_GRADIENT, k]) * units[0]
        here, there = (
            hessian_of(along[LEFT_PACKED, k], units, whole),
            hessian_of(total[1] - along[LEFT_PACKED, k], units, whole),
        )
        gains[k] = NOTHING
        if weight < whole[0] or all_weight - weight < whole[0]:
            continue
        if here < LEAST_HESSIAN or there < LEAST_HESSIAN:
            continue
        below = score_of(left, here + units[2], bounds[0], bounds[1])
        above = score_of(right, there + units[2], bounds[0], bounds[1])
        if direction * (above - below) >= 0.0:
            gains[k] = lowering(left, here + units[2], below) + lowering(right, there + units[2], above)


@inlined
def first_best(gains: Array, cuts: int) -> int:
    """The first of the largest."""
    best, most = 0, gains[0]
    for k in range(1, cuts):
        if gains[k] > most:
            best, most = k, gains[k]
    return best


@inlined
def best_of_few(
    sums: Whole, cuts: int, gradient: int, packed: int, total: Whole, units: Array, whole: Whole
) -> tuple[float, int]:
    """What ``free_gains`` and ``first_best`` find, for few rows: empty bins are passed by."""
    least, shift = whole[0], whole[1]
    mask = (np.int64(1) << shift) - 1
    unit, scale, l2 = units[0], units[1], units[2]
    all_weight, all_gradient, all_hessian = total[1] >> shift, total[0], total[1] & mask
    best, place = NOTHING, 0
    for k in range(cuts):
        if sums[2 * k + 1] == 0 and k > 0:
            continue
        gradient += sums[2 * k]
        packed += sums[2 * k + 1]
        weight, low = packed >> shift, packed & mask
        if weight < least:
            continue
        if all_weight - weight < least:
            break
        left, right = gradient * unit, (all_gradient - gradient) * unit
        here, there = low * scale, (all_hessian - low) * scale
        if here < LEAST_HESSIAN or there < LEAST_HESSIAN:
            continue
        here, there = here + l2, there + l2
        gain = (left * left * there + right * right * here) / (here * there)
        if gain > best:
            best, place = gain, k
    return best, place


@inlined
def by_score(sums: Whole, known: int, units: Array, whole: Whole, order: Whole, ratios: Array) -> int:
    """Fill ``order`` with the levels that have rows, missing as the last of them, by gradient over hessian.

    Of equals the first is first. Returns how many there are; ``ratios`` is room.
    """
    count = 0
    for level in range(known + 1):
        packed = sums[2 * level + 1]
        if packed >> whole[1] > 0:
            hessian = hessian_of(packed, units, whole) + units[2]
            ratio = sums[2 * level] * units[0] / (hessian if hessian > LEAST_HESSIAN else LEAST_HESSIAN)
            place = count
            while place > 0 and ratios[place - 1] > ratio:
                order[place], ratios[place] = order[place - 1], ratios[place - 1]
                place -= 1
            order[place], ratios[place] = level, ratio
            count += 1
    return count


@inlined
def best_cut(
    sums: Whole, cuts: int, gradient: int, packed: int, total: Whole, units: Array, whole: Whole, rows: int,
    direction: int, bounds: Array, along: Whole, gains: Array,
) -> tuple[float, int]:  # fmt: skip
    """The first best cut between bins, with a gradient and more on the left to begin with."""
    if whole[2] == 0 and FEW * rows < cuts:
        return best_of_few(sums, cuts, gradient, packed, total, units, whole)
    running(sums, cuts, gradient, packed, along)
    if whole[2]:
        bounded_gains(along, cuts, total, units, whole, direction, bounds, gains)
    else:
        free_gains(along, cuts, total, units, whole, gains)
    best = first_best(gains, cuts)
    return gains[best], best


@inlined
def sort_levels(
    sums: Whole, known: int, units: Array, whole: Whole, order: Whole, ratios: Array, ordered: Whole
) -> int:
    """Fill ``ordered`` with the sums of the levels as ``by_score`` puts them; how many there are."""
    count = by_score(sums, known, units, whole, order, ratios)
    for k in range(count):
        ordered[2 * k], ordered[2 * k + 1] = sums[2 * order[k]], sums[2 * order[k] + 1]
    return count


@inlined
def best_of_column(
    sums: Whole, known: int, kind: int, total: Whole, units: Array, whole: Whole, rows: int, direction: int,
    bounds: Array, room: Whole, ordered: Whole, gains: Array,
) -> tuple[float, int, bool]:  # fmt: skip
    """The best cut of a column, and whether missing cells go left of it; of equals right.

    A column with an order is cut twice, with missing cells on the right and on the left; levels are put in order.
    """
    best, cut, left = NOTHING, 0, False
    gradient, packed, source, sides = sums[2 * known], sums[2 * known + 1], sums, 2
    cuts, few = (known if packed else known - 1), rows
    if kind == NOMINAL:
        cuts = sort_levels(sums, known, units, whole, room[ORDER], gains, ordered) - 1
        source, few, direction, sides = ordered, cuts, 0, 1
    elif packed == 0 or known < 2:
        sides = 1
    for side in range(sides):
        if side == 1:
            cuts = known - 1
        if cuts > 0:
            gain, place = best_cut(
                source, cuts, side * gradient, side * packed, total, units, whole, few, direction, bounds, room,
                gains,
            )  # fmt: skip
            if gain > best:
                best, cut, left = gain, place, side == 1
    return best, cut, left


@inlined
def best_split(
    sums: Whole, known: Rows, kinds: Rows, total: Whole, units: Array, whole: Whole, rows: int,
    directions: Rows, bounds: Array, room: Whole, ordered: Whole, gains: Array,
) -> tuple[float, int, int, bool]:  # fmt: skip
    """What the best split of a node gains, its column, its cut, and whether missing cells go left; 0 for none."""
    best, column, cut, left = NOTHING, -1, 0, False
    for f in range(len(known)):
        gain, place, side = best_of_column(
            sums[f * PER_COLUMN : (f + 1) * PER_COLUMN], known[f], kinds[f], total, units, whole, rows,
            directions[f], bounds, room, ordered, gains,
        )  # fmt: skip
        if gain > best:
            best, column, cut, left = gain, f, place, side
    gradient, hessian = total[0] * units[0], hessian_of(total[1], units, whole) + units[2]
    already = lowering(gradient, hessian, score_of(gradient, hessian, bounds[0], bounds[1]))
    gain = best - already
    return (gain if gain > ROUNDING * abs(already) else 0.0), column, cut, left
