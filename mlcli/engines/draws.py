"""Random draws that belong to rows: a number for each row that follows from its cells and a seed alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import FitError
from mlcli.core.rooms import blocks_of
from mlcli.core.tables import Array, Rows, Table

Words = NDArray[np.uint64]
DIGITS, TINY = 1e9, 1e-290
MIXING = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
HALF = np.uint64(1 << 21)
"""Half of the last of the 30 bits of a number that count."""


def draws(table: Table, seed: int) -> Array:
    """A number in [0, 1) for each row, which looks random and depends on nothing but its cells and the seed."""
    return _by_block(table, lambda some: _drawn(some, seed))


def _by_block(table: Table, draw: Callable[[Table], Array]) -> Array:
    blocks = blocks_of(len(table), len(table.columns)) or [slice(0)]
    return np.concatenate([draw(table.take(some)) for some in blocks])


def _drawn(table: Table, seed: int) -> Array:
    numbers = np.add(table.numbers.T, 0.0, order="C")  # the two zeros count as one value, and all empty cells do
    numbers[np.isnan(numbers)] = np.nan
    mixed = np.full(len(table), seed, np.uint64)
    for cells in (*_rounded(numbers), *table.codes.T.astype(np.uint64)):
        mixed = _scrambled(np.bitwise_xor(mixed, cells, out=mixed))
    return np.asarray((mixed >> np.uint64(11)) * 2.0**-53)


def places_of(table: Table, marks: Array, method: str) -> Rows:
    """Where each row stands among those of which ``draws`` has made the marks with seed 0; others are refused."""
    wanted = draws(table, 0)
    if np.array_equal(wanted, marks):
        return np.arange(len(marks))
    order = np.argsort(marks, kind="stable")
    places = order[np.minimum(np.searchsorted(marks[order], wanted), len(order) - 1)]
    new = np.flatnonzero(marks[places] != wanted)
    if len(new):
        what = f"{method} can only place the rows that it was fitted on; row {new[0] + 1} is none of them"
        raise FitError(what, hint="k-means, dbscan and gmm place new rows")
    return np.asarray(places)


def steady_draws(table: Table, seed: int) -> Array:
    """The same for numbers without gaps that steps have made, whose last digits follow the order of the rows.

    Numbers count to nine digits of the largest of their column: what a step brings to about 0, such as the mean
    that fills an empty cell, has no digits of its own.
    """
    X = table.numbers
    largest = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    return _by_block(table, lambda some: _steadily_drawn(some, DIGITS / np.maximum(largest, TINY), seed))


def _steadily_drawn(table: Table, units: Array, seed: int) -> Array:
    scaled = table.numbers * units
    cells = np.hstack([np.rint(scaled, out=scaled).astype(np.int64), table.codes.astype(np.int64)]).view(np.uint64)
    factors = _scrambled(np.arange(cells.shape[1], dtype=np.uint64)) | np.uint64(1)
    mixed = _scrambled(_scrambled(cells @ factors) ^ np.uint64(seed))
    return np.asarray((mixed >> np.uint64(11)) * 2.0**-53)


def _rounded(cells: Array) -> Words:
    """The bits of numbers to nine digits: what another computer rounds otherwise is drawn alike."""
    bits: Words = cells.view(np.uint64) + HALF
    bits &= ~(2 * HALF - np.uint64(1))
    return bits


def _scrambled(words: Words) -> Words:
    """SplitMix64 (Steele, Lea & Flood 2014): every bit of a word changes every other one with probability ½."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in MIXING:
        words ^= words >> shift
        words *= factor
    words ^= words >> np.uint64(31)
    return words
