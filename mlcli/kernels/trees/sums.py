"""Compiled sums of the rows of a node and of those in each bin of a column, and rows in order of a column."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Rows
from mlcli.kernels.trees.records import Binned, Bins, Bytes, Ids, PackedTargets, Words, Workspace
from mlcli.kernels.without_counting import inlined

PLACE_BITS = 32
"""How many bits of a key say which entry of a bin it is; the others are the bin."""
FEW = 32
"""Up to how many rows inserting one after another sorts fastest."""
DIGITS = 8
"""How many bits of a bin one pass of sorting looks at."""


@inlined
def gather(targets: PackedTargets, rows: Ids, space: Workspace, totals: Words) -> None:
    """Lay the words of a node's rows side by side, and add them up."""
    for w in range(len(targets.parts)):
        source, beside, total = targets.parts[w], space.parts[w], 0
        for i in range(len(rows)):
            part = source[rows[i]]
            beside[i] = part
            total += part
        totals[w] = total


@inlined
def add_up(columns: Binned, feature: int, rows: Ids, space: Workspace, sums: Words) -> None:
    """Fill ``sums`` (words × bins) with what the rows of a node hold."""
    column = columns.bins[feature]
    for w in range(len(sums)):
        for b in range(columns.known[feature] + 1):
            sums[w, b] = 0
    for w in range(0, len(sums) - 1, 2):  # two at a time, which look up the bin of a row once
        first, second, parts, others = sums[w], sums[w + 1], space.parts[w], space.parts[w + 1]
        for i in range(len(rows)):
            b = column[rows[i]]
            first[b] += parts[i]
            second[b] += others[i]
    if len(sums) % 2:
        first, parts = sums[len(sums) - 1], space.parts[len(sums) - 1]
        for i in range(len(rows)):
            first[column[rows[i]]] += parts[i]


@inlined
def sort_rows(column: Bins, rows: Ids, known: int, space: Workspace) -> int:
    """Put the keys of rows in ascending order, of few by insertion, else by digits; in which of ``places``."""
    source, count, shift, places, counts = 0, len(rows), PLACE_BITS, space.places, space.counts
    if count <= FEW:
        sort_few(column, rows, places[0])
        return source
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


@inlined
def sort_few(column: Bins, rows: Ids, order: Rows) -> None:
    """Fill ``order`` with the keys of few rows, ascending, by insertion."""
    for i in range(len(rows)):
        key, place = (int(column[rows[i]]) << PLACE_BITS) | i, i
        while place > 0 and order[place - 1] > key:
            order[place] = order[place - 1]
            place -= 1
        order[place] = key


@inlined
def partition(rows: Ids, goes: Bytes, right: Ids) -> int:
    """Put the rows that go left before the others, both in their order; how many do.

    Nothing branches on a row, since nobody could foresee where it goes; ``right`` is room.
    """
    lefts, rights = np.uint64(0), np.uint64(0)
    for i in range(len(rows)):
        row = rows[i]
        rows[lefts] = row
        right[rights] = row
        lefts += np.uint64(goes[i])
        rights += np.uint64(1 - goes[i])
    rest = rows[lefts:]
    for i in range(len(rest)):
        rest[i] = right[i]
    return int(lefts)
