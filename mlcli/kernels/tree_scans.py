"""Compiled scans of one node in the order of one column: where it is best cut, or dealt out by level.

``places`` holds, for each of two buffers and every column, the rows of each node one after another in ascending
order of the column: rank × 2³² + row. Scans say how pure both sides would be, which is −weight × impurity up to
what no split changes. The twin in NumPy is ``mlcli.models.trees._runs``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows
from mlcli.kernels.without_counting import inlined

Places = NDArray[np.int64]

RANK = 32
ROW = 2**RANK - 1
SQUARES = 0
ENTROPY = 1
LEFT, RIGHT, ALL, LOST = range(4)
"""Rows of ``sums``: of the rows on either side of a cut, of all in the node, and of those whose cell is missing."""


@inlined
def bits(value: float) -> float:
    """Value × log2 value, 0 for 0."""
    return value * math.log2(value) if value > 0.0 else 0.0


@inlined
def purity_of_left(criterion: int, sums: Array, heavy: float) -> float:
    """How pure the left side is by its sums and its weight."""
    known = 0.0
    for k in range(sums.shape[1]):
        one = sums[LEFT, k]
        if criterion == SQUARES:
            known += one * one
        elif criterion == ENTROPY:
            known += bits(one)
        else:
            known = max(known, one)
    if criterion == SQUARES:
        return known / heavy
    return known - (bits(heavy) if criterion == ENTROPY else heavy)


@inlined
def purity_of_both(criterion: int, sums: Array, heavy: float, rest: float) -> float:
    """How pure the left side and what it leaves of all are together."""
    ours, theirs = 0.0, 0.0
    for k in range(sums.shape[1]):
        one, other = sums[LEFT, k], sums[ALL, k] - sums[LEFT, k]
        if criterion == SQUARES:
            ours += one * one
            theirs += other * other
        elif criterion == ENTROPY:
            ours += bits(one)
            theirs += bits(other)
        else:
            ours, theirs = max(ours, one), max(theirs, other)
    if criterion == SQUARES:
        return ours / heavy + theirs / rest
    return ours + theirs - (bits(heavy) + bits(rest) if criterion == ENTROPY else heavy + rest)


@inlined
def scan_squares(
    places: Places, buffer: int, column: int, begin: int, end: int,
    slot: Rows, row_weight: Array, sums: Array, heavy: float, weight: float, least: float,
    slack: float,
) -> tuple[float, int, float]:  # fmt: skip
    """By squared sums of classes whose weights are whole numbers: those of a step need no loop over classes.

    The left sums are those before the first row has gone left, and ``heavy`` is the weight there. Of cuts
    after the rows from ``begin`` to before ``end``: the purity of the first that is best but for ``slack``, its
    place, and the weight on its left.
    """
    best, cut, on_left = -np.inf, -1, 0.0
    ours, theirs = 0.0, 0.0
    for k in range(sums.shape[1]):
        sums[RIGHT, k] = sums[ALL, k] - sums[LEFT, k]
        ours += sums[LEFT, k] * sums[LEFT, k]
        theirs += sums[RIGHT, k] * sums[RIGHT, k]
    for place in range(begin, end):
        here = places[buffer, column, place]
        row = here & ROW
        k, more = slot[row], row_weight[row]
        one, other = sums[LEFT, k], sums[RIGHT, k]
        ours += more * (one + one + more)
        theirs -= more * (other + other - more)
        sums[LEFT, k], sums[RIGHT, k] = one + more, other - more
        heavy += more
        if here >> RANK != places[buffer, column, place + 1] >> RANK:
            rest = weight - heavy
            if heavy >= least and rest >= least and rest > 0.0:
                found = ours / heavy + theirs / rest
                if found > best + slack:
                    best, cut, on_left = found, place, heavy
    return best, cut, on_left


@inlined
def scan_classes(
    places: Places, buffer: int, column: int, begin: int, end: int,
    slot: Rows, row_weight: Array, sums: Array, heavy: float, weight: float,
    least: float, slack: float, criterion: int,
) -> tuple[float, int, float]:  # fmt: skip
    """The same for any weights and any impurity of classes."""
    best, cut, on_left = -np.inf, -1, 0.0
    for place in range(begin, end):
        here = places[buffer, column, place]
        row = here & ROW
        k = slot[row]
        sums[LEFT, k] += row_weight[row]
        heavy += row_weight[row]
        if here >> RANK != places[buffer, column, place + 1] >> RANK:
            rest = weight - heavy
            if heavy >= least and rest >= least and rest > 0.0:
                found = purity_of_both(criterion, sums, heavy, rest)
                if found > best + slack:
                    best, cut, on_left = found, place, heavy
    return best, cut, on_left


@inlined
def scan_values(
    places: Places, buffer: int, column: int, begin: int, end: int,
    amount: Array, row_weight: Array, sums: Array, heavy: float, weight: float, least: float,
    slack: float,
) -> tuple[float, int, float]:  # fmt: skip
    """The same for values, which have one sum."""
    best, cut, on_left = -np.inf, -1, 0.0
    left, total = sums[LEFT, 0], sums[ALL, 0]
    for place in range(begin, end):
        here = places[buffer, column, place]
        row = here & ROW
        left += amount[row]
        heavy += row_weight[row]
        if here >> RANK != places[buffer, column, place + 1] >> RANK:
            rest = weight - heavy
            if heavy >= least and rest >= least and rest > 0.0:
                right = total - left
                found = left * left / heavy + right * right / rest
                if found > best + slack:
                    best, cut, on_left = found, place, heavy
    return best, cut, on_left


@inlined
def run_of(
    places: Places, buffer: int, column: int, begin: int, end: int,
    slot: Rows, amount: Array, row_weight: Array, sums: Array,
) -> tuple[int, float]:  # fmt: skip
    """Fill the left sums with those of the rows of one rank, from the first; where they end, and their weight."""
    for k in range(sums.shape[1]):
        sums[LEFT, k] = 0.0
    rank, place, heavy = places[buffer, column, begin] >> RANK, begin, 0.0
    while place < end and places[buffer, column, place] >> RANK == rank:
        row = places[buffer, column, place] & ROW
        sums[LEFT, slot[row]] += amount[row]
        heavy += row_weight[row]
        place += 1
    return place, heavy


@inlined
def scan_levels(
    places: Places, buffer: int, column: int, begin: int, end: int,
    slot: Rows, amount: Array, row_weight: Array, sums: Array, weight: float, least: float, slack: float,
    criterion: int, each: int,
) -> tuple[float, int, float]:  # fmt: skip
    """One level against the rest: as scans of thresholds, the place being the first of the level.

    Or a branch for each: how pure all are together, the first place, and the entropy of the weights.
    """
    best, cut, on_left, together, information = -np.inf, begin, 0.0, 0.0, 0.0
    place = begin
    while place < end:
        first = place
        place, heavy = run_of(places, buffer, column, first, end, slot, amount, row_weight, sums)
        rest = weight - heavy
        if place - first == end - begin:
            return -np.inf, begin, 0.0
        if each:
            together += purity_of_left(criterion, sums, heavy) if heavy >= least else -np.inf
            information -= bits(heavy / weight)
        elif heavy >= least and rest >= least and rest > 0.0:
            found = purity_of_both(criterion, sums, heavy, rest)
            if found > best + slack:
                best, cut, on_left = found, first, heavy
    return (together, begin, information) if each else (best, cut, on_left)


@inlined
def part_with_missing(
    places: Places, buffer: int, column: int, begin: int, end: int, missing_rank: int,
    slot: Rows, amount: Array, row_weight: Array, sums: Array,
) -> tuple[int, float]:  # fmt: skip
    """Fill the sums of the rows whose cell is missing; where they begin, and their weight."""
    for k in range(sums.shape[1]):
        sums[LOST, k] = 0.0
    known, lost = end, 0.0
    while known > begin and places[buffer, column, known - 1] >> RANK == missing_rank:
        known -= 1
        row = places[buffer, column, known] & ROW
        sums[LOST, slot[row]] += amount[row]
        lost += row_weight[row]
    return known, lost
