"""Coordinate descent on a quadratic with absolute penalties: one coefficient at a time to its own minimum.

The twin in ``tests/kernels`` says it in NumPy.
"""

from __future__ import annotations

from numba import njit

from mlcli.core.tables import Array


@njit(cache=True, nogil=True, error_model="numpy")
def descend_quadratic(gram: Array, toward: Array, l1: Array, w: Array, tolerance: float, most_passes: int) -> int:
    """Minimise ½ wᵀ G w − toward·w + Σ l1_j |w_j| in place; how many passes over all coefficients it took.

    After a pass over all, only those that are not 0 are passed over until they stand still. It ends when a pass
    over all moves no entry of the gradient by more than ``tolerance``.
    """
    slope = gram @ w - toward
    passes, everything = 0, True
    for _ in range(most_passes):
        largest = 0.0
        for j in range(len(w)):
            bend = gram[j, j]
            if bend <= 0.0 or (not everything and w[j] == 0.0):
                continue
            free = bend * w[j] - slope[j]
            shrunk = max(abs(free) - l1[j], 0.0)
            change = (shrunk if free > 0.0 else -shrunk) / bend - w[j]
            if change != 0.0:
                w[j] += change
                for k in range(len(w)):
                    slope[k] += gram[j, k] * change
                largest = max(largest, abs(change) * bend)
        passes += 1
        if largest <= tolerance and everything:
            break
        everything = largest <= tolerance
    return passes
