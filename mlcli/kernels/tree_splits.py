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


@njit(cache=True, nogil=True)
def total(criterion: int, sums: Array, weight: float) -> float:
    """Weight × impurity of one node, up to what no split changes: squares, entropy, or misclassified weight."""
    if weight <= 0.0:
        return 0.0
    if criterion == SQUARES:
        squares = 0.0
        for value in sums:
            squares += value * value
        return -squares / weight
    if criterion == ENTROPY:
        bits = weight * math.log2(weight)
        for value in sums:
            if value > 0.0:
                bits -= value * math.log2(value)
        return bits
    most = 0.0
    for value in sums:
        most = max(most, value)
    return weight - most


@njit(cache=True, nogil=True)
def gain_of(criterion: int, left: Array, right: Array, node: Array, left_weight: float, weight: float) -> float:
    """What a split takes away of the impurity; ``right`` is overwritten with what is not on the left."""
    for k in range(len(node)):
        right[k] = node[k] - left[k]
        if len(node) > 1 and right[k] < 0.0:
            right[k] = 0.0
    after = total(criterion, left, left_weight) + total(criterion, right, weight - left_weight)
    return (total(criterion, node, weight) - after) / weight


@njit(cache=True, nogil=True)
def best_thresholds(
    features: Rows, orders: Rows, ranks: Codes, missing_rank: Codes, starts: Rows,
    slot: Rows, amount: Array, row_weight: Array, sums: Array, weights: Array,
    tolerance: Array, least: float, criterion: int,
    gain: Array, left_weight: Array, low: Codes, high: Codes, missing_left: Flags,
) -> None:  # fmt: skip
    """Fill the last five arrays (features × nodes) with the first cut, but for rounding, that gains most.

    Row r adds ``amount[r]`` to the sum ``slot[r]`` of its side and ``row_weight[r]`` to its weight. Missing rows
    stand last in a node; each threshold is tried with them on the right and on the left.
    """
    slots = sums.shape[1]
    left, more, right, lost = np.zeros(slots), np.zeros(slots), np.zeros(slots), np.zeros(slots)
    for f in range(len(features)):
        order, rank, empty = orders[features[f]], ranks[features[f]], missing_rank[features[f]]
        for node in range(len(weights)):
            begin, end = starts[node], starts[node + 1]
            known, lost_weight = end, 0.0
            lost[:] = 0.0
            while known > begin and rank[order[known - 1]] == empty:
                known -= 1
                lost[slot[order[known]]] += amount[order[known]]
                lost_weight += row_weight[order[known]]
            left[:] = 0.0
            weight, best = 0.0, -np.inf
            for place in range(begin, known):
                row = order[place]
                left[slot[row]] += amount[row]
                weight += row_weight[row]
                if place + 1 == end or rank[order[place + 1]] == rank[row]:
                    continue
                for side in range(2 if known < end and place + 1 < known else 1):
                    heavy = weight + lost_weight if side else weight
                    if heavy < least or weights[node] - heavy < least:
                        continue
                    for k in range(slots):
                        more[k] = left[k] + lost[k] if side else left[k]
                    found = gain_of(criterion, more, right, sums[node], heavy, weights[node])
                    if found > best + tolerance[node]:
                        best = found
                        gain[f, node], left_weight[f, node] = found, heavy
                        low[f, node], high[f, node] = rank[row], rank[order[place + 1]]
                        missing_left[f, node] = side == 1


@njit(cache=True, nogil=True)
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
