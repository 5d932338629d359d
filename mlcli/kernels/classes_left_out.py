"""Log joint probabilities of normal classes for each row by all others, where gaps are filled by what these have.

The row is taken away from the mean and the scatter of its class, the model's columns are made of all sums as the
steps would, and the correlations are factorised by Cholesky. The twin in ``tests/kernels`` says it in NumPy.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.kernels.left_out import factorise, fill, forward, without
from mlcli.kernels.without_counting import inlined


@njit(cache=True, nogil=True, error_model="numpy")
def scores_without_each(
    columns: Array, y: Codes, weights: Array, counts: Array, means: Array, scatters: Array,
    main: Rows, gap: Rows, has_gap: Flags, fills: Rows, begins: Rows, levels: Rows,
    ddof: float, limits: Array, scores: Array, size: Array, refused: Flags,
) -> None:  # fmt: skip
    """Add to ``scores`` (n × K); ``scatters`` is one that classes share, or one for each.

    ``size`` is how large the numbers are whose differences scores come from, over the least pivot. ``limits`` are
    what must be left of a column's scatter, of a pivot, and of the scatter towards the row.
    """
    made, total, classes = len(main), 0.0, 0
    for count in counts:
        total += count
        classes += count > 0
    middle, shift, way, norm = np.zeros(columns.shape[1]), np.zeros(made), np.zeros(made), np.zeros(made)
    gram, vectors = np.zeros((made, made)), np.zeros((len(counts) + 1, made))
    mean = np.zeros(columns.shape[1])
    for k in range(len(counts)):
        for j in range(len(mean)):
            mean[j] += counts[k] / total * means[k, j]
    for row in range(len(columns)):
        k, weight = y[row], weights[row]
        rest = counts[k] - weight
        refused[row] = True
        if rest <= 1e-9 * counts[k]:
            continue
        for j in range(columns.shape[1]):
            middle[j] = mean[j] - weight / (total - weight) * (columns[row, j] - mean[j])
        if not fill(shift, middle, main, gap, has_gap, fills, begins, levels):
            continue
        step, factor = weight / rest, weight * counts[k] / rest
        place(way, columns[row], means[k], main, gap, shift)
        if len(scatters) == 1:
            free = total - weight - ddof * classes
            whole = without(gram, scatters[0], main, gap, shift, way, factor, limits[0])
            if not (whole and free > 0 and scale(gram, norm) and factorise(gram, limits[1])):
                continue
            for c in range(len(counts)):
                place(vectors[c], means[c], middle, main, gap, shift)
            for j in range(made):
                vectors[k, j] -= step * way[j]
            place(vectors[-1], columns[row], middle, main, gap, shift)
            refused[row] = not linear(scores[row], size, row, gram, norm, vectors, way, free, factor, limits[2])
        else:
            refused[row] = not quadratic(
                scores[row], size, row, k, weight, step, factor, gram, norm, vectors[0], columns[row], counts,
                means, scatters, main, gap, shift, way, ddof, limits,
            )  # fmt: skip


@inlined
def linear(
    scores: Array, size: Array, row: int, factor_: Array, norm: Array, vectors: Array, way: Array,
    free: float, factor: float, least: float,
) -> bool:  # fmt: skip
    """Scores by one factor for all classes; False where the row all but decides the scatter in its direction."""
    for c in range(len(vectors)):
        divide(vectors[c], norm)
        forward(factor_, vectors[c])
    divide(way, norm)
    forward(factor_, way)
    if least * (1.0 + factor * dot(way, way)) > 1.0:
        return False
    asked, longest = vectors[-1], 0.0
    for c in range(len(scores)):
        length = dot(vectors[c], vectors[c])
        scores[c] += free * (dot(vectors[c], asked) - 0.5 * length)
        longest = length if length > longest else longest
    size[row] = free * (np.sqrt(longest * dot(asked, asked)) + longest) / least_pivot(factor_)
    return True


@inlined
def quadratic(
    scores: Array, size: Array, row: int, own: int, weight: float, step: float, factor: float,
    gram: Array, norm: Array, vector: Array, asked: Array, counts: Array, means: Array, scatters: Array,
    main: Rows, gap: Rows, shift: Array, way: Array, ddof: float, limits: Array,
) -> bool:  # fmt: skip
    """Scores by a factor for each class, the own one without the row."""
    for c in range(len(counts)):
        if counts[c] == 0:
            continue
        away = factor if c == own else 0.0
        free = counts[c] - ddof - (weight if c == own else 0.0)
        whole = without(gram, scatters[c], main, gap, shift, way, away, limits[0])
        if not (whole and free > 0 and scale(gram, norm) and factorise(gram, limits[1])):
            return False
        place(vector, asked, means[c], main, gap, shift)
        divide(vector, norm)
        forward(gram, vector)
        squared = dot(vector, vector)
        if c == own:
            if limits[2] * (1.0 + away * squared) > 1.0:
                return False
            squared *= (1.0 + step) * (1.0 + step)
        scores[c] -= 0.5 * free * squared
        for j in range(len(norm)):
            scores[c] -= np.log(gram[j, j] * norm[j]) - 0.5 * np.log(free)
        here = free * squared / least_pivot(gram)
        size[row] = here if here > size[row] else size[row]
    return True


@inlined
def place(out: Array, there: Array, here: Array, main: Rows, gap: Rows, shift: Array) -> None:
    """The way from one row to another in the columns of the model."""
    for j in range(len(main)):
        out[j] = there[main[j]] - here[main[j]] + shift[j] * (there[gap[j]] - here[gap[j]])


@inlined
def scale(gram: Array, norm: Array) -> bool:
    """The correlations (lower half) and the root of the diagonal; False where there is nothing to divide by."""
    for j in range(len(gram)):
        if not gram[j, j] > 0:
            return False
        norm[j] = np.sqrt(gram[j, j])
    for j in range(len(gram)):
        for k in range(j + 1):
            gram[j, k] /= norm[j] * norm[k]
    return True


@inlined
def least_pivot(factor: Array) -> float:
    """What is left of the variance of the column that follows most nearly from those before it."""
    least = 1.0
    for j in range(len(factor)):
        pivot = factor[j, j] * factor[j, j]
        least = pivot if pivot < least else least
    return least


@inlined
def dot(a: Array, b: Array) -> float:
    """The inner product."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@inlined
def divide(values: Array, by: Array) -> None:
    """Divide each number by the one beside it."""
    for j in range(len(values)):
        values[j] /= by[j]
