"""Compiled search for the best split of one node by one column, and for a split drawn at random.

A node scores −weight × impurity, up to what no split changes; of squares that is Σ S² / W, which is gini of class
weights and the squared error of amounts alike.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.trees.binning import Bins
from mlcli.kernels.trees.sums import (
    AMOUNT,
    FEW,
    PLACE_BITS,
    PLACES,
    SPARSE,
    WEIGHT,
    Columns,
    Here,
    Ids,
    Room,
    Words,
    add_up,
    empty,
    sort_few,
    sort_many,
)
from mlcli.kernels.without_counting import compiled, inlined

SQUARES, ENTROPY, LARGEST = range(3)
"""Criteria: the sum of squares, the entropy, the share that the largest class is wrong about."""
Split = tuple[float, int, int, int]
"""Score, low, high, side: bins up to ``low`` go left, those from ``high`` on right, and missing cells left if
``side`` is 1. Of a nominal column, ``low`` alone goes left. The score is -inf where there is no split."""


class Whole(NamedTuple):
    """A node before it is split: its words, and what a split of it must heed."""

    totals: Words
    bits: int
    criterion: int
    least: float
    """The least weight of a branch."""
    tolerance: float
    """How much two scores may differ by rounding alone."""


@inlined
def bits_of(weight: float) -> float:
    """W log2 W, 0 for 0."""
    return weight * math.log2(weight) if weight > 0.0 else 0.0


@inlined
def score_of(left: Words, whole: Whole) -> float:
    """What both sides score with these words on the left; -inf if a branch is too light."""
    here, there, ours, theirs = 0.0, 0.0, 0.0, 0.0
    if whole.bits == 0:
        here, there = float(left[WEIGHT]), float(whole.totals[WEIGHT] - left[WEIGHT])
        ours, theirs = float(left[AMOUNT]), float(whole.totals[AMOUNT] - left[AMOUNT])
        ours, theirs = ours * ours, theirs * theirs
    else:
        mask = (1 << whole.bits) - 1
        for w in range(len(whole.totals)):
            word = left[w]
            others = whole.totals[w] - word
            while word | others:
                one, other = float(word & mask), float(others & mask)
                here += one
                there += other
                if whole.criterion == SQUARES:
                    ours += one * one
                    theirs += other * other
                elif whole.criterion == ENTROPY:
                    ours += bits_of(one)
                    theirs += bits_of(other)
                else:
                    ours, theirs = one if one > ours else ours, other if other > theirs else theirs
                word >>= whole.bits
                others >>= whole.bits
    if here < whole.least or there < whole.least:
        return -np.inf
    if whole.criterion == SQUARES:
        return (ours * there + theirs * here) / (here * there)
    if whole.criterion == ENTROPY:
        return ours + theirs - bits_of(here) - bits_of(there)
    return ours + theirs - here - there


@inlined
def best_threshold(keys: Rows, count: int, sums: Words, known: int, whole: Whole, room: Room, gaps: bool) -> Split:
    """The first threshold, but for rounding, that scores most; missing cells (bin ``known``) go to either side.

    Keys, ascending, say in which bin each column of ``sums`` is; some are empty where there are ``gaps``.
    """
    best, best_low, best_high, best_side, low, missing = -np.inf, 0, 0, 0, -1, False
    left, lost, last = room.left, room.lost, count - 1
    for w in range(len(left)):
        left[w], lost[w] = 0, 0
    while last >= 0 and keys[last] >> PLACE_BITS == known:
        for w in range(len(lost)):
            lost[w] += sums[w, keys[last] & PLACES]
            missing |= lost[w] != 0
        last -= 1
    for i in range(count):
        high, place = keys[i] >> PLACE_BITS, keys[i] & PLACES
        if gaps and empty(sums, place):
            continue
        for side in range((2 if missing and high < known else 1) if high > low >= 0 else 0):
            for w in range(side * len(left)):
                left[w] += lost[w]
            score = score_of(left, whole)
            if score > best + whole.tolerance:
                best, best_low, best_high, best_side = score, low, high, side
            for w in range(side * len(left)):
                left[w] -= lost[w]
        for w in range(len(left)):
            left[w] += sums[w, place]
        low = high
    return best, best_low, best_high, best_side


@inlined
def best_level(sums: Words, known: int, whole: Whole, left: Words) -> Split:
    """The first level, but for rounding, that scores most when it is split from the rest."""
    best, level = -np.inf, 0
    for b in range(known + 1):
        for w in range(len(left)):
            left[w] = sums[w, b]
        score = score_of(left, whole)
        if score > best + whole.tolerance:
            best, level = score, b
    return best, level, level, 0


@inlined
def best_split(columns: Columns, feature: int, here: Here, whole: Whole, room: Room) -> Split:
    """The best split of a node by one column."""
    known, count, column = int(columns.known[feature]), len(here.rows), columns.bins[feature]
    if columns.ordered[feature] and (count <= FEW or known > SPARSE * count):
        if count <= FEW:
            sort_few(column, here.rows, room.keys, room.places[0])
            keys = room.places[0]
        else:
            keys = room.places[sort_many(column, here.rows, known, room.places, room.counts)]
        if keys[0] >> PLACE_BITS == keys[count - 1] >> PLACE_BITS:
            return -np.inf, 0, 0, 0
        return best_threshold(keys, count, here.parts, known, whole, room, False)
    add_up(columns, feature, here, room.sums)
    if columns.ordered[feature]:
        return best_threshold(room.every, known + 1, room.sums, known, whole, room, True)
    return best_level(room.sums, known, whole, room.left)


@compiled
def random_below(state: Rows, end: int) -> int:
    """A whole number from 0 to ``end - 1``, all alike; ``state[0]`` must not be 0 (xorshift, Marsaglia 2003)."""
    x = state[0]
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    state[0] = x
    drawn: int = (x * end) >> 32
    return drawn


@compiled
def random_share(state: Rows) -> float:
    """A number in [0, 1)."""
    return random_below(state, int(np.int64(1 << 30))) / (1 << 30)


class Chance(NamedTuple):
    """What cuts are drawn with: room for the bins of a node's rows and for which go left, and the number drawn."""

    codes: Bins
    goes: Bins
    wish: Array


@inlined
def random_split(
    columns: Columns, feature: int, here: Here, whole: Whole, room: Room, state: Rows, chance: Chance
) -> Split:
    """A split of a node by one column, drawn at random."""
    if columns.ordered[feature]:
        return random_threshold(columns, feature, here, whole, room.left, state, chance)
    return random_level(columns, feature, here, whole, room, state)


@inlined
def random_threshold(
    columns: Columns, feature: int, here: Here, whole: Whole, left: Words, state: Rows, chance: Chance
) -> Split:
    """A threshold anywhere between the smallest and the largest value; missing cells go to the better side.

    ``wish`` becomes the number that was drawn; its bin is the last from ``low`` on that begins below it, before
    ``high``. A single known value is split from the missing ones.
    """
    known, codes, lowest = int(columns.known[feature]), chance.codes[: len(here.rows)], columns.lowest[feature]
    first, last, missing = ends_of(columns.bins[feature], here.rows, known, codes)
    if first >= last and not (missing and first == last):
        return -np.inf, 0, 0, 0
    low, high, cut = last, known, np.inf
    if first < last:
        low, high = first, last
        cut = lowest[first] + random_share(state) * (columns.highest[feature, last] - lowest[first])
    chance.wish[0] = cut
    goes = chance.goes[: len(codes)]
    for i in range(len(codes)):
        goes[i] = (lowest[codes[i]] <= cut) & (codes[i] < high)
    add_marked(here.parts, goes, left)
    best, best_side = score_of(left, whole), 0
    if missing and first < last:
        for i in range(len(codes)):
            goes[i] |= codes[i] == known
        add_marked(here.parts, goes, left)
        score = score_of(left, whole)
        if score > best + whole.tolerance:
            best, best_side = score, 1
    return best, low, high, best_side


@inlined
def ends_of(column: Bins, rows: Ids, known: int, codes: Bins) -> tuple[int, int, bool]:
    """Fill ``codes`` with the bins of a node's rows; the first and the last of known values, and if some are not.

    Without known values the last comes before the first.
    """
    for i in range(len(codes)):
        codes[i] = column[rows[i]]
    first, last = codes[0], codes[0]
    for i in range(len(codes)):
        first = codes[i] if codes[i] < first else first
        last = codes[i] if codes[i] > last else last
    if last < known:
        return int(first), int(last), False
    highest = -1
    for i in range(len(codes)):
        highest = max(highest, int(codes[i]) if codes[i] < known else -1)
    return int(first), highest, True


@inlined
def bin_of(lowest: Array, cut: float, first: int, last: int) -> int:
    """The last bin before ``last`` that begins at or below the cut."""
    low, high = first, last - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if lowest[middle] <= cut:
            low = middle
        else:
            high = middle - 1
    return low


@inlined
def add_marked(parts: Words, goes: Bins, sums: Words) -> None:
    """Fill ``sums`` with the words of the rows that go left."""
    for w in range(len(sums)):
        total, own = np.int64(0), parts[w]
        for i in range(len(goes)):
            total += own[i] * goes[i]
        sums[w] = total


@inlined
def random_level(columns: Columns, feature: int, here: Here, whole: Whole, room: Room, state: Rows) -> Split:
    """One of the levels in a node, all alike, against the rest."""
    add_up(columns, feature, here, room.sums)
    present = 0
    for b in range(columns.known[feature] + 1):
        present += not empty(room.sums, b)
    wanted, level = random_below(state, present), -1
    while wanted >= 0:
        level += 1
        wanted -= not empty(room.sums, level)
    for w in range(len(room.left)):
        room.left[w] = room.sums[w, level]
    return score_of(room.left, whole), level, level, 0
