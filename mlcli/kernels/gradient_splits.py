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

NUMERIC, NOMINAL = 0, 1
"""How the bins of a column may be parted: below and above, or in any two groups."""


@njit(cache=True, nogil=True, error_model="numpy")
def hessian_of(packed: int, units: Array, whole: Whole) -> float:
    """The hessian in a word that holds the weight too."""
    hessian: float = (packed & ((np.int64(1) << whole[1]) - 1)) * units[1]
    return hessian


@njit(cache=True, nogil=True, error_model="numpy")
def running(sums: Whole, order: Rows, gradient: int, packed: int, along: Whole) -> None:
    """Fill ``along`` with what lies left of a cut after each bin of an order; it starts with something already."""
    for k in range(len(order)):
        at = 2 * order[k]
        gradient += sums[at]
        packed += sums[at + 1]
        along[0, k], along[1, k] = gradient, packed


@njit(cache=True, nogil=True, error_model="numpy")
def free_gains(along: Whole, total: Whole, units: Array, whole: Whole, gains: Array) -> None:
    """Fill ``gains`` with G²/(H + l2) of both sides of every cut; minus infinity where a side has too little."""
    least, shift = whole[0], whole[1]
    mask = (np.int64(1) << shift) - 1
    unit, scale, l2 = units[0], units[1], units[2]
    all_weight, all_gradient, all_hessian = total[1] >> shift, total[0], total[1] & mask
    for k in range(len(gains)):
        weight, low = along[1, k] >> shift, along[1, k] & mask
        left, right = along[0, k] * unit, (all_gradient - along[0, k]) * unit
        here, there = low * scale, (all_hessian - low) * scale
        poor = (weight < least) | (all_weight - weight < least) | (here < LEAST_HESSIAN) | (there < LEAST_HESSIAN)
        here, there = here + l2, there + l2
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
    along: Whole, total: Whole, units: Array, whole: Whole, direction: int, bounds: Array, gains: Array
) -> None:
    """The same where scores have bounds, and those of the two sides must rise or fall in one direction."""
    for k in range(len(gains)):
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
def first_best(gains: Array) -> int:
    """The first of the largest."""
    best = 0
    for k in range(1, len(gains)):
        if gains[k] > gains[best]:
            best = k
    return best


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
    sums: Whole, order: Rows, started: Whole, total: Whole, units: Array, whole: Whole, direction: int,
    bounds: Array, along: Whole, gains: Array,
) -> tuple[float, int]:  # fmt: skip
    """The first best cut along an order of bins, with something on the left from the start."""
    if len(order) == 0:
        return NOTHING, 0
    running(sums, order, started[0], started[1], along)
    found = gains[: len(order)]
    if whole[2]:
        bounded_gains(along, total, units, whole, direction, bounds, found)
    else:
        free_gains(along, total, units, whole, found)
    best = first_best(found)
    return found[best], best


@njit(cache=True, nogil=True, error_model="numpy")
def best_of_column(
    sums: Whole, known: int, kind: int, total: Whole, units: Array, whole: Whole, direction: int, bounds: Array,
    bins: Rows, along: Whole, gains: Array,
) -> tuple[float, int, bool]:  # fmt: skip
    """The best cut of one column, and whether missing cells go left of it; of equals right."""
    nothing = np.zeros(2, np.int64)
    if kind == NOMINAL:
        order = by_score(sums, known, units, whole)
        gain, cut = best_cut(sums, order[:-1], nothing, total, units, whole, 0, bounds, along, gains)
        return gain, cut, False
    missing = sums[2 * known : 2 * known + 2]
    some = missing[1] != 0
    cuts = known if some else known - 1
    gain, cut = best_cut(sums, bins[: max(cuts, 0)], nothing, total, units, whole, direction, bounds, along, gains)
    if some:
        lefter, other = best_cut(
            sums, bins[: max(known - 1, 0)], missing, total, units, whole, direction, bounds, along, gains
        )
        if lefter > gain:
            return lefter, other, True
    return gain, cut, False


@njit(cache=True, nogil=True, error_model="numpy")
def best_split(
    sums: Whole, known: Rows, kinds: Rows, total: Whole, units: Array, whole: Whole, directions: Rows,
    bounds: Array, bins: Rows, along: Whole, gains: Array,
) -> tuple[float, int, int, bool]:  # fmt: skip
    """What the best split of a node gains, its column, its cut, and whether missing cells go left; 0 for none."""
    best, column, cut, left = NOTHING, -1, 0, False
    for f in range(len(known)):
        of_column = sums[f * PER_COLUMN : (f + 1) * PER_COLUMN]
        gain, place, side = best_of_column(
            of_column, known[f], kinds[f], total, units, whole, directions[f], bounds, bins, along, gains
        )
        if gain > best:
            best, column, cut, left = gain, f, place, side
    gradient, hessian = total[0] * units[0], hessian_of(total[1], units, whole) + units[2]
    already = lowering(gradient, hessian, score_of(gradient, hessian, bounds[0], bounds[1]))
    gain = best - already
    return (gain if gain > ROUNDING * abs(already) else 0.0), column, cut, left
