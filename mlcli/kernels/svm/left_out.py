"""What training rows would get that are left out, where few are on the margin, and how sure that makes answers.

Of the matrix [A | 1 | B | I], with A the kernel of those on the margin and B theirs with those at a bound, the
elimination of each row of A from those below leaves L⁻¹[A | 1 | B | I] with A = LLᵀ. What is not 0 yet, or not any
more, is one stretch of every row, so that it costs (m + 1 + b) m²/2 for m on the margin and b at a bound.
"""

from __future__ import annotations

import math

from numba import njit

from mlcli.core.tables import Array, Rows

STEPS, CLOSE = 100, 1e-8
"""Of a step so small the square, by which the next would be off, is beyond the digits of a number."""


@njit(cache=True, nogil=True, error_model="numpy")
def spans(K: Array, free: Rows, bounded: Rows, share: float, work: Array, squares: Array, products: Array) -> bool:
    """Fill the sums that spans follow from; False where rounding has made the matrix indefinite.

    Of the columns of L⁻¹[A | 1 | B | I] their squared lengths, and their products with that of 1. ``work`` is
    m × (2m + 1 + b), the others are as long as it is wide. A ``share`` of the mean of A's diagonal is added to it.
    """
    m, b, total = len(free), len(bounded), 0.0
    squares[:], products[:] = 0.0, 0.0
    for i in free:
        total += K[i, i]
    ridge = share * (total / m if total > share * m else share) if m else 0.0
    for i in range(m):
        row, alike = work[i], K[free[i]]
        for j in range(m):
            row[j] = alike[free[j]]
        row[m] = 1.0
        for j in range(b):
            row[m + 1 + j] = alike[bounded[j]]
        row[m + 1 + b :] = 0.0
        row[i] += ridge
        row[m + 1 + b + i] = 1.0
    for i in range(m):
        pivot = work[i, i]
        if not pivot > 0.0:
            return False
        begin, end = i + 1, m + b + 2 + i
        above, square, product = work[i, begin:end], squares[begin:end], products[begin:end]
        size = 1.0 / math.sqrt(pivot)
        first = work[i, m] * size
        for t in range(len(above)):
            above[t] *= size
            square[t] += above[t] * above[t]
            product[t] += above[t] * first
        for k in range(i + 1, m):
            below, share = work[k, begin:end], work[i, k]
            for t in range(len(above)):
                below[t] -= share * above[t]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def losses(K: Array, beta: Array, free: Rows, bounded: Rows, squares: Array, products: Array, lost: Array) -> None:
    """Fill β times the squared span of each support vector, from the sums of the columns [1 | B | I].

    Without others on the margin it is K(x, x), as if they spanned 0.
    """
    b = len(bounded)
    for k in range(b):
        i = bounded[k]
        away = 1.0 - products[1 + k]
        square = K[i, i] - (squares[1 + k] - away * away / squares[0] if len(free) else 0.0)
        lost[i] = beta[i] * square if square > 0.0 else 0.0
    for k in range(len(free)):
        i, along = free[k], products[1 + b + k]
        left = squares[1 + b + k] - along * along / squares[0]
        lost[i] = beta[i] * (K[i, i] if len(free) == 1 else 1.0 / left if left > 0.0 else 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def likeliest_slope(score: Array, y: Array, weights: Array, least: float) -> float:
    """The a, from ``least`` units on, at which 1/(1 + exp(−a score)) fits Platt's targets for classes y = ±1 best.

    By Newton's method between bounds, for the logarithm of what Σ w|score| tanh(a|score|/2) lacks of its limit.
    """
    own = other = most = squares = target = 0.0
    for t in range(len(y)):
        own, other = (own + weights[t], other) if y[t] > 0.0 else (own, other + weights[t])
        most += weights[t] * abs(score[t])
        squares += weights[t] * score[t] * score[t]
    if not most > 0.0:
        return 1.0
    for t in range(len(y)):
        count = own if y[t] > 0.0 else other
        target += weights[t] * y[t] * score[t] * count / (count + 2.0)
    at = low = least * 2.0 * (own + other) / most
    high = math.inf
    for _ in range(STEPS):
        mean, curve = 0.0, squares
        for t in range(len(y)):
            size = abs(score[t])
            power = math.exp(-at * size)
            balance = size * (1.0 - power) / (1.0 + power)
            mean += weights[t] * balance
            curve -= weights[t] * balance * balance
        low, high = (low, at) if mean > target else (at, high)
        left = most - mean
        rising = curve > 0.0 and left > 0.0 and target < most
        step = at + 2.0 * left * math.log(left / (most - target)) / curve if rising else math.inf
        if not low < high:
            break
        if abs(step - at) <= CLOSE * at:
            return step
        between = 2.0 * low if high == math.inf else (low + high) / 2.0
        at = step if low < step < high else between
    return at
