"""Compiled search for the best split of one node by one column, from a histogram or from few rows themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes
from mlcli.kernels.histograms import AMOUNT, WEIGHT, Columns, Here
from mlcli.kernels.without_counting import compiled

FEW = 64
"""Up to how many rows sorting costs less than a histogram."""
NO_KEY = 2**15 - 1
Keys = NDArray[np.int16]
Split = tuple[float, int, int, int]
"""Score, low, high, side: bins up to ``low`` go left, those from ``high`` on right, and missing cells left if
``side`` is 1. Of a nominal column, ``low`` alone goes left. The score is what Σ S² / W becomes, or -inf."""


class Whole(NamedTuple):
    """A node before it is split: its sums, the weight last, and what a split of it must heed."""

    totals: Array
    least: float
    """The least weight of a branch."""
    tolerance: float
    """How much two scores may differ by rounding alone."""


@compiled
def score_of(left: Array, lost: Array, side: int, whole: Whole) -> float:
    """The score with these sums on the left, and if ``side`` is 1 the lost ones too; -inf if it may not be."""
    totals, last = whole.totals, len(whole.totals) - 1
    here = left[last] + side * lost[last]
    there = totals[last] - here
    if here <= 0.0 or there <= 0.0 or here < whole.least or there < whole.least:
        return -np.inf
    lefts, rights = 0.0, 0.0
    for k in range(last):
        one = left[k] + side * lost[k]
        rest = totals[k] - one
        lefts += one * one
        rights += rest * rest
    score: float = (lefts * there + rights * here) / (here * there)
    return score


@compiled
def best_threshold(sums: Array, known: int, whole: Whole, left: Array, present: Codes) -> Split:
    """The first threshold, but for rounding, that scores most; missing cells (bin ``known``) go to either side."""
    last = len(left) - 1
    lost = sums[known]
    best, best_low, best_high, best_side = -np.inf, 0, 0, 0
    for k in range(last + 1):
        left[k] = 0.0
    sides = 2 if lost[last] > 0.0 else 1
    for place in range(present_bins(sums, known, present) - 1):
        low, high = present[place], present[place + 1]
        for k in range(last + 1):
            left[k] += sums[low, k]
        for side in range(sides if high < known else 1):
            score = score_of(left, lost, side, whole)
            if score > best + whole.tolerance:
                best, best_low, best_high, best_side = score, low, high, side
    return best, best_low, best_high, best_side


@compiled
def present_bins(sums: Array, known: int, present: Codes) -> int:
    """Fill ``present`` with the bins that hold rows, that of missing cells too; how many there are."""
    last, count = sums.shape[1] - 1, 0
    for b in range(known + 1):
        present[count] = b
        count += sums[b, last] > 0.0
    return count


@compiled
def best_level(sums: Array, known: int, whole: Whole) -> Split:
    """The first level, but for rounding, that scores most when it is split from the rest."""
    best, level = -np.inf, 0
    for b in range(known + 1):
        score = score_of(sums[b], sums[b], 0, whole)
        if score > best + whole.tolerance:
            best, level = score, b
    return best, level, level, 0


@compiled
def sort_few(columns: Columns, feature: int, here: Here, keys: Keys, order: Keys) -> None:
    """Fill ``order`` with bin × 64 + place of at most 64 rows, ascending.

    The place of a key is the number of smaller ones: with so few rows, many comparisons at once are fastest.
    """
    count = here.end - here.begin
    for i in range(FEW):
        keys[0, i] = NO_KEY
        keys[1, i] = 0
    for i in range(count):
        keys[0, i] = int(columns.bins[feature, here.rows[here.begin + i]]) * FEW + i
    for i in range(count):
        key = keys[0, i]
        for j in range(FEW):
            keys[1, j] += keys[0, j] > key
    for i in range(count):
        order[keys[1, i]] = keys[0, i]


@compiled
def best_threshold_of_few(here: Here, whole: Whole, order: Keys, left: Array) -> Split:
    """The same from sorted rows, where no cell is missing."""
    totals, last = whole.totals, len(whole.totals) - 1
    best, best_low, best_high = -np.inf, 0, 0
    lefts, rights, gathered = 0.0, 0.0, 0.0
    for k in range(last):
        left[k] = 0.0
        rights += totals[k] * totals[k]
    for place in range(here.end - here.begin - 1):
        i = order[place] & (FEW - 1)
        k, one = here.slots[i], here.parts[i, AMOUNT]
        lefts += one * (2 * left[k] + one)
        rights -= one * (2 * (totals[k] - left[k]) - one)
        left[k] += one
        gathered += here.parts[i, WEIGHT]
        low, high = order[place] // FEW, order[place + 1] // FEW
        rest = totals[last] - gathered
        if low == high or gathered < whole.least or rest < whole.least or rest <= 0.0:
            continue
        score = (lefts * rest + rights * gathered) / (gathered * rest)
        if score > best + whole.tolerance:
            best, best_low, best_high = score, low, high
    return best, best_low, best_high, 0
