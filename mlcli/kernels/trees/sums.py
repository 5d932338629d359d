"""Compiled sums: what the rows of a node add up to, and what those in each bin of a column do.

Sums are whole numbers, so that they are the same in any order of rows, and a sibling is exactly its parent less
the other child. Of classes, a word holds the weights of as many as it has room for, ``bits`` for each, and all are
added at once. Of values and gradients, the first word is the amount and the second the weight, above the curvature
if rows have one of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Flags, Rows
from mlcli.kernels.trees.binning import Bins, Ids
from mlcli.kernels.without_counting import inlined

AMOUNT, WEIGHT = 0, 1
"""The words of values and of gradients."""
PLACE_BITS = 32
"""How many bits of a key say which entry of a bin it is; the others are the bin."""
FEW = 64
"""Up to how many rows comparing each with each sorts fastest."""
DIGITS = 8
"""How many bits of a bin one pass of sorting looks at."""
SMALLEST = (8 * 2.0**-52) ** 2
"""A spread is rounding if it is at most this times the squared mean."""
Words = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Keys = NDArray[np.signedinteger]


class Columns(NamedTuple):
    """The training rows in bins: ``bins`` is F × n, and missing cells of column f are in bin ``known[f]``."""

    bins: Bins
    known: Rows
    ordered: Flags
    lowest: Array
    """F × bins: the smallest value in each bin of an ordered column."""
    highest: Array


class Targets(NamedTuple):
    """What each training row adds to the words of its node (words × n), and its value."""

    parts: Words
    bits: int
    """How many a class has in a word; 0 of values and gradients."""
    output: Array


class Here(NamedTuple):
    """The rows of one node; the i-th adds ``parts[:, i]`` to its words."""

    rows: Ids
    parts: Words


class Room(NamedTuple):
    """Memory to work in."""

    sums: Words
    """Words × bins."""
    along: Words
    """Words × cuts: what lies on the left of each."""
    bins: Rows
    """The last bin there."""
    filled: Bytes
    scores: Array
    """With missing cells on the right and on the left."""
    lost: Words
    """The words that missing cells add to the left, on the right (none) and on the left."""
    left: Words
    """Those of one side, or of one level."""
    every: Rows
    """A key for each bin."""
    keys: Keys
    """Keys of few rows: their own, how many are smaller, and a key above all."""
    places: Rows
    """Two orders of the rows of a node, or of levels."""
    counts: Rows


@inlined
def gather(targets: Targets, here: Here, totals: Words, node: int) -> None:
    """Lay the words of a node's rows side by side, and add them up."""
    for w in range(len(targets.parts)):
        source, beside, total = targets.parts[w], here.parts[w], 0
        for i in range(len(here.rows)):
            part = source[here.rows[i]]
            beside[i] = part
            total += part
        totals[node, w] = total


@inlined
def mean_and_spread(targets: Targets, here: Here) -> tuple[float, float]:
    """The mean of the values of a node, and the weighted sum of squared distances from it."""
    total, weight, spread = 0.0, 0.0, 0.0
    for i in range(len(here.rows)):
        total += here.parts[WEIGHT, i] * targets.output[here.rows[i]]
        weight += here.parts[WEIGHT, i]
    mean = total / weight
    for i in range(len(here.rows)):
        away = targets.output[here.rows[i]] - mean
        spread += here.parts[WEIGHT, i] * away * away
    return mean, spread if spread > SMALLEST * mean * mean * weight else 0.0


@inlined
def add_up(columns: Columns, feature: int, here: Here, sums: Words) -> None:
    """Fill ``sums`` (words × bins) with what the rows of a node hold."""
    column, rows = columns.bins[feature], here.rows
    for w in range(len(sums)):
        for b in range(columns.known[feature] + 1):
            sums[w, b] = 0
    for w in range(0, len(sums) - 1, 2):
        first, second, parts, others = sums[w], sums[w + 1], here.parts[w], here.parts[w + 1]
        for i in range(len(rows)):
            b = column[rows[i]]
            first[b] += parts[i]
            second[b] += others[i]
    if len(sums) % 2:
        first, parts = sums[len(sums) - 1], here.parts[len(sums) - 1]
        for i in range(len(rows)):
            first[column[rows[i]]] += parts[i]


@inlined
def sort_few(column: Bins, rows: Ids, keys: Keys, order: Rows) -> None:
    """Fill ``order`` with the keys of at most 64 rows, ascending.

    The place of a key is the number of smaller ones: with so few rows, many comparisons at once are fastest.
    """
    count, own, smaller = len(rows), keys[0], keys[1]
    for i in range(FEW):
        own[i] = keys[2, i]
        smaller[i] = 0
    for i in range(count):
        own[i] = int(column[rows[i]]) * FEW + i
    for i in range(count):
        key = own[i]
        for j in range(FEW):
            smaller[j] += own[j] > key
    for i in range(count):
        order[smaller[i]] = (int(own[i]) // FEW) << PLACE_BITS | i


@inlined
def sort_many(column: Bins, rows: Ids, known: int, places: Rows, counts: Rows) -> int:
    """Fill a row of ``places`` with the keys of rows in ascending order, by digits; which row it is."""
    source, count, shift = 0, len(rows), PLACE_BITS
    for i in range(count):
        places[0, i] = (int(column[rows[i]]) << PLACE_BITS) | i
    while known >> (shift - PLACE_BITS):
        for digit in range(len(counts)):
            counts[digit] = 0
        for i in range(count):
            counts[((places[source, i] >> shift) & 255) + 1] += 1
        for digit in range(1, len(counts)):
            counts[digit] += counts[digit - 1]
        for i in range(count):
            digit = (places[source, i] >> shift) & 255
            places[1 - source, counts[digit]] = places[source, i]
            counts[digit] += 1
        source = 1 - source
        shift += DIGITS
    return source
