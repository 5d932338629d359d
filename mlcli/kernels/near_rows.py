"""Compiled selection of the nearest stored rows, once a screen has said which of them may be near.

The twin that says the same in NumPy is in ``tests/kernels/test_near_rows.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def apart(one: Array, i: int, other: Array, j: int) -> float:
    """The euclidean distance of row i of one block and row j of another."""
    total = 0.0
    for p in range(one.shape[1]):
        step = one[i, p] - other[j, p]
        total += step * step
    return math.sqrt(total)


@njit(cache=True, nogil=True, error_model="numpy")
def nearest(
    values: Any, minima: Any, limit: Any, asked: Array, stored: Array, own: Rows, k: int, same: float,
    kth: Array, ends: Rows, places: Rows, distances: Array,
) -> int:  # fmt: skip
    """Fill ``kth`` with the k-th smallest distance of each asked row, and list all rows that are as near.

    Stored row j is in group j mod G of the G groups that have a smallest value in ``minima``; only groups and
    values up to ``limit`` are looked into. A row is never its own neighbour: ``own`` is its place among the stored
    rows, or -1. Neighbours of row i end at ``ends[i]`` in ``places`` and ``distances``, in the order of the stored
    rows of a group; distances that differ by less than ``same`` of themselves are as near. Returns how many there
    are; those beyond the length of ``places`` are only counted.
    """
    n, groups = values.shape[1], minima.shape[1]
    near, far = np.empty(n, np.intp), np.empty(n)
    best = np.empty(k)
    listed = 0
    for i in range(len(values)):
        found, full = 0, 0
        for g in range(groups):
            if minima[i, g] > limit[i]:
                continue
            for j in range(g, n, groups):
                if values[i, j] > limit[i] or j == own[i]:
                    continue
                distance = apart(asked, i, stored, j)
                near[found], far[found] = j, distance
                found += 1
                if full < k:
                    full += 1
                elif distance >= best[k - 1]:
                    continue
                place = full - 1
                while place > 0 and best[place - 1] > distance:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = distance
        kth[i] = best[k - 1]
        for f in range(found):
            if far[f] <= kth[i] * (1.0 + same):
                if listed < len(places):
                    places[listed], distances[listed] = near[f], far[f]
                listed += 1
        ends[i] = listed
    return listed
