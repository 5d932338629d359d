"""Compiled binning: which values of a column share a bin, and the bin of every cell."""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array
from mlcli.kernels.trees.records import Bins


@njit(cache=True, nogil=True, error_model="numpy")
def fill_edges(ascending: Array, weights: Array, distinct: Array, edges: Array) -> int:
    """Fill ``edges`` (2 × most bins) with the smallest and the largest value of each bin; how many bins there are.

    Each value has a bin of its own where there are enough of them. Else, by the rule of LightGBM (Ke et al. 2017),
    one with more than its share of the rows, or of their weights if there are any, does, and the others share the
    bins that are left, each taking its part of the rows still to come. Empty cells come last.
    """
    values, counts, bins, result, count, rows = distinct[0], distinct[1], edges.shape[1], 0, 0.0, 0.0
    for i in range(len(ascending)):
        if np.isnan(ascending[i]):
            break
        if i == 0 or ascending[i] != ascending[i - 1]:
            values[result], count = ascending[i], 0.0
            result += 1
        weight = weights[i] if len(weights) else 1.0
        count += weight
        counts[result - 1] = count
        rows += weight
    own = result <= bins
    free, light = bins, rows
    for value in range(result):
        if counts[value] * bins > rows:
            free -= 1
            light -= counts[value]
    share = light / (free if free > 1 else 1)
    made, filled, begins = 0, 0.0, True
    for value in range(result):
        large, next_large = counts[value] * bins > rows, value + 1 < result and counts[value + 1] * bins > rows
        if begins:
            edges[0, made] = values[value]
        filled += counts[value]
        light -= 0.0 if large else counts[value]
        begins = own or large or filled >= share or (next_large and 2 * filled >= share)
        begins = value + 1 == result or (begins and made < bins - 1)
        if begins:
            edges[1, made] = values[value]
            made, filled = made + 1, 0.0
            free -= 0 if large else 1
            share = light / (free if free > 1 else 1)
    return made


@njit(cache=True, nogil=True, error_model="numpy")
def bins_of(column: Array, highest: Array, missing: int, bins: Bins) -> None:
    """Fill ``bins``: the bin of x is the number of those that end below it; that of NaN is ``missing``.

    The ``highest`` values are 255, ascending, infinite past the last: a search takes eight steps without a branch.
    """
    for row in range(len(column)):
        x = column[row]
        below = 0
        for step in (128, 64, 32, 16, 8, 4, 2, 1):
            below += step * (highest[below + step - 1] < x)
        bins[row] = missing if np.isnan(x) else below
