"""Coordinate descent on a quadratic with penalties: one coefficient at a time to its own minimum.

The twin in ``tests/kernels`` says it in NumPy.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array


@njit(cache=True, nogil=True, error_model="numpy")
def descend_quadratic(
    gram: Array, toward: Array, l1: Array, l2: Array, w: Array, tolerance: float, most_passes: int
) -> int:
    """Minimise ½ wᵀ G w − toward·w + Σ l1_j |w_j| + ½ l2_j w_j² in place; how many passes it took.

    It ends when a pass moves no entry of the gradient by more than ``tolerance``.
    """
    slope = -toward
    for j in range(len(w)):
        if w[j] != 0.0:
            for k in range(len(w)):
                slope[k] += gram[j, k] * w[j]
    for done in range(most_passes):
        largest = 0.0
        for j in range(len(w)):
            bend = gram[j, j] + l2[j]
            if bend <= 0.0:
                continue
            free = gram[j, j] * w[j] - slope[j]
            shrunk = max(np.abs(free) - l1[j], 0.0)
            change = (shrunk if free > 0.0 else -shrunk) / bend - w[j]
            if change != 0.0:
                w[j] += change
                for k in range(len(w)):
                    slope[k] += gram[j, k] * change
                largest = max(largest, np.abs(change) * bend)
        if largest <= tolerance:
            return done
    return most_passes
