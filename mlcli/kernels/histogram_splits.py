"""Compiled search for the best split of one node by one column, from a histogram or from few rows themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Rows
from mlcli.kernels.histograms import Columns, Here, Whole, Words, add_bin, empty, score_of
from mlcli.kernels.without_counting import inlined

FEW = 64
"""Up to how many rows sorting costs less than a histogram."""
NO_KEY = 2**15 - 1
Keys = NDArray[np.int16]
Split = tuple[float, int, int, int]
"""Score, low, high, side: bins up to ``low`` go left, those from ``high`` on right, and missing cells left if
``side`` is 1. Of a nominal column, ``low`` alone goes left. The score is what Σ S² / W becomes, or -inf."""


class Few(NamedTuple):
    """At most 64 rows of a node as they are: class, amount and weight of each, and the sums of amounts.

    ``keys`` and ``order`` are room to sort them in, the others for sums and scores in that order.
    """

    slots: Rows
    amounts: Array
    weights: Array
    totals: Array
    left: Array
    gathered: Array
    lefts: Array
    rights: Array
    scores: Array
    keys: Keys
    order: Keys


@inlined
def best_threshold(sums: Words, known: int, whole: Whole, left: Words) -> Split:
    """The first threshold, but for rounding, that scores most; missing cells (bin ``known``) go to either side."""
    best, best_low, best_high, best_side, low = -np.inf, 0, 0, 0, -1
    sides = 1 if empty(sums, known) else 2
    for w in range(len(left)):
        left[w] = 0
    for high in range(known + 1):
        if empty(sums, high):
            continue
        for side in range((sides if high < known else 1) if low >= 0 else 0):
            for w in range(side * len(left)):
                left[w] += sums[w, known]
            score = score_of(left, whole)
            if score > best + whole.tolerance:
                best, best_low, best_high, best_side = score, low, high, side
            for w in range(side * len(left)):
                left[w] -= sums[w, known]
        add_bin(sums, high, left)
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
def sort_few(columns: Columns, feature: int, here: Here, keys: Keys, order: Keys) -> None:
    """Fill ``order`` with bin × 64 + place of at most 64 rows, ascending.

    The place of a key is the number of smaller ones: with so few rows, many comparisons at once are fastest.
    """
    count, column = len(here.rows), columns.bins[feature]
    for i in range(FEW):
        keys[0, i] = NO_KEY
        keys[1, i] = 0
    for i in range(count):
        keys[0, i] = int(column[here.rows[i]]) * FEW + i
    for i in range(count):
        key = keys[0, i]
        for j in range(FEW):
            keys[1, j] += keys[0, j] > key
    for i in range(count):
        order[keys[1, i]] = keys[0, i]


@inlined
def best_threshold_of_few(count: int, few: Few, whole: Whole) -> Split:
    """The same from sorted rows, where no cell is missing: sums first, then all scores side by side."""
    weight = 0.0
    for i in range(count):
        weight += few.weights[i]
    sum_in_order(count, few)
    scores, lefts, rights, gathered, order = few.scores, few.lefts, few.rights, few.gathered, few.order
    most = -np.inf
    for place in range(count - 1):
        here, there = gathered[place], weight - gathered[place]
        score = (lefts[place] * there + rights[place] * here) / (here * there)
        apart = (order[place] // FEW != order[place + 1] // FEW) & (here >= whole.least) & (there >= whole.least)
        scores[place] = score if apart else -np.inf
    for place in range(count - 1):
        most = scores[place] if scores[place] > most else most
    if most == -np.inf:
        return most, 0, 0, 0
    place = 0
    while scores[place] < most - whole.tolerance:
        place += 1
    return scores[place], int(order[place] // FEW), int(order[place + 1] // FEW), 0


@inlined
def sum_in_order(count: int, few: Few) -> None:
    """For every place in the order of rows: the weight up to it, and Σ S² of both sides."""
    sofar, squares, rest = 0.0, 0.0, 0.0
    for k in range(len(few.totals)):
        few.left[k] = 0.0
        rest += few.totals[k] * few.totals[k]
    if len(few.totals) == 1:
        amount, total = 0.0, few.totals[0]
        for place in range(count):
            i = few.order[place] & (FEW - 1)
            sofar += few.weights[i]
            amount += few.amounts[i]
            few.gathered[place], few.lefts[place] = sofar, amount * amount
            few.rights[place] = (total - amount) * (total - amount)
        return
    for place in range(count):
        i = few.order[place] & (FEW - 1)
        k, one = few.slots[i], few.amounts[i]
        squares += one * (2 * few.left[k] + one)
        rest -= one * (2 * (few.totals[k] - few.left[k]) - one)
        few.left[k] += one
        sofar += one
        few.gathered[place], few.lefts[place], few.rights[place] = sofar, squares, rest
