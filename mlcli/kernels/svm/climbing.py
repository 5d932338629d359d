"""Sequential minimal optimisation (SMO): two coefficients move at a time, one up and one down by the same step.

Maximises Σ target·β − ½ βᵀKβ − ε Σ|β| where each β lies between its bounds, which enclose 0, and Σβ stays as it
is. The first of the two is the one whose rise gains most; the second the one with which a step gains most by the
second derivative (Fan, Chen & Lin 2005). Rows are read in chunks of as many lanes, each with a best of its own: a
loop that looks for one largest number is not vectorised.
"""

from __future__ import annotations

from numba import njit

from mlcli.core.tables import Array

CHUNK = 64
FAR = 1e300
FLAT = 1e-12
"""The least curvature along a step: equal rows have none."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})
def climb(
    K: Array, diagonal: Array, lower: Array, upper: Array, epsilon: float, tolerance: float, most: int,
    beta: Array, residual: Array, raising: Array, lowering: Array, lanes: Array,
) -> int:  # fmt: skip
    """Move until no pair gains more than ``tolerance`` per unit, at most so often; how often it has.

    ``residual`` is target − Kβ. Added to it, ``raising`` and ``lowering`` give what a unit more or less of each
    coefficient gains or costs; they are −FAR and FAR at its bounds. All four arrays are kept up to date; ``lanes``
    (2 × CHUNK) are to work in.
    """
    step = 0.0
    i, j = int(diagonal.size - 1), int(diagonal.size - 1)
    for moves in range(most):
        i = moved(K[i], K[j], step, residual, raising, lanes[0])
        highest, up = residual[i] + raising[i], K[i]
        j, lowest = partner(up, diagonal, diagonal[i], highest, residual, lowering, lanes)
        if highest - lowest <= tolerance:
            return moves
        gap = highest - (residual[j] + lowering[j])
        above = upper[i] if beta[i] >= 0.0 else min(upper[i], 0.0)
        below = lower[j] if beta[j] <= 0.0 else max(lower[j], 0.0)
        step = min(gap / max(diagonal[i] + diagonal[j] - 2.0 * up[j], FLAT), above - beta[i], beta[j] - below)
        beta[i] = above if step >= above - beta[i] else beta[i] + step
        beta[j] = below if step >= beta[j] - below else beta[j] - step
        for t in (i, j):
            raising[t] = -FAR if beta[t] >= upper[t] else (-epsilon if beta[t] >= 0.0 else epsilon)
            lowering[t] = FAR if beta[t] <= lower[t] else (-epsilon if beta[t] > 0.0 else epsilon)
    moved(K[i], K[j], step, residual, raising, lanes[0])
    return most


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})
def moved(up: Array, down: Array, step: float, residual: Array, raising: Array, tops: Array) -> int:
    """Tell the residuals of the last step; the coefficient whose rise gains most."""
    tops[:] = -FAR
    for begin in range(0, residual.size, CHUNK):
        left, offset = residual[begin : begin + CHUNK], raising[begin : begin + CHUNK]
        risen, fallen = up[begin : begin + CHUNK], down[begin : begin + CHUNK]
        for t in range(left.size):
            left[t] += step * (fallen[t] - risen[t])
            tops[t] = max(tops[t], left[t] + offset[t])
    highest, found = largest(tops), residual.size
    for lane in range(min(CHUNK, residual.size)):
        if tops[lane] == highest:
            t = lane
            while t < found and residual[t] + raising[t] < highest:
                t += CHUNK
            found = min(found, t)
    return min(found, residual.size - 1)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})
def partner(
    up: Array, diagonal: Array, own: float, highest: float, residual: Array, lowering: Array, lanes: Array
) -> tuple[int, float]:
    """The coefficient to be lowered while another rises, and the least cost of lowering any."""
    tops, least = lanes[0], lanes[1]
    tops[:], least[:] = -1.0, FAR
    for begin in range(0, residual.size, CHUNK):
        left, offset = residual[begin : begin + CHUNK], lowering[begin : begin + CHUNK]
        beside, others = up[begin : begin + CHUNK], diagonal[begin : begin + CHUNK]
        for t in range(left.size):
            cost = left[t] + offset[t]
            least[t] = min(least[t], cost)
            gap = max(highest - cost, 0.0)
            tops[t] = max(tops[t], gap * gap / max(own + others[t] - 2.0 * beside[t], FLAT))
    best, found = largest(tops), residual.size
    for lane in range(min(CHUNK, residual.size)):
        if tops[lane] == best:
            for t in range(lane, found, CHUNK):
                gap = max(highest - (residual[t] + lowering[t]), 0.0)
                if gap * gap / max(own + diagonal[t] - 2.0 * up[t], FLAT) >= best:
                    found = t
                    break
    return min(found, residual.size - 1), smallest(least)


@njit(cache=True, nogil=True)
def largest(values: Array) -> float:
    """The largest of some numbers."""
    top = -FAR
    for value in values:
        top = max(top, value)
    return top


@njit(cache=True, nogil=True)
def smallest(values: Array) -> float:
    """The smallest of some numbers."""
    least = FAR
    for value in values:
        least = min(least, value)
    return least
