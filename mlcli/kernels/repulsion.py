"""The compiled gradient of t-SNE: all pairs of rows push each other away, and near ones pull.

The twin that says the same in NumPy is in ``tests/kernels/test_repulsion.py``.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Places = NDArray[np.int32]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def forces(y: Singles, push: Singles) -> float:
    """Fill ``push`` (3 × n) with Σ_j q² (y_i − y_j), q = 1 / (1 + |y_i − y_j|²); the sum of q over all pairs."""
    n = y.shape[1]
    first, second, third = y[0], y[1], y[2]
    total = 0.0
    for i in range(n):
        a, b, c = first[i], second[i], third[i]
        along_a, along_b, along_c = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        row = np.float32(0.0)
        for j in range(n):
            da, db, dc = a - first[j], b - second[j], c - third[j]
            q = np.float32(1.0) / (np.float32(1.0) + da * da + db * db + dc * dc)
            row += q
            square = q * q
            along_a += square * da
            along_b += square * db
            along_c += square * dc
        push[0, i], push[1, i], push[2, i] = along_a, along_b, along_c
        total += float(row) - 1.0
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def pulls(y: Singles, start: Places, near: Places, p: Singles, pull: Singles) -> None:
    """Fill ``pull`` (3 × n) with Σ_j p q (y_i − y_j) over the near rows of each row."""
    for i in range(y.shape[1]):
        a, b, c = y[0, i], y[1, i], y[2, i]
        along_a, along_b, along_c = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for index in range(start[i], start[i + 1]):
            j = near[index]
            da, db, dc = a - y[0, j], b - y[1, j], c - y[2, j]
            weight = p[index] / (np.float32(1.0) + da * da + db * db + dc * dc)
            along_a += weight * da
            along_b += weight * db
            along_c += weight * dc
        pull[0, i], pull[1, i], pull[2, i] = along_a, along_b, along_c
