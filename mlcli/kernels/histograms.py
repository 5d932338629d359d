"""Compiled sums: what the rows of a node add up to, and what those in each bin of a column do.

Sums are whole numbers, so that they are the same in any order of rows. Of classes, a word holds the weights of as
many as it has room for, ``bits`` for each, and all are added at once. Of values, the first word is the weight and
the second the amount (weight × distance from the mean of the node) in units that the node sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Flags, Rows
from mlcli.kernels.binning import Bins
from mlcli.kernels.without_counting import inlined

WEIGHT, AMOUNT = 0, 1
"""The words of values."""
Words = NDArray[np.int64]
Ids = NDArray[np.uint32]
"""Numbers of rows: unsigned, since a compiled loop asks of signed ones whether they count from the end."""


class Columns(NamedTuple):
    """The training rows in bins: ``bins`` is F × n, and missing cells of column f are in bin ``known[f]``."""

    bins: Bins
    known: Rows
    ordered: Flags
    lowest: Array
    """F × bins: the smallest value in each bin of an ordered column."""
    highest: Array


class Here(NamedTuple):
    """The rows of one node; the i-th adds ``parts[:, i]`` to its words."""

    rows: Ids
    parts: Words


class Whole(NamedTuple):
    """A node before it is split: its words, and what a split of it must heed."""

    totals: Words
    bits: int
    """How many a class has in a word; 0 of values."""
    least: float
    """The least weight of a branch."""
    tolerance: float
    """How much two scores may differ by rounding alone."""


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
def empty(sums: Words, b: int) -> bool:
    """Whether a bin holds no row."""
    word = 0
    for w in range(len(sums)):
        word |= sums[w, b]
    return word == 0


@inlined
def add_bin(sums: Words, b: int, words: Words) -> None:
    """Add what a bin holds."""
    for w in range(len(sums)):
        words[w] += sums[w, b]


@inlined
def score_of(left: Words, whole: Whole) -> float:
    """What Σ S² / W becomes with these words on the left; -inf if a branch is too light."""
    here, there, lefts, rights = 0.0, 0.0, 0.0, 0.0
    if whole.bits == 0:
        here, lefts = float(left[WEIGHT]), float(left[AMOUNT])
        there, rights = float(whole.totals[WEIGHT] - left[WEIGHT]), float(whole.totals[AMOUNT] - left[AMOUNT])
        lefts, rights = lefts * lefts, rights * rights
    else:
        mask = (1 << whole.bits) - 1
        for w in range(len(whole.totals)):
            ours = left[w]
            others = whole.totals[w] - ours
            while ours | others:
                one, other = float(ours & mask), float(others & mask)
                here += one
                there += other
                lefts += one * one
                rights += other * other
                ours >>= whole.bits
                others >>= whole.bits
    if here < whole.least or there < whole.least:
        return -np.inf
    return (lefts * there + rights * here) / (here * there)
