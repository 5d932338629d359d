"""Compiled picking of the stored rows that may be near, by the values that a screen has of all pairs.

Stored row j is in group j mod G. The smallest values of the groups bound the nearest ones, so that few groups need
to be looked into. The twin that says the same in NumPy is ``mlcli.engines.neighbours.search.pick_in_numpy``.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows

Floats = NDArray[np.float32] | NDArray[np.float64]
"""Values of a screen, in either precision."""


@njit(cache=True, nogil=True, error_model="numpy")
def bounds(values: Floats, minima: Floats, bound: Array, best: Floats) -> None:
    """Fill ``minima`` with the smallest value of each group, and ``bound`` with the k-th smallest of them.

    ``best`` is room for k values.
    """
    n, groups = values.shape[1], minima.shape[1]
    for i in range(len(values)):
        row, lowest = values[i], minima[i]
        for g in range(groups):
            lowest[g] = row[g]
        for start in range(groups, n - groups + 1, groups):
            lower(lowest, row[start : start + groups])
        rest = n % groups
        lower(lowest[:rest], row[n - rest :])
        bound[i] = kth_smallest(lowest, best)


@njit(cache=True, nogil=True, error_model="numpy")
def lower(lowest: Floats, values: Floats) -> None:
    """Lower each number to that beside it, if that is less."""
    for g in range(len(lowest)):
        value, known = values[g], lowest[g]
        lowest[g] = value if value < known else known


@njit(cache=True, nogil=True, error_model="numpy")
def kth_smallest(values: Floats, best: Floats) -> float:
    """The k-th smallest value, infinite if there are fewer; ``best`` is room for the k smallest."""
    best[:] = np.inf
    for value in values:
        if value < best[-1]:
            put_among(best, value)
    return float(best[-1])


@njit(cache=True, nogil=True, error_model="numpy")
def put_among(best: Floats, value: float) -> None:
    """Put a value among the smallest, which are sorted."""
    index = len(best) - 1
    while index > 0 and best[index - 1] > value:
        best[index] = best[index - 1]
        index -= 1
    best[index] = value


@njit(cache=True, nogil=True, error_model="numpy")
def places_within(values: Floats, minima: Floats, limit: Floats, ends: Rows, indices: Rows) -> int:
    """List the stored rows of each row whose value is at most its limit, those of row i up to ``ends[i]``.

    Returns how many there are; those beyond the length of ``places`` are only counted.
    """
    n, groups = values.shape[1], minima.shape[1]
    listed = 0
    for i in range(len(values)):
        for g in range(groups):
            if minima[i, g] > limit[i]:
                continue
            for j in range(g, n, groups):
                if values[i, j] > limit[i]:
                    continue
                if listed < len(indices):
                    indices[listed] = j
                listed += 1
        ends[i] = listed
    return listed
