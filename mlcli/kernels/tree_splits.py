"""Compiled search for thresholds: one pass over each open node's rows in the order of each ordered feature.

The twin that says the same in NumPy is ``mlcli.models.trees._runs.between_values``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mlcli.core.tables import Array, Codes, Flags, Rows

SQUARES = 0
ENTROPY = 1


@njit(cache=True, nogil=True, error_model="numpy")
def bits(value: float) -> float:
    """Value × log2 value, 0 for 0."""
    return value * math.log2(value) if value > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def gathered(criterion: int, so_far: float, value: float) -> float:
    """What is known of one side after one more of its sums."""
    if criterion == SQUARES:
        return so_far + value * value
    if criterion == ENTROPY:
        return so_far + bits(value)
    return max(so_far, value)


@njit(cache=True, nogil=True, error_model="numpy")
def closed(criterion: int, known: float, weight: float) -> float:
    """Weight × impurity of one side, up to what no split changes, from what was gathered."""
    if criterion == SQUARES:
        return -known / weight
    if criterion == ENTROPY:
        return bits(weight) - known
    return weight - known


@njit(cache=True, nogil=True, error_model="numpy")
def best_thresholds(
    features: Rows, orders: Rows, ranks: Codes, missing_rank: Codes, starts: Rows,
    slot: Rows, amount: Array, row_weight: Array, sums: Array, weights: Array, totals: Array,
    tolerance: Array, least: float, criterion: int,
    gain: Array, left_weight: Array, low: Codes, high: Codes, missing_left: Flags,
) -> None:  # fmt: skip
    """Fill the last five arrays (features × nodes) with the first cut, but for rounding, that gains most.

    Row r adds ``amount[r]`` to the sum ``slot[r]`` of its side and ``row_weight[r]`` to its weight. Missing rows
    stand last in a node; each threshold is tried with them on the right and on the left. Functions called in the
    loop take numbers only: an array argument would cost more than the arithmetic.
    """
    slots = sums.shape[1]
    left, lost = np.zeros(slots), np.zeros(slots)
    for f in range(len(features)):
        order, rank, empty = orders[features[f]], ranks[features[f]], missing_rank[features[f]]
        for node in range(len(weights)):
            begin, end = starts[node], starts[node + 1]
            known, lost_weight = end, 0.0
            left[:] = 0.0
            lost[:] = 0.0
            while known > begin and rank[order[known - 1]] == empty:
                known -= 1
                lost[slot[order[known]]] += amount[order[known]]
                lost_weight += row_weight[order[known]]
            weight, best = 0.0, -np.inf
            for place in range(begin, known):
                row = order[place]
                left[slot[row]] += amount[row]
                weight += row_weight[row]
                if place + 1 == end or rank[order[place + 1]] == rank[row]:
                    continue
                for side in range(2 if place + 1 < known < end else 1):
                    heavy = weight + side * lost_weight
                    rest = weights[node] - heavy
                    if heavy < least or rest < least or rest <= 0.0:
                        continue
                    here, there = 0.0, 0.0
                    for k in range(slots):
                        one = left[k] + side * lost[k]
                        here = gathered(criterion, here, one)
                        there = gathered(criterion, there, sums[node, k] - one)
                    after = closed(criterion, here, heavy) + closed(criterion, there, rest)
                    found = (totals[node] - after) / weights[node]
                    if found > best + tolerance[node]:
                        best = found
                        gain[f, node], left_weight[f, node] = found, heavy
                        low[f, node], high[f, node] = rank[row], rank[order[place + 1]]
                        missing_left[f, node] = side == 1


@njit(cache=True, nogil=True, error_model="numpy")
def grouped_by_node(orders: Rows, node: Rows, ends: Rows, below: Rows) -> None:
    """Fill ``below`` with the rows of each order that are in a node, grouped by node, otherwise as they were."""
    place = np.zeros(len(ends), np.intp)
    for f in range(len(orders)):
        for k in range(len(ends)):
            place[k] = ends[k - 1] if k else 0
        for row in orders[f]:
            here = node[row]
            if here >= 0:
                below[f, place[here]] = row
                place[here] += 1
