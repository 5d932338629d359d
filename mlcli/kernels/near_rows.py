"""Compiled selection of the nearest stored rows, once a screen has said which of them may be near.

Stored row j is in group j mod G. The smallest values of the groups bound the nearest ones, so that few groups need
to be looked into. The twins that say the same in NumPy are in ``tests/kernels/test_near_rows.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Rows
from mlcli.kernels.without_counting import compiled, inlined


@compiled
def bounds(values: Any, begin: Rows, end: Rows, minima: Any, bound: Array, best: Any) -> None:
    """Fill ``minima`` with the smallest value of each group, and ``bound`` with the k-th smallest of them.

    Row i must not see the stored rows from ``begin[i]`` to ``end[i]``; k is the length of ``best``.
    """
    n, groups = values.shape[1], minima.shape[1]
    for i in range(len(values)):
        row, lowest = values[i], minima[i]
        row[begin[i] : end[i]] = np.inf
        for g in range(groups):
            lowest[g] = row[g]
        for start in range(groups, n - groups + 1, groups):
            lower(lowest, row[start : start + groups])
        rest = n % groups
        lower(lowest[:rest], row[n - rest :])
        bound[i] = kth_smallest(lowest, best)


@inlined
def lower(lowest: Any, values: Any) -> None:
    """Lower each number to that beside it, if that is less."""
    for g in range(len(lowest)):
        value, known = values[g], lowest[g]
        lowest[g] = value if value < known else known


@inlined
def kth_smallest(values: Any, best: Any) -> float:
    """The k-th smallest value, infinite if there are fewer; ``best`` is room for the k smallest."""
    best[:] = np.inf
    for value in values:
        if value < best[-1]:
            put_among(best, value)
    return float(best[-1])


@inlined
def put_among(best: Any, value: float) -> None:
    """Put a value among the smallest, which are sorted."""
    place = len(best) - 1
    while place > 0 and best[place - 1] > value:
        best[place] = best[place - 1]
        place -= 1
    best[place] = value


@compiled
def places_within(
    values: Any, minima: Any, limit: Any, begin: Rows, end: Rows, ends: Rows, places: Rows
) -> int:  # fmt: skip
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
                if values[i, j] > limit[i] or begin[i] <= j < end[i]:
                    continue
                if listed < len(places):
                    places[listed] = j
                listed += 1
        ends[i] = listed
    return listed


@njit(cache=True, nogil=True, error_model="numpy")
def measured(
    asked: Array, stored: Array, asked_gaps: Array, stored_gaps: Array, unit: Array, fill: Array, part: Rows,
    k: int, same: float, beside: Array, ends: Rows, places: Rows, distances: Array, kth: Array,
) -> int:  # fmt: skip
    """Keep of the listed rows, in place, those as near as the k-th, the nearest first; returns how many are left.

    Row i is seen by ``part[i]``, which adds ``fill`` where a cell was empty and divides by ``unit``, if there are
    any. Distances that differ by less than ``same`` of themselves, or by ``beside``, are as near.
    """
    best = np.empty(k)
    kept: Any = np.intp(0)  # a constant would have a type of its own
    begin = kept
    for i in range(len(asked)):
        end = ends[i]
        best[:] = np.inf
        for place in range(begin, end):
            t = places[place]
            if len(fill):
                total = filled_squares(asked, i, stored, t, asked_gaps, stored_gaps, unit, fill, part[i])
            elif len(unit):
                total = squares(asked, i, stored, t, unit, part[i])
            else:
                total = plain_squares(asked, i, stored, t)
            distance = math.sqrt(total)
            distances[place] = distance
            if distance < best[k - 1]:
                put_among(best, distance)
        kth[i] = best[k - 1]
        limit = kth[i] * (1.0 + same) + beside[i]
        first = kept
        for place in range(begin, end):
            if distances[place] <= limit:
                places[kept], distances[kept] = places[place], distances[place]
                kept += 1
        put_in_order(places, distances, first, kept)
        begin, ends[i] = end, kept
    return int(kept)


@inlined
def plain_squares(asked: Array, i: int, stored: Array, t: int) -> float:
    """The squared distance of two rows."""
    total = 0.0
    for j in range(asked.shape[1]):
        step = asked[i, j] - stored[t, j]
        total += step * step
    return total


@inlined
def squares(asked: Array, i: int, stored: Array, t: int, unit: Array, part: int) -> float:
    """The squared distance of two rows, in units."""
    total = 0.0
    for j in range(asked.shape[1]):
        step = (asked[i, j] - stored[t, j]) / unit[part, j]
        total += step * step
    return total


@inlined
def filled_squares(
    asked: Array,
    i: int,
    stored: Array,
    t: int,
    gaps: Array,
    stored_gaps: Array,
    unit: Array,
    fill: Array,
    part: int,
) -> float:
    """The squared distance of two rows whose gaps are filled, in units."""
    total = 0.0
    for j in range(asked.shape[1]):
        filled = fill[part, j] * (gaps[i, j] - stored_gaps[t, j])
        step = (asked[i, j] - stored[t, j] + filled) / unit[part, j]
        total += step * step
    return total


@inlined
def put_in_order(places: Rows, distances: Array, begin: int, end: int) -> None:
    """Sort a stretch by distance, then place (Shell 1959, with the gaps of Ciura)."""
    for gap in (1968, 875, 389, 173, 77, 34, 15, 4, 1):
        for i in range(begin + gap, end):
            place, distance = places[i], distances[i]
            j = i
            while j >= begin + gap and (
                distances[j - gap] > distance or (distances[j - gap] == distance and places[j - gap] > place)
            ):
                places[j], distances[j] = places[j - gap], distances[j - gap]
                j -= gap
            places[j], distances[j] = place, distance
