"""Compiled scans of one node in the order of one column: where it is best cut, or dealt out by level.

``places`` holds, for each of two buffers and every column, the rows of each node one after another in ascending
order of the column: rank × 2³² + row. Scans say how pure both sides would be, which is −weight × impurity up to
what no split changes. The twin in NumPy is ``mlcli.models.trees._runs``.
"""

from __future__ import annotations

import math

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.tree_layout import (
    ALL,
    AMOUNT,
    ENTROPY,
    LEFT,
    RANK,
    RIGHT,
    ROW,
    ROW_WEIGHT,
    SQUARES,
    Places,
)
from mlcli.kernels.without_counting import inlined


@inlined
def bits(value: float) -> float:
    """Value × log2 value, 0 for 0."""
    return value * math.log2(value) if value > 0.0 else 0.0


@inlined
def purity_of_left(criterion: float, sums: Array, heavy: float) -> float:
    """How pure the left side is by its sums and its weight."""
    known = 0.0
    for k in range(sums.shape[1]):
        one = sums[LEFT, k]
        if criterion == SQUARES:
            known += one * one
        elif criterion == ENTROPY:
            known += bits(one)
        else:
            known = one if one > known else known
    if criterion == SQUARES:
        return known / heavy
    return known - (bits(heavy) if criterion == ENTROPY else heavy)


@inlined
def purity_of_both(criterion: float, sums: Array, heavy: float, rest: float) -> float:
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
            ours, theirs = one if one > ours else ours, other if other > theirs else theirs
    if criterion == SQUARES:
        return ours / heavy + theirs / rest
    return ours + theirs - (bits(heavy) + bits(rest) if criterion == ENTROPY else heavy + rest)


@inlined
def scan_classes(
    places: Places, buffer: int, column: int, begin: int, end: int, slot: Rows, facts: Array, sums: Array,
    heavy: float, weight: float, least: float, slack: float, criterion: float, whole: float,
) -> tuple[float, int, float]:  # fmt: skip
    """The best threshold for classes, after one of the rows from ``begin`` to before ``end``.

    The left sums are those before the first row has gone left, and ``heavy`` is the weight there. It returns the
    purity of the first cut that is best but for ``slack``, its place, and the weight on its left. Squared sums of
    whole weights are carried along, exactly; other sums are gone through at every cut.
    """
    best, cut, on_left, ours, theirs = -np.inf, -1, 0.0, 0.0, 0.0
    for k in range(sums.shape[1]):
        sums[RIGHT, k] = sums[ALL, k] - sums[LEFT, k]
        ours += sums[LEFT, k] * sums[LEFT, k]
        theirs += sums[RIGHT, k] * sums[RIGHT, k]
    for place in range(begin, end):
        here = places[buffer, column, place]
        k, more = slot[here & ROW], facts[here & ROW, ROW_WEIGHT]
        one, other = sums[LEFT, k], sums[RIGHT, k]
        ours += more * (one + one + more)
        theirs -= more * (other + other - more)
        sums[LEFT, k], sums[RIGHT, k] = one + more, other - more
        heavy += more
        rest = weight - heavy
        if here >> RANK == places[buffer, column, place + 1] >> RANK:
            continue
        if heavy >= least and rest >= least and rest > 0.0:
            found = ours / heavy + theirs / rest
            if not whole:
                found = purity_of_both(criterion, sums, heavy, rest)
            if found > best + slack:
                best, cut, on_left = found, place, heavy
    return best, cut, on_left


@inlined
def scan_values(
    places: Places, buffer: int, column: int, begin: int, end: int, facts: Array, sums: Array, heavy: float,
    weight: float, least: float, slack: float,
) -> tuple[float, int, float]:  # fmt: skip
    """The same for values, which have one sum."""
    best, cut, on_left = -np.inf, -1, 0.0
    left, total = sums[LEFT, 0], sums[ALL, 0]
    for place in range(begin, end):
        here = places[buffer, column, place]
        left += facts[here & ROW, AMOUNT]
        heavy += facts[here & ROW, ROW_WEIGHT]
        rest, right = weight - heavy, total - left
        if here >> RANK == places[buffer, column, place + 1] >> RANK:
            continue
        if heavy >= least and rest >= least and rest > 0.0:
            found = left * left / heavy + right * right / rest
            if found > best + slack:
                best, cut, on_left = found, place, heavy
    return best, cut, on_left


@inlined
def scan_levels(
    places: Places, buffer: int, column: int, begin: int, end: int, slot: Rows | None, facts: Array, sums: Array,
    weight: float, least: float, slack: float, criterion: float, each: float,
) -> tuple[float, int, float]:  # fmt: skip
    """One level against the rest: as scans of thresholds, the place being the last of the level.

    Or a branch for each: how pure all are together, the last place, and the entropy of the weights.
    """
    best, cut, on_left, together, information, heavy = -np.inf, end - 1, 0.0, 0.0, 0.0, 0.0
    for k in range(sums.shape[1]):
        sums[LEFT, k] = 0.0
    if places[buffer, column, begin] >> RANK == places[buffer, column, end - 1] >> RANK:
        return best, cut, on_left
    for place in range(begin, end):
        here = places[buffer, column, place]
        sums[LEFT, 0 if slot is None else slot[here & ROW]] += facts[here & ROW, AMOUNT]
        heavy += facts[here & ROW, ROW_WEIGHT]
        if place + 1 < end and here >> RANK == places[buffer, column, place + 1] >> RANK:
            continue
        rest = weight - heavy
        if each:
            together += purity_of_left(criterion, sums, heavy) if heavy >= least else -np.inf
            information -= bits(heavy / weight)
        elif heavy >= least and rest >= least and rest > 0.0:
            found = purity_of_both(criterion, sums, heavy, rest)
            if found > best + slack:
                best, cut, on_left = found, place, heavy
        heavy = 0.0
        for k in range(sums.shape[1]):
            sums[LEFT, k] = 0.0
    return (together, cut, information) if each else (best, cut, on_left)
