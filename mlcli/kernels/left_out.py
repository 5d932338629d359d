"""Least squares without each row in turn, where leaving a row out changes what fills gaps and what a unit is.

The sums over all rows are downdated by the row, the model's columns are made of them as the steps would, and
the normal equations of their correlations are solved by Cholesky. The twin in ``tests/kernels`` says it in NumPy.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Flags, Rows
from mlcli.kernels.without_counting import inlined, inlined_in_any_order


@njit(cache=True, nogil=True, error_model="numpy")
def planes_without_each(
    columns: Array, weights: Array, total: float, mean: Array, scatter: Array,
    main: Rows, gap: Rows, has_gap: Flags, fills: Rows, ddof: Rows, begins: Rows, levels: Rows,
    l2: float, lost: float, least_pivot: float, answers: Array, refused: Flags,
) -> None:  # fmt: skip
    """Fill ``answers`` for every row, the target being the last column; ``refused`` where digits would be lost.

    ``levels[begins[s]:begins[s + 1]]`` are the indicators of the levels of source s.
    """
    made, last = len(main), columns.shape[1] - 1
    away, means = np.zeros(last + 1), np.zeros(last + 1)
    shift, norm, way, slopes = np.zeros(made), np.zeros(made), np.zeros(made), np.zeros(made)
    gram = np.zeros((made, made))
    for row in range(len(columns)):
        rest = total - weights[row]
        for j in range(last + 1):
            away[j] = columns[row, j] - mean[j]
            means[j] = mean[j] - weights[row] / rest * away[j]
        possible = fill(shift, means, main, gap, has_gap, fills, begins, levels)
        for j in range(made):
            way[j] = away[main[j]] + shift[j] * away[gap[j]]
        factor = weights[row] * total / rest
        possible = possible and without(gram, scatter, main, gap, shift, way, factor, lost)
        left = scatter[last, last] - factor * away[last] * away[last]
        if not possible or left <= lost * scatter[last, last]:
            refused[row] = True
            continue
        for j in range(made):
            unit = 1.0 if ddof[j] < 0 else gram[j, j] / (rest - ddof[j])
            gram[j, j] += l2 * unit
            norm[j] = np.sqrt(gram[j, j])
            toward = scatter[last, main[j]] + shift[j] * scatter[last, gap[j]]
            slopes[j] = (toward - factor * way[j] * away[last]) / norm[j]
        for j in range(made):
            for k in range(j + 1):
                gram[j, k] /= norm[j] * norm[k]
        refused[row] = not solve(gram, slopes, least_pivot)
        answers[row] = means[last]
        for j in range(made):
            # from the mean of the others to the row it is farther than from the mean of all
            answers[row] += slopes[j] / norm[j] * way[j] * (1.0 + weights[row] / rest)


@inlined_in_any_order
def without(
    gram: Array, scatter: Array, main: Rows, gap: Rows, shift: Array, way: Array, factor: float, lost: float
) -> bool:
    """The scatter (lower half) of filled columns without a row; False where next to nothing is left of one."""
    for j in range(len(main)):
        a, b, s = main[j], gap[j], shift[j]
        for k in range(j + 1):
            c, d, t = main[k], gap[k], shift[k]
            whole = scatter[a, c]
            if s != 0.0:
                whole += s * scatter[b, c]
            if t != 0.0:
                whole += t * scatter[a, d] + s * t * scatter[b, d]
            gram[j, k] = whole - factor * way[j] * way[k]
            if j == k and gram[j, j] <= lost * whole:
                return False
    return True


@inlined
def fill(
    shift: Array, means: Array, main: Rows, gap: Rows, has_gap: Flags, fills: Rows, begins: Rows, levels: Rows
) -> bool:
    """What fills the gap of each column by the means of the others; False where a column is all gaps."""
    for j in range(len(main)):
        shift[j] = 0.0
        if not has_gap[j]:
            continue
        if fills[j] < 0:
            known = 1.0 - means[gap[j]]
            if known <= 1e-10:
                return False
            shift[j] = means[main[j]] / known
        else:
            most = 0.0
            for place in range(begins[fills[j]], begins[fills[j] + 1]):
                most = means[levels[place]] if means[levels[place]] > most else most
            for place in range(begins[fills[j]], begins[fills[j] + 1]):
                if means[levels[place]] >= most * (1.0 - 1e-12):
                    shift[j] = 1.0 if levels[place] == main[j] else 0.0
                    break
    return True


@inlined
def solve(matrix: Array, right: Array, least_pivot: float) -> bool:
    """Solve a symmetric system, its lower half given and its diagonal 1, in place; False if nearly singular."""
    if not factorise(matrix, least_pivot):
        return False
    forward(matrix, right)
    for j in range(len(right) - 1, -1, -1):
        value = right[j]
        for k in range(j + 1, len(right)):
            value -= matrix[k, j] * right[k]
        right[j] = value / matrix[j, j]
    return True


@inlined_in_any_order
def factorise(matrix: Array, least_pivot: float) -> bool:
    """The Cholesky factor of a matrix of unit diagonal, in place of its lower half; False if nearly singular."""
    size = len(matrix)
    for j in range(size):
        pivot = matrix[j, j]
        for k in range(j):
            pivot -= matrix[j, k] * matrix[j, k]
        if pivot <= least_pivot:
            return False
        root = np.sqrt(pivot)
        matrix[j, j] = root
        for i in range(j + 1, size):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = value / root
    return True


@inlined_in_any_order
def forward(factor: Array, right: Array) -> None:
    """Solve a lower triangular system in place."""
    for j in range(len(right)):
        value = right[j]
        for k in range(j):
            value -= factor[j, k] * right[k]
        right[j] = value / factor[j, j]
