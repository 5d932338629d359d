"""Passes of the perceptron over rows, one row after another; the twins in ``tests/kernels`` say them in NumPy."""

from __future__ import annotations

from numba import njit

from mlcli.core.tables import Array, Codes, Rows


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
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
            value = count_wrong(X, side, w)
            if value < errors[0]:
                errors[0], runs[1] = value, runs[0]
                for j in range(width + 1):
                    pocket[j] = w[j]
    return wrong


@njit(cache=True, nogil=True, error_model="numpy")
def count_wrong(X: Array, side: Array, w: Array) -> int:
    """How many rows w gets wrong."""
    width, wrong = X.shape[1], 0
    for row in range(len(X)):
        score = w[width]
        for j in range(width):
            score += w[j] * X[row, j]
        wrong += 1 if side[row] * score <= 0.0 else 0
    return wrong


@njit(cache=True, nogil=True, error_model="numpy")
def perceive(K: Array, y: Codes, passes: int, scores: Array, beta: Array, timed: Array) -> tuple[int, int, int]:
    """Go through the rows until a pass has no mistake; the visits, the passes and the mistakes of the last one.

    ``scores``, ``beta`` and ``timed`` (classes × rows) begin at 0: the sums of all rows by what was learned, the
    coefficients, and these by the visit at which they were added, from which their mean over visits follows.
    """
    classes, rows = scores.shape
    visit, mistakes, done = 0, 0, 0
    for _ in range(passes):
        mistakes, done = 0, done + 1
        for row in range(rows):
            visit += 1
            own, rival = y[row], -1
            for k in range(classes):
                if k != own and (rival < 0 or scores[k, row] > scores[rival, row]):
                    rival = k
            if scores[own, row] > scores[rival, row]:
                continue
            mistakes += 1
            beta[own, row] += 1.0
            beta[rival, row] -= 1.0
            timed[own, row] += visit
            timed[rival, row] -= visit
            beside, mine, theirs = K[row], scores[own], scores[rival]
            for t in range(rows):
                mine[t] += beside[t]
                theirs[t] -= beside[t]
        if mistakes == 0:
            break
    return visit, done, mistakes
