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
LANES = 2, CHUNK
FAR = 1e300
FLAT = 1e-12
"""The least curvature along a step: equal rows have none."""


@njit(cache=True, nogil=True, error_model="numpy")
def move_pairs(
    K: Array, lower: Array, upper: Array, epsilon: float, tolerance: float, most: int,
    beta: Array, residual: Array, room: Array, lanes: Array,
) -> tuple[int, bool, float]:  # fmt: skip
    """Move until no pair gains more than ``tolerance`` per unit, at most so often.

    Answers how often it has, whether any coefficient was ever at a bound other than 0, and the offset b: the mean
    gain of coefficients between their bounds, or the middle of what the others allow.

    ``residual`` is target − Kβ; it and ``beta`` are kept up to date. Added to it, the first two lines of ``room``
    give what a unit more or less of each coefficient gains or costs: they are −FAR and FAR at its bounds.
    """
    raising, lowering, diagonal, gains = room[0], room[1], room[2], room[3]
    for t in range(len(beta)):
        diagonal[t] = K[t, t]
        settle(t, beta, lower, upper, epsilon, raising, lowering)
    step, moves, stopped = 0.0, 0, False
    i = j = len(beta) - 1
    while True:
        move(K[i], K[j], step, residual, raising, gains, lanes[0])
        i = first_largest(gains, lanes[0])
        if moves == most:
            break
        up, highest = K[i], gains[i]
        weigh_partners(up, diagonal, diagonal[i], highest, residual, lowering, gains, lanes)
        if highest - least(lanes[1]) <= tolerance:
            break
        j = first_largest(gains, lanes[0])
        gap = highest - (residual[j] + lowering[j])
        above = 0.0 if beta[i] < 0.0 < upper[i] else upper[i]
        below = 0.0 if lower[j] < 0.0 < beta[j] else lower[j]
        curve, first, second = diagonal[i] + diagonal[j] - 2.0 * up[j], above - beta[i], beta[j] - below
        step = gap / (curve if curve > FLAT else FLAT)
        step = first if first < step else step
        step = second if second < step else step
        beta[i] = above if step >= above - beta[i] else beta[i] + step
        beta[j] = below if step >= beta[j] - below else beta[j] - step
        stopped = stopped or (beta[i] == above != 0.0) or (beta[j] == below != 0.0)
        for t in (i, j):
            settle(t, beta, lower, upper, epsilon, raising, lowering)
        moves += 1
    return moves, stopped, level(beta, lower, upper, residual, raising, lowering)


@njit(cache=True, nogil=True, error_model="numpy")
def settle(
    t: int, beta: Array, lower: Array, upper: Array, epsilon: float, raising: Array, lowering: Array
) -> None:
    """What a unit more or less of a coefficient gains beside its residual."""
    raising[t] = -FAR if beta[t] >= upper[t] else (-epsilon if beta[t] >= 0.0 else epsilon)
    lowering[t] = FAR if beta[t] <= lower[t] else (-epsilon if beta[t] > 0.0 else epsilon)


@njit(cache=True, nogil=True, error_model="numpy")
def level(beta: Array, lower: Array, upper: Array, residual: Array, raising: Array, lowering: Array) -> float:
    """The offset."""
    highest, lowest, total, count = -FAR, FAR, 0.0, 0
    for t in range(len(beta)):
        gain, cost = residual[t] + raising[t], residual[t] + lowering[t]
        highest = gain if gain > highest else highest
        lowest = cost if cost < lowest else lowest
        if lower[t] < beta[t] < upper[t] and beta[t] != 0.0:
            total, count = total + gain, count + 1
    return total / count if count else (highest + lowest) / 2.0


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})
def move(up: Array, down: Array, step: float, residual: Array, raising: Array, gains: Array, tops: Array) -> None:
    """Tell the residuals of the last step, and fill what the rise of each coefficient gains."""
    tops[:] = -FAR
    for begin in range(0, len(residual), CHUNK):
        end = begin + CHUNK if begin + CHUNK < len(residual) else len(residual)
        left, offset, gained = residual[begin:end], raising[begin:end], gains[begin:end]
        risen, fallen = up[begin:end], down[begin:end]
        for t in range(len(left)):
            left[t] += step * (fallen[t] - risen[t])
            gained[t] = left[t] + offset[t]
            tops[t] = gained[t] if gained[t] > tops[t] else tops[t]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"nnan", "nsz"})
def weigh_partners(
    up: Array, diagonal: Array, own: float, highest: float, residual: Array, lowering: Array, gains: Array,
    lanes: Array,
) -> None:  # fmt: skip
    """Fill what lowering each coefficient gains while another rises, and the lanes with the least cost of it."""
    tops, costs = lanes[0], lanes[1]
    tops[:], costs[:] = -1.0, FAR
    for begin in range(0, len(residual), CHUNK):
        end = begin + CHUNK if begin + CHUNK < len(residual) else len(residual)
        left, offset, gained = residual[begin:end], lowering[begin:end], gains[begin:end]
        beside, others = up[begin:end], diagonal[begin:end]
        for t in range(len(left)):
            cost = left[t] + offset[t]
            costs[t] = cost if cost < costs[t] else costs[t]
            gap = highest - cost if highest > cost else 0.0
            curve = own + others[t] - 2.0 * beside[t]
            gained[t] = gap * gap / (curve if curve > FLAT else FLAT)
            tops[t] = gained[t] if gained[t] > tops[t] else tops[t]


@njit(cache=True, nogil=True, error_model="numpy")
def first_largest(gains: Array, tops: Array) -> int:
    """The first coefficient that gains most, where each lane knows the largest that it has met."""
    top, value = -FAR, len(gains) - 1
    for lane in range(CHUNK):
        top = tops[lane] if tops[lane] > top else top
    for lane in range(CHUNK):
        if tops[lane] == top:
            t = lane
            while t < value and gains[t] < top:
                t += CHUNK
            value = t if t < value else value
    return int(value)


@njit(cache=True, nogil=True, error_model="numpy")
def least(values: Array) -> float:
    """The smallest of some numbers."""
    smallest = FAR
    for value in values:
        smallest = value if value < smallest else smallest
    return smallest
