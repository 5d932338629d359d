"""Compiled placing of rows at the nearest of some moving centres, block by block.

The twin that says the same in NumPy is ``mlcli.engines.centres.place``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Codes, Rows

BLOCK = 128
"""Rows that are measured together: their distances to one centre fit the fastest cache."""
FAR = 1e300


@njit(cache=True, nogil=True, error_model="numpy")
def place(
    X: Array, lengths: Array, weights: Array, centres: Array, moved: Array, half_way: Array,
    tie: float, slack: float,
    cluster: Codes, own: Array, further: Array, counts: Rows, totals: Array, sums: Array,
) -> int:  # fmt: skip
    """Place the rows again, keeping the last six arrays up to date; how many change cluster.

    ``moved`` is how far each centre has gone since, ``half_way`` half of its distance to the nearest other one.
    """
    longest, farthest = 0.0, 0.0
    for c in range(len(centres)):
        length = 0.0
        for j in range(centres.shape[1]):
            length += centres[c, j] * centres[c, j]
        longest, farthest = max(longest, length), max(farthest, moved[c])
    across = np.empty((X.shape[1], BLOCK))
    rows, chosen = np.empty(BLOCK, np.intp), np.empty(BLOCK, np.int32)
    squared, best, other, margin = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    across[:], margin[:] = 0.0, 0.0
    changed, waiting = 0, 0
    for row in range(len(X)):
        own[row] += moved[cluster[row]]
        further[row] -= farthest
        if own[row] + slack >= max(further[row], half_way[cluster[row]]):
            rows[waiting] = row
            margin[waiting] = tie * (lengths[row] + longest)
            for j in range(X.shape[1]):
                across[j, waiting] = X[row, j]
            waiting += 1
        if waiting == BLOCK or (waiting > 0 and row + 1 == len(X)):
            measure(across, centres, margin, squared, best, other, chosen)
            for i in range(waiting):
                here, before, now = rows[i], cluster[rows[i]], chosen[i]
                own[here], further[here] = best[i], other[i]
                if before != now:
                    changed += 1
                    cluster[here] = now
                    add(X[here], weights[here], -1, before, counts, totals, sums)
                    add(X[here], weights[here], 1, now, counts, totals, sums)
            waiting = 0
    return changed


@njit(cache=True, nogil=True, error_model="numpy")
def measure(
    across: Array, centres: Array, margin: Array, squared: Array, best: Array, other: Array, chosen: Codes
) -> None:
    """Fill the last three arrays with the distance to the nearest centre and the next, and the nearest."""
    columns = len(across)
    paired = columns - columns % 2
    best[:], other[:], chosen[:] = FAR, FAR, 0
    for c in range(len(centres)):
        squared[:] = 0.0
        for j in range(0, paired, 2):
            one, next_one = centres[c, j], centres[c, j + 1]
            for i in range(BLOCK):
                squared[i] += (across[j, i] - one) ** 2 + (across[j + 1, i] - next_one) ** 2
        if paired < columns:
            for i in range(BLOCK):
                squared[i] += (across[paired, i] - centres[c, paired]) ** 2
        for i in range(BLOCK):
            closer = squared[i] < best[i] - margin[i]
            other[i] = min(other[i], best[i] if closer else squared[i])
            chosen[i] = c if closer else chosen[i]
            best[i] = squared[i] if closer else best[i]
    for i in range(BLOCK):
        best[i] = np.sqrt(best[i])
        other[i] = np.sqrt(other[i])


@njit(cache=True, nogil=True, error_model="numpy")
def add(x: Array, weight: float, sign: int, c: int, counts: Rows, totals: Array, sums: Array) -> None:
    """Add a row to the sums of a cluster, or take it away."""
    counts[c] += sign
    totals[c] += sign * weight
    for j in range(len(x)):
        sums[c, j] += sign * weight * x[j]
