"""Compiled random splits (extra-trees): one threshold, or one level, drawn for a node and a column."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.chance import random_below, random_share
from mlcli.kernels.histogram_splits import Split, Whole, score_of
from mlcli.kernels.histograms import AMOUNT, WEIGHT, Columns, Here, add_up
from mlcli.kernels.without_counting import compiled

LEFT, MISSING, RIGHT = range(3)


@compiled
def random_threshold(
    columns: Columns, feature: int, here: Here, whole: Whole, sums: Array, state: Rows, wish: Array
) -> Split:
    """A threshold anywhere between the smallest and the largest value; missing cells go to the better side.

    ``wish[0]`` becomes the number that was drawn. A single known value is split from the missing ones.
    """
    known = columns.known[feature]
    first, last = ends_of(columns, feature, here)
    if last < 0:
        return -np.inf, 0, 0, 0
    if first == last:
        sum_up(columns, feature, here, known, np.inf, sums)
        return score_of(sums[LEFT], sums[MISSING], 0, whole), last, known, 0
    start, stop = columns.lowest[feature, first], columns.highest[feature, last]
    wish[0] = start + random_share(state) * (stop - start)
    low, high, missing = sum_up(columns, feature, here, last, wish[0], sums)
    score, side = score_of(sums[LEFT], sums[MISSING], 0, whole), 0
    if missing:
        other = score_of(sums[LEFT], sums[MISSING], 1, whole)
        score, side = (other, 1) if other > score + whole.tolerance else (score, 0)
    return score, low, high, side


@compiled
def random_level(columns: Columns, feature: int, here: Here, whole: Whole, sums: Array, state: Rows) -> Split:
    """One of the levels in a node, all alike, against the rest."""
    add_up(columns, feature, here, sums)
    last, present = sums.shape[1] - 1, 0
    for b in range(columns.known[feature] + 1):
        present += sums[b, last] > 0.0
    wanted, level = random_below(state, present), -1
    while wanted >= 0:
        level += 1
        wanted -= sums[level, last] > 0.0
    return score_of(sums[level], sums[level], 0, whole), level, level, 0


@compiled
def ends_of(columns: Columns, feature: int, here: Here) -> tuple[int, int]:
    """The first and the last bin that known values of a node lie in; the last is -1 if there are none."""
    known = columns.known[feature]
    first, last = int(known), -1
    for i in range(here.begin, here.end):
        b = int(columns.bins[feature, here.rows[i]])
        first = min(first, b)
        last = max(last, b if b < known else -1)
    return first, last


@compiled
def sum_up(
    columns: Columns, feature: int, here: Here, last: int, cut: float, sums: Array
) -> tuple[int, int, bool]:
    """Sum up the rows of a node that go left, whose cell is missing, and the others, in the first three ``sums``.

    On the left are those in bins before ``last`` that begin at or below the cut. Also the bins beside the cut, and
    whether a cell is missing. Nothing branches on a row, since nobody could foresee where it goes.
    """
    slots, known = sums.shape[1] - 1, columns.known[feature]
    sums[:3] = 0.0
    low, high, missing = 0, last, False
    left_weight, left_amount, lost_weight, lost_amount = 0.0, 0.0, 0.0, 0.0
    for i in range(here.end - here.begin):
        b = int(columns.bins[feature, here.rows[here.begin + i]])
        left, lost = (b < last) & (columns.lowest[feature, min(b, last - 1)] <= cut), b == known
        low = max(low, b if left else 0)
        high = min(high, last if left else b)
        missing |= lost
        left_weight += left * here.parts[i, WEIGHT]
        lost_weight += lost * here.parts[i, WEIGHT]
        if slots > 1:
            sums[LEFT if left else MISSING if lost else RIGHT, here.slots[i]] += here.parts[i, AMOUNT]
        else:
            left_amount += left * here.parts[i, AMOUNT]
            lost_amount += lost * here.parts[i, AMOUNT]
    if slots == 1:
        sums[LEFT, 0], sums[MISSING, 0] = left_amount, lost_amount
    sums[LEFT, slots], sums[MISSING, slots] = left_weight, lost_weight
    return low, high, missing
