"""Compiled binning: which values of a column share a bin, and the bin of every cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.without_counting import compiled

Bins = np.ndarray[Any, np.dtype[Any]]
"""Small whole numbers of one, two or four bytes."""


@compiled
def last_of_each(counts: Rows | Array, bins: int, last: Rows) -> int:
    """Fill ``last`` with the last value of each bin, by number; tell how many bins there are, at most ``bins``.

    The rule of LightGBM (Ke et al. 2017): a value with more than its share of the rows has a bin of its own, and
    the others share the bins that are left, each taking its part of the rows still to come.
    """
    rows = 0
    for count in counts:
        rows += count
    free, light = bins, rows
    for count in counts:
        if count * bins > rows:
            free -= 1
            light -= count
    share = light / (free if free > 1 else 1)
    made, filled = 0, 0
    for value in range(len(counts) - 1):
        large, next_large = counts[value] * bins > rows, counts[value + 1] * bins > rows
        filled += counts[value]
        light -= 0 if large else counts[value]
        if large or filled >= share or (next_large and 2 * filled >= share):
            last[made] = value
            made, filled = made + 1, 0
            free -= 0 if large else 1
            share = light / (free if free > 1 else 1)
            if made == bins - 1:
                break
    last[made] = len(counts) - 1
    return made + 1


@compiled
def bins_of(column: Array, thresholds: Array, missing: int, bins: Bins) -> None:
    """Fill ``bins``: the bin of x is the number of thresholds below it; that of NaN is ``missing``.

    ``thresholds`` are 255, ascending, infinite past the last: so a search takes eight steps without a branch.
    """
    for row in range(len(column)):
        x = column[row]
        below = 0
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            below += step * (thresholds[below + step - 1] < x)
        bins[row] = missing if np.isnan(x) else below
