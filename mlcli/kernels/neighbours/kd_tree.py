"""A k-d tree (Bentley 1975): halves of rows, split at the middle of their widest column, and what is near in it.

The tree is complete: node v has the halves 2v + 1 and 2v + 2, and the rows of a node lie side by side. What
measures all rows is beside it in ``tests/engines/test_neighbour_search.py``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Flags, Rows
from mlcli.kernels.neighbours.screening import put_among


@njit(cache=True, nogil=True, error_model="numpy")
def grow(
    cells: Array, order: Rows, first: Rows, last: Rows, low: Array, high: Array, widest: Rows, cut: Array
) -> None:
    """Put ``order`` (all rows) into the order of the tree; fill the rows, the box and the cut of each node."""
    first[0], last[0] = 0, len(order)
    for v in range(len(first)):
        begin, end = first[v], last[v]
        widest[v] = surround(cells, order[begin:end], low[v], high[v])
        if 2 * v + 2 < len(first):
            middle = (begin + end) // 2
            halve(cells[:, widest[v]], order, begin, end, middle)
            cut[v] = cells[order[middle], widest[v]]
            first[2 * v + 1], last[2 * v + 1] = begin, middle
            first[2 * v + 2], last[2 * v + 2] = middle, end


@njit(cache=True, nogil=True, error_model="numpy")
def surround(cells: Array, rows: Rows, low: Array, high: Array) -> int:
    """Fill the box around some rows; its widest column."""
    widest = 0
    for j in range(cells.shape[1]):
        low[j], high[j] = np.inf, -np.inf
    for row in rows:
        for j in range(cells.shape[1]):
            cell = cells[row, j]
            low[j] = cell if cell < low[j] else low[j]
            high[j] = cell if cell > high[j] else high[j]
    for j in range(cells.shape[1]):
        widest = j if high[j] - low[j] > high[widest] - low[widest] else widest
    return widest


@njit(cache=True, nogil=True, error_model="numpy")
def halve(cells: Array, order: Rows, begin: int, end: int, middle: int) -> None:
    """Put no larger cells before the middle of a stretch of rows than after it (Hoare 1961)."""
    left, right = begin, end - 1
    while left < right:
        pivot = cells[order[(left + right) // 2]]
        i, j = left, right
        while i <= j:
            while cells[order[i]] < pivot:
                i += 1
            while cells[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit(cache=True, nogil=True, error_model="numpy")
def places_near(
    cells: Array, order: Rows, first: Rows, last: Rows, low: Array, high: Array, widest: Rows, cut: Array,
    queries: Array, k: int, same: float, ends: Rows, indices: Rows, apart: Array,
) -> int:  # fmt: skip
    """List for query rows the stored rows that are as near as the k-th, but for a share ``same`` of its square.

    ``cells`` are in the order of the tree. Those of row i end at ``ends[i]``.
    Returns how many rows were answered before ``places`` was full. ``apart`` is room for as many distances.
    """
    best, waiting, beyond = np.empty(k), np.empty(64, np.intp), np.empty(64)
    far = np.empty(most_rows(first, last))
    listed = 0
    for i in range(len(queries)):
        best[:] = np.inf
        limit, size, begins = np.inf, 1, listed
        waiting[0], beyond[0] = 0, 0.0
        while size:
            size -= 1
            v = waiting[size]
            if beyond[size] > limit or outside_box(queries, i, low, high, v) > limit:
                continue
            while 2 * v + 2 < len(first):
                step = queries[i, widest[v]] - cut[v]
                right = 1 if step > 0.0 else 0
                waiting[size], beyond[size] = 2 * v + 2 - right, step * step
                size += 1
                v = 2 * v + 1 + right
            squared(queries, i, cells, first[v], last[v], far)
            for index in range(first[v], last[v]):
                distance = far[index - first[v]]
                if distance > limit:
                    continue
                if listed == len(indices):
                    return i
                indices[listed], apart[listed] = order[index], distance
                listed += 1
                if distance < best[k - 1]:
                    put_among(best, distance)
            limit = best[k - 1] * (1.0 + same)
        listed = within(indices, apart, begins, listed, limit)
        ends[i] = listed
    return len(queries)


@njit(cache=True, nogil=True, error_model="numpy")
def within(indices: Rows, apart: Array, begin: int, end: int, limit: float) -> int:
    """Keep of a stretch what is not beyond the limit; where it ends then."""
    kept = begin
    for index in range(begin, end):
        if not apart[index] > limit:
            indices[kept] = indices[index]
            kept += 1
    return kept


@njit(cache=True, nogil=True, error_model="numpy")
def outside_box(queries: Array, i: int, low: Array, high: Array, v: int) -> float:
    """The squared distance of a row to the box of a node."""
    total = 0.0
    for j in range(queries.shape[1]):
        below, above = low[v, j] - queries[i, j], queries[i, j] - high[v, j]
        step = below if below > above else above
        total += step * step if step > 0.0 else 0.0
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def squared(queries: Array, i: int, cells: Array, begin: int, end: int, far: Array) -> None:
    """Fill ``far`` with the squared distances of a row to some that lie side by side, a line for each column."""
    size = end - begin
    for index in range(size):
        far[index] = 0.0
    for j in range(len(cells)):
        cell, line = queries[i, j], cells[j, begin:end]
        for index in range(size):
            step = line[index] - cell
            far[index] += step * step


@njit(cache=True, nogil=True, error_model="numpy")
def most_rows(first: Rows, last: Rows) -> int:
    """How many rows the largest leaf has."""
    most = 0
    for v in range(len(first) // 2, len(first)):
        most = last[v] - first[v] if last[v] - first[v] > most else most
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def link(
    rows: Array, cells: Array, first: Rows, last: Rows, low: Array, high: Array, limit: float,
    parent: Rows, joined: Flags, waiting: Rows, far: Array,
) -> None:  # fmt: skip
    """Join the sets of all pairs of rows within the squared limit of each other.

    ``rows`` are in the order of the tree, and ``cells`` are their columns; every row is its own ``parent`` at
    first. A node is ``joined`` once all of its rows are in one set: it is not looked into for a row of that set.
    """
    for index in range(len(rows)):
        waiting[0], size = 0, 1
        while size:
            size -= 1
            v = waiting[size]
            if last[v] <= index or (joined[v] and root(parent, first[v]) == root(parent, index)):
                continue
            if outside_box(rows, index, low, high, v) > limit:
                continue
            if 2 * v + 2 < len(first):
                waiting[size], waiting[size + 1] = 2 * v + 1, 2 * v + 2
                size += 2
                continue
            squared(rows, index, cells, first[v], last[v], far)
            for other in range(first[v], last[v]):
                if far[other - first[v]] <= limit:
                    parent[root(parent, other)] = root(parent, index)
            note_joined(parent, joined, first, last, v)


@njit(cache=True, nogil=True, error_model="numpy")
def root(parent: Rows, index: int) -> int:
    """The row that stands for the set of a row; paths to it are halved on the way."""
    while parent[index] != index:
        parent[index] = parent[parent[index]]
        index = parent[index]
    return index


@njit(cache=True, nogil=True, error_model="numpy")
def note_joined(parent: Rows, joined: Flags, first: Rows, last: Rows, v: int) -> None:
    """Note whether all rows of a leaf are in one set, and of the nodes above it whose halves are."""
    own = root(parent, first[v])
    for index in range(first[v], last[v]):
        if root(parent, index) != own:
            return
    joined[v] = True
    while v > 0:
        v = (v - 1) // 2
        if not (joined[2 * v + 1] and joined[2 * v + 2]):
            return
        if root(parent, first[2 * v + 1]) != root(parent, first[2 * v + 2]):
            return
        joined[v] = True
