"""Compiled random splits (extra-trees): one threshold, or one level, drawn for a node and a column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.binning import Bins
from mlcli.kernels.chance import random_below, random_share
from mlcli.kernels.histogram_splits import Split
from mlcli.kernels.histograms import Columns, Here, Whole, Words, add_up, empty, score_of
from mlcli.kernels.without_counting import inlined

CELLS = 256
"""Into how many equal parts the range of a column is divided to find a bin."""


class Drawing(NamedTuple):
    """What cuts are drawn with: a grid between the smallest and the largest value of each column, and room."""

    first_bin: Codes
    """Columns × CELLS: the bin that each cell of the grid begins in."""
    cells_per_unit: Array
    codes: Bins
    """The bins of a node's rows."""


@inlined
def random_threshold(
    columns: Columns,
    drawing: Drawing,
    feature: int,
    here: Here,
    whole: Whole,
    left: Words,
    state: Rows,
    wish: Array,
) -> Split:
    """A threshold anywhere between the smallest and the largest value; missing cells go to the better side.

    ``wish[0]`` becomes the number that was drawn. A single known value is split from the missing ones.
    """
    known, count = columns.known[feature], len(here.rows)
    first, last, missing = ends_of(columns, feature, here, drawing.codes)
    if first >= last and not (missing and first == last):
        return -np.inf, 0, 0, 0
    low, high = last, known
    wish[0] = np.inf
    if first < last:
        start, stop = columns.lowest[feature, first], columns.highest[feature, last]
        wish[0] = start + random_share(state) * (stop - start)
        low = bin_of(columns, drawing, feature, wish[0], last)
        high = low + 1
    best, best_side = -np.inf, 0
    for side in range(2 if missing and first < last else 1):
        for w in range(len(left)):
            left[w] = (0 if side == 0 else left[w]) + sum_of(
                here.parts[w], drawing.codes, count, low, side * known
            )
        score = score_of(left, whole)
        if score > best + whole.tolerance:
            best, best_side = score, side
    return best, low, high, best_side


@inlined
def ends_of(columns: Columns, feature: int, here: Here, codes: Bins) -> tuple[int, int, bool]:
    """Fill ``codes`` with the bins of a node's rows; the first and the last of known values, and if some are not.

    Without known values the last comes before the first.
    """
    known, count = columns.known[feature], len(here.rows)
    column = columns.bins[feature]
    for i in range(count):
        codes[i] = column[here.rows[i]]
    first, last = codes[0], codes[0]
    for i in range(count):
        first = codes[i] if codes[i] < first else first
        last = codes[i] if codes[i] > last else last
    if last < known:
        return int(first), int(last), False
    highest = -1
    for i in range(count):
        highest = max(highest, int(codes[i]) if codes[i] < known else -1)
    return int(first), highest, True


@inlined
def bin_of(columns: Columns, drawing: Drawing, feature: int, cut: float, last: int) -> int:
    """The last bin before ``last`` that begins at or below the cut; the grid tells where to begin to look."""
    lowest = columns.lowest[feature]
    cell = int((cut - lowest[0]) * drawing.cells_per_unit[feature])
    found = min(int(drawing.first_bin[feature, max(0, min(cell, CELLS - 1))]), last - 1)
    while found + 1 < last and lowest[found + 1] <= cut:
        found += 1
    while lowest[found] > cut:
        found -= 1
    return found


@inlined
def sum_of(parts: Words, codes: Bins, count: int, low: int, missing: int) -> int:
    """One word of the rows in bins up to ``low``, or if it is not 0 of those in the bin ``missing``."""
    total = 0
    if missing:
        for i in range(count):
            total += parts[i] * (codes[i] == missing)
        return total
    for i in range(count):
        total += parts[i] * (codes[i] <= low)
    return total


@inlined
def random_level(
    columns: Columns, feature: int, here: Here, whole: Whole, sums: Words, left: Words, state: Rows
) -> Split:
    """One of the levels in a node, all alike, against the rest."""
    add_up(columns, feature, here, sums)
    present = 0
    for b in range(columns.known[feature] + 1):
        present += not empty(sums, b)
    wanted, level = random_below(state, present), -1
    while wanted >= 0:
        level += 1
        wanted -= not empty(sums, level)
    for w in range(len(left)):
        left[w] = sums[w, level]
    return score_of(left, whole), level, level, 0
