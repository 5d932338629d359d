"""Compiled agglomeration of many rows: by a spanning tree, by moving centres, or by a matrix of distances.

The first two hold the rows alone, the third a distance for each pair. Each fills ``pairs``, two rows for each
merge, one of either cluster, and the heights or their squares. The twin that says the same in NumPy is
``mlcli.models.clusters.agglomerative.merged_by_matrix``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Rows

COMPLETE, AVERAGE, CENTROID, WARD = 0, 1, 2, 3


@njit(cache=True, nogil=True, error_model="numpy")
def away(across: Array, alive: int, index: int, result: Array) -> None:
    """Squared distances of the first ``alive`` points, one column each, to the one at ``place``."""
    result[:alive] = 0.0
    for j in range(len(across)):
        row = across[j]
        cell = row[index]
        for i in range(alive):
            step = row[i] - cell
            result[i] += step * step


@njit(cache=True, nogil=True, error_model="numpy")
def swap(across: Array, index: int, other: int) -> None:
    """Points at each other's places."""
    for j in range(len(across)):
        across[j, index], across[j, other] = across[j, other], across[j, index]


@njit(cache=True, nogil=True, error_model="numpy")
def spanning_tree(across: Array, pairs: Rows, squared: Array) -> None:
    """The edges of the minimum spanning tree as Prim finds them, with their squared lengths.

    ``across`` has one column per point and is used up: the points not reached yet stand at its beginning, and
    after them the one that was reached last.
    """
    rows = across.shape[1]
    point, nearest, best, result = np.empty(rows, np.intp), np.empty(rows, np.intp), np.empty(rows), np.empty(rows)
    for i in range(rows):
        point[i], best[i] = i, np.inf
    here = rows - 1
    for step in range(rows - 1):
        alive = rows - 1 - step
        away(across, alive, alive, result)
        index = 0
        for i in range(alive):
            if result[i] < best[i]:
                best[i] = result[i]
                nearest[i] = here
            if best[i] < best[index]:
                index = i
        pairs[step, 0], pairs[step, 1], squared[step] = nearest[index], point[index], best[index]
        here, last = point[index], alive - 1
        point[index], nearest[index], best[index] = point[last], nearest[last], best[last]
        swap(across, index, last)


@njit(cache=True, nogil=True, error_model="numpy")
def scaled(linkage: int, result: Array, sizes: Array, here: int, alive: int) -> None:
    """Turn squared distances of centres into those of the linkage; the cluster itself is infinitely far."""
    if linkage == WARD:
        for i in range(alive):
            result[i] *= 2.0 * sizes[here] * sizes[i] / (sizes[here] + sizes[i])
    result[here] = np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def smallest(values: Array, count: int) -> int:
    """The first place of the smallest of some values."""
    index, least = 0, values[0]
    for i in range(1, count):
        if values[i] < least:
            index, least = i, values[i]
    return index


@njit(cache=True, nogil=True, error_model="numpy")
def move_between(across: Array, sizes: Array, i: int, j: int) -> None:
    """The centre of a cluster goes to that of two."""
    for c in range(len(across)):
        across[c, i] = (sizes[i] * across[c, i] + sizes[j] * across[c, j]) / (sizes[i] + sizes[j])


@njit(cache=True, nogil=True, error_model="numpy")
def merge_centres(across: Array, linkage: int, pairs: Rows, squared: Array) -> None:
    """Merge the two clusters whose centres are nearest, by centroid or Ward's linkage, until there is one.

    ``low`` is at most the distance of a cluster to any other; it is looked up again only where it is the smallest
    and the pair that it came from is no more. ``across`` has one column per point and is used up.
    """
    rows = across.shape[1]
    point, near, fresh = np.empty(rows, np.intp), np.empty(rows, np.intp), np.empty(rows, np.bool_)
    sizes, low, result = np.empty(rows), np.empty(rows), np.empty(rows)
    sizes[:] = 1.0
    for i in range(rows):
        point[i], fresh[i] = i, True
        away(across, rows, i, result)
        scaled(linkage, result, sizes, i, rows)
        near[i] = smallest(result, rows)
        low[i] = result[near[i]]
    for step in range(rows - 1):
        alive = rows - step
        i = smallest(low, alive)
        while not fresh[i]:
            away(across, alive, i, result)
            scaled(linkage, result, sizes, i, alive)
            near[i] = smallest(result, alive)
            low[i], fresh[i] = result[near[i]], True
            i = smallest(low, alive)
        j = near[i]
        pairs[step, 0], pairs[step, 1], squared[step] = min(point[i], point[j]), max(point[i], point[j]), low[i]
        move_between(across, sizes, i, j)
        point[i], sizes[i] = pairs[step, 0], sizes[i] + sizes[j]
        last = alive - 1
        for k in range(alive):
            if near[k] == i or near[k] == j:
                fresh[k] = False
        if j != last:
            swap(across, j, last)
            point[j], sizes[j] = point[last], sizes[last]
            low[j], near[j], fresh[j] = low[last], near[last], fresh[last]
            for k in range(last):
                if near[k] == last:
                    near[k] = j
        here = j if i == last else i
        away(across, last, here, result)
        scaled(linkage, result, sizes, here, last)
        for k in range(last):
            if result[k] <= low[k]:
                low[k], near[k], fresh[k] = result[k], here, True
        if last > 1:
            near[here] = smallest(result, last)
            low[here], fresh[here] = result[near[here]], True


@njit(cache=True, nogil=True, error_model="numpy")
def between(across: Array) -> Array:
    """The distance of every two points, one column each; infinite from a point to itself."""
    rows = across.shape[1]
    distances = np.empty((rows, rows))
    for i in range(rows):
        away(across, rows, i, distances[i])
        for k in range(rows):
            distances[i, k] = np.sqrt(distances[i, k])
        distances[i, i] = np.inf
    return distances


@njit(cache=True, nogil=True, error_model="numpy")
def merge_matrix(distances: Array, linkage: int, pairs: Rows, heights: Array) -> None:
    """Merge the two nearest clusters, by complete or average linkage, until one is left; uses the matrix up."""
    rows = len(distances)
    alive, near, fresh = np.empty(rows, np.intp), np.empty(rows, np.intp), np.empty(rows, np.bool_)
    sizes, low = np.empty(rows), np.empty(rows)
    for i in range(rows):
        alive[i], sizes[i], fresh[i] = i, 1.0, True
        near[i] = smallest(distances[i], rows)
        low[i] = distances[i, near[i]]
    for step in range(rows - 1):
        count = rows - step
        i = lowest(low, alive, count)
        while not fresh[i]:
            near[i] = lowest(distances[i], alive, count)
            low[i], fresh[i] = distances[i, near[i]], True
            i = lowest(low, alive, count)
        j = near[i]
        heights[step] = low[i]
        i, j = min(i, j), max(i, j)
        pairs[step, 0], pairs[step, 1] = i, j
        behind = int(np.int64(0))
        for p in range(count):
            alive[p - behind] = alive[p]
            behind += alive[p] == j
        low[j] = np.inf
        share = sizes[i] / (sizes[i] + sizes[j])
        sizes[i] += sizes[j]
        low[i] = np.inf
        for p in range(count - 1):
            k = alive[p]
            if k == i:
                continue
            one, other = distances[i, k], distances[j, k]
            joined = max(one, other) if linkage == COMPLETE else share * one + (1.0 - share) * other
            distances[i, k] = joined
            distances[k, i] = joined
            if near[k] == i or near[k] == j:
                near[k], fresh[k] = i, joined <= low[k]
            if joined < low[i]:
                low[i], near[i], fresh[i] = joined, k, True


@njit(cache=True, nogil=True, error_model="numpy")
def lowest(values: Array, indices: Rows, count: int) -> int:
    """Of some places in order, the first with the smallest value."""
    chosen, least = indices[0], values[indices[0]]
    for p in range(1, count):
        if values[indices[p]] < least:
            chosen, least = indices[p], values[indices[p]]
    return int(chosen)
