"""Compiled search of histograms for the split that lowers the loss most, as a quadratic of the scores sees it.

A side with gradient G and hessian H scores −G / (H + l2), which lowers the loss by ½ G² / (H + l2). Gains leave
out the ½. ``units`` are what sums of gradients and of hessians are multiples of, and l2; ``whole`` are the least
weight of a side, how many bits up the weight stands, and whether scores are bound.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Rows
from mlcli.kernels.gradient_histograms import PER_COLUMN, Whole

NOTHING = -np.inf
LEAST_HESSIAN = 1e-3
"""The least curvature of a side: with less, no step could be trusted."""
ROUNDING = 1e-12
"""A gain no larger than this share of what the node has already is one of rounding alone."""

FEW = 4
"""With so many bins for each row, empty bins are passed by."""
NUMERIC, NOMINAL = 0, 1
"""How the bins of a column may be parted: below and above, or in any two groups."""


@njit(cache=True, nogil=True, error_model="numpy")
def hessian_of(packed: int, units: Array, whole: Whole) -> float:
    """The hessian in a word that holds the weight too."""
    hessian: float = (packed & ((np.int64(1) << whole[1]) - 1)) * units[1]
    return hessian


@njit(cache=True, nogil=True, error_model="numpy")
def running(sums: Whole, cuts: int, gradient: int, packed: int, along: Whole) -> None:
    """Fill ``along`` with what lies left of the cut after each bin; there is something already to begin with."""
    for k in range(cuts):
        gradient += sums[2 * k]
        packed += sums[2 * k + 1]
        along[0, k], along[1, k] = gradient, packed


@njit(cache=True, nogil=True, error_model="numpy")
def free_gains(along: Whole, cuts: int, total: Whole, units: Array, whole: Whole, gains: Array) -> None:
    """Fill ``gains`` with G²/(H + l2) of both sides of every cut; minus infinity where a side has too little."""
    least, shift = whole[0], whole[1]
    mask = (np.int64(1) << shift) - 1
    unit, scale, l2 = units[0], units[1], units[2]
    all_weight, all_gradient, all_hessian = total[1] >> shift, total[0], total[1] & mask
    for k in range(cuts):
        weight, low = along[1, k] >> shift, along[1, k] & mask
        left, right = along[0, k] * unit, (all_gradient - along[0, k]) * unit
        here, there = low * scale, (all_hessian - low) * scale
        poor = (weight < least) | (all_weight - weight < least) | (here < LEAST_HESSIAN) | (there < LEAST_HESSIAN)
        here = l2 + (here if here > LEAST_HESSIAN else LEAST_HESSIAN)
        there = l2 + (there if there > LEAST_HESSIAN else LEAST_HESSIAN)
        gain = (left * left * there + right * right * here) / (here * there)
        gains[k] = NOTHING if poor else gain


@njit(cache=True, nogil=True, error_model="numpy")
def score_of(gradient: float, hessian: float, lower: float, upper: float) -> float:
    """The best score of a side within its bounds; ``hessian`` includes l2."""
    return min(max(-gradient / hessian, lower), upper) if hessian > 0.0 else min(max(0.0, lower), upper)


@njit(cache=True, nogil=True, error_model="numpy")
def lowering(gradient: float, hessian: float, score: float) -> float:
    """Twice what a score lowers the loss by."""
    return -(2.0 * gradient + hessian * score) * score


@njit(cache=True, nogil=True, error_model="numpy")
def bounded_gains(
    along: Whole, cuts: int, total: Whole, units: Array, whole: Whole, direction: int, bounds: Array, gains: Array
) -> None:
    """The same where scores have bounds, and those of the two sides must rise or fall in one direction."""
    for k in range(cuts):
        weight, all_weight = along[1, k] >> whole[1], total[1] >> whole[1]
        left, right = along[0, k] * units[0], (total[0] - along[0, k]) * units[0]
        here, there = hessian_of(along[1, k], units, whole), hessian_of(total[1] - along[1, k], units, whole)
        gains[k] = NOTHING
        if weight < whole[0] or all_weight - weight < whole[0] or min(here, there) < LEAST_HESSIAN:
            continue
        below = score_of(left, here + units[2], bounds[0], bounds[1])
        above = score_of(right, there + units[2], bounds[0], bounds[1])
        if direction * (above - below) >= 0.0:
            gains[k] = lowering(left, here + units[2], below) + lowering(right, there + units[2], above)


@njit(cache=True, nogil=True, error_model="numpy")
def first_best(gains: Array, cuts: int) -> int:
    """The first of the largest."""
    best, most = 0, gains[0]
    for k in range(1, cuts):
        if gains[k] > most:
            best, most = k, gains[k]
    return best


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def by_score(sums: Whole, known: int, units: Array, whole: Whole) -> Rows:
    """The levels with rows, missing as the last of them, by gradient over hessian; of equals the first first."""
    present = np.empty(known + 1, np.intp)
    ratio = np.empty(known + 1)
    count = 0
    for level in range(known + 1):
        packed = sums[2 * level + 1]
        if packed >> whole[1] > 0:
            present[count] = level
            ratio[count] = (
                sums[2 * level] * units[0] / max(hessian_of(packed, units, whole) + units[2], LEAST_HESSIAN)
            )
            count += 1
    return present[:count][np.argsort(ratio[:count], kind="mergesort")]


@njit(cache=True, nogil=True, error_model="numpy")
def best_cut(
    sums: Whole, cuts: int, gradient: int, packed: int, total: Whole, units: Array, whole: Whole, rows: int,
    direction: int, bounds: Array, along: Whole, gains: Array,
) -> tuple[float, int]:  # fmt: skip
    """The first best cut between bins, with a gradient and more on the left to begin with."""
    if whole[2]:
        running(sums, cuts, gradient, packed, along)
        bounded_gains(along, cuts, total, units, whole, direction, bounds, gains)
    elif FEW * rows < cuts:
        return best_of_few(sums, cuts, gradient, packed, total, units, whole)
    else:
        running(sums, cuts, gradient, packed, along)
        free_gains(along, cuts, total, units, whole, gains)
    best = first_best(gains, cuts)
    return gains[best], best


@njit(cache=True, nogil=True, error_model="numpy")
def best_of_values(
    sums: Whole, known: int, total: Whole, units: Array, whole: Whole, rows: int, direction: int, bounds: Array,
    along: Whole, gains: Array,
) -> tuple[float, int, bool]:  # fmt: skip
    """The best cut of a column with an order, and whether missing cells go left of it; of equals right."""
    gradient, packed = sums[2 * known], sums[2 * known + 1]
    gain, cut = NOTHING, 0
    cuts = known if packed else known - 1
    if cuts > 0:
        gain, cut = best_cut(sums, cuts, 0, 0, total, units, whole, rows, direction, bounds, along, gains)
    if packed and known > 1:
        other, place = best_cut(
            sums, known - 1, gradient, packed, total, units, whole, rows, direction, bounds, along, gains
        )
        if other > gain:
            return other, place, True
    return gain, cut, False


@njit(cache=True, nogil=True, error_model="numpy")
def best_of_levels(
    sums: Whole, known: int, total: Whole, units: Array, whole: Whole, bounds: Array, along: Whole, gains: Array
) -> tuple[float, int, bool]:
    """The best cut of a nominal column through its levels as ``by_score`` puts them."""
    order = by_score(sums, known, units, whole)
    if len(order) < 2:
        return NOTHING, 0, False
    sorted_sums = np.empty(2 * len(order), np.int64)
    for k in range(len(order)):
        sorted_sums[2 * k], sorted_sums[2 * k + 1] = sums[2 * order[k]], sums[2 * order[k] + 1]
    cuts = len(order) - 1
    gain, cut = best_cut(sorted_sums, cuts, 0, 0, total, units, whole, cuts, 0, bounds, along, gains)
    return gain, cut, False


@njit(cache=True, nogil=True, error_model="numpy")
def best_split(
    sums: Whole, known: Rows, kinds: Rows, total: Whole, units: Array, whole: Whole, rows: int,
    directions: Rows, bounds: Array, along: Whole, gains: Array,
) -> tuple[float, int, int, bool]:  # fmt: skip
    """What the best split of a node gains, its column, its cut, and whether missing cells go left; 0 for none."""
    best, column, cut, left = NOTHING, -1, 0, False
    for f in range(len(known)):
        of_column = sums[f * PER_COLUMN : (f + 1) * PER_COLUMN]
        if kinds[f] == NOMINAL:
            gain, place, side = best_of_levels(of_column, known[f], total, units, whole, bounds, along, gains)
        else:
            gain, place, side = best_of_values(
                of_column, known[f], total, units, whole, rows, directions[f], bounds, along, gains
            )
        if gain > best:
            best, column, cut, left = gain, f, place, side
    gradient, hessian = total[0] * units[0], hessian_of(total[1], units, whole) + units[2]
    already = lowering(gradient, hessian, score_of(gradient, hessian, bounds[0], bounds[1]))
    gain = best - already
    return (gain if gain > ROUNDING * abs(already) else 0.0), column, cut, left
