"""Scatter of columns without each row in turn, as steps would make them of the others; and what it solves.

The twins in ``tests/kernels`` say both in NumPy.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Rows
from mlcli.kernels.without_counting import inlined, inlined_in_any_order


@njit(cache=True, nogil=True, error_model="numpy")
def scatters_without_each(
    scatters: Array, away: Array, own: Rows, factor: Array,
    main: Rows, gap: Rows, scale: Array, at_gap: Array, found: Array,
) -> None:  # fmt: skip
    """Fill ``found`` (rows × k × columns²): a column is an entry times its scale, plus ``at_gap`` times its gap.

    ``away`` is how far each row is from the mean of its own set; without it the scatter of that set is less by
    ``factor`` times the square of this.
    """
    for row in range(len(away)):
        for k in range(len(scatters)):
            whole, out = scatters[k], found[row, k]
            taken = factor[row] if own[row] == k else 0.0
            for i in range(len(main)):
                a, b, s, t = main[i], gap[i], scale[row, i], at_gap[row, i]
                way = taken * (s * away[row, a] + t * away[row, b])
                for j in range(i + 1):
                    c, d, u, v = main[j], gap[j], scale[row, j], at_gap[row, j]
                    value = s * u * whole[a, c]
                    if t != 0.0:
                        value += t * u * whole[b, c]
                    if v != 0.0:
                        value += s * v * whole[a, d] + t * v * whole[b, d]
                    value -= way * (u * away[row, c] + v * away[row, d])
                    out[i, j] = value
                    out[j, i] = value


@njit(cache=True, nogil=True, error_model="numpy")
def solve_each(matrices: Array, right: Array, norms: Array, log_determinant: Array, left: Array) -> None:
    """Solve symmetric systems, each for some lines of ``right``, in the place of both, by Cholesky's factors.

    ``left`` (systems × columns) is the variance of a column of size 1 once those before it are known; 0 where a
    system is not solved. Columns of size 0 take no part.
    """
    for k in range(len(matrices)):
        matrix = matrices[k]
        normalise(matrix, norms)
        possible = factorise(matrix)
        log_determinant[k] = 0.0
        for j in range(len(norms)):
            left[k, j] = matrix[j, j] * matrix[j, j] if possible else 0.0
            if possible:
                log_determinant[k] += 2.0 * np.log(matrix[j, j] * norms[j])
        if possible:
            for line in right[k]:
                solve(matrix, norms, line)


@inlined
def normalise(matrix: Array, norms: Array) -> None:
    """The correlations in the lower half."""
    for i in range(len(norms)):
        norms[i] = np.sqrt(matrix[i, i]) if matrix[i, i] > 0.0 else 1.0
        matrix[i, i] = 1.0
        for j in range(i):
            matrix[i, j] /= norms[i] * norms[j]


@inlined_in_any_order
def factorise(matrix: Array) -> bool:
    """Cholesky's factor in the lower half; False where there is none."""
    for j in range(len(matrix)):
        pivot = 1.0
        for m in range(j):
            pivot -= matrix[j, m] * matrix[j, m]
        if not pivot > 1e-14:
            return False
        matrix[j, j] = np.sqrt(pivot)
        for i in range(j + 1, len(matrix)):
            value = matrix[i, j]
            for m in range(j):
                value -= matrix[i, m] * matrix[j, m]
            matrix[i, j] = value / matrix[j, j]
    return True


@inlined_in_any_order
def solve(factor: Array, norms: Array, line: Array) -> None:
    """Forward, then backward."""
    for j in range(len(line)):
        value = line[j] / norms[j]
        for m in range(j):
            value -= factor[j, m] * line[m]
        line[j] = value / factor[j, j]
    for j in range(len(line) - 1, -1, -1):
        value = line[j] / factor[j, j]
        line[j] = value / norms[j]
        for m in range(j):
            line[m] -= factor[j, m] * value
