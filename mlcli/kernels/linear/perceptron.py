"""Passes of the perceptron over rows, one row after another; the twins in ``tests/kernels`` say them in NumPy."""

from __future__ import annotations

from mlcli.core.tables import Array, Rows
from mlcli.kernels.without_counting import compiled, inlined


@compiled
def perceptron_pass(X: Array, side: Array, order: Rows, rate: float, w: Array) -> int:
    """Correct w (columns, then the intercept) in place by every row that it gets wrong; how many these were."""
    width, wrong = X.shape[1], 0
    for row in order:
        score = w[width]
        for j in range(width):
            score += w[j] * X[row, j]
        if side[row] * score <= 0.0:
            wrong += 1
            w[width] += rate * side[row]
            for j in range(width):
                w[j] += rate * side[row] * X[row, j]
    return wrong


@compiled
def pocket_pass(
    X: Array, side: Array, order: Rows, rate: float, w: Array, pocket: Array, runs: Rows, errors: Rows
) -> int:
    """The same, with the best so far in the ``pocket``; a w is tried on all rows once it has the longest run.

    ``runs`` are how many rows in a row w and the pocket got right, ``errors`` how many of all rows the pocket gets
    wrong.
    """
    width, wrong = X.shape[1], 0
    tried = False
    for row in order:
        score = w[width]
        for j in range(width):
            score += w[j] * X[row, j]
        if side[row] * score <= 0.0:
            wrong += 1
            runs[0], tried = 0, False
            w[width] += rate * side[row]
            for j in range(width):
                w[j] += rate * side[row] * X[row, j]
            continue
        runs[0] += 1
        if runs[0] > runs[1] and not tried:
            tried = True
            found = count_wrong(X, side, w)
            if found < errors[0]:
                errors[0], runs[1] = found, runs[0]
                for j in range(width + 1):
                    pocket[j] = w[j]
    return wrong


@inlined
def count_wrong(X: Array, side: Array, w: Array) -> int:
    """How many rows w gets wrong."""
    width, wrong = X.shape[1], 0
    for row in range(len(X)):
        score = w[width]
        for j in range(width):
            score += w[j] * X[row, j]
        wrong += 1 if side[row] * score <= 0.0 else 0
    return wrong
