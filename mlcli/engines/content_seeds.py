"""Random numbers that follow from the content of rows, and bags of rows.

The order of the file then changes nothing in what learns from the rows, nor does a weight of 2 in place of a
repeated row. Numbers come from a hash of the cells; nine digits of a number count, so that rounding on another
computer does not matter.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.abilities import SeesRowNumbers
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.model import Model
from mlcli.core.params import learned
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Rows, Table
from mlcli.tasks.supervised import SupervisedRows

Words = NDArray[np.uint64]


def draws(table: Table, seed: int, rounded: bool = True) -> Array:
    """A number in [0, 1) for each row that looks random but depends only on its cells and the seed.

    Nine digits of each cell count if ``rounded``, else all.
    """
    numbers = np.add(table.numbers.T, 0.0, order="C")  # 0 and −0 are one value, and so are all missing cells
    numbers[np.isnan(numbers)] = np.nan
    words = numbers.view(np.uint64)
    if rounded:  # to 30 bits
        half = np.uint64(1 << 21)
        words = words + half
        words &= ~(2 * half - np.uint64(1))
    mixed = np.full(len(table), seed, np.uint64)
    for cells in (*words, *table.codes.T.astype(np.uint64)):
        mixed = _scrambled(np.bitwise_xor(mixed, cells, out=mixed))
    return np.asarray((mixed >> np.uint64(11)) * 2.0**-53)


def marks_of(table: Table) -> Array:
    """Two numbers for each row to recognise it: a hash of all digits of its cells, and one of nine."""
    return np.column_stack([draws(table, 0, rounded=False), draws(table, 0)])


def places_of(table: Table, marks: Array, method: str, hint: str) -> Rows:
    """The index of each row among the rows with these marks; other rows are refused.

    Nine digits decide if no row agrees in all: steps may round differently when they see other rows.
    """
    own = marks_of(table)
    if np.array_equal(own, marks):
        return np.arange(len(marks))
    exact, rounded = (_first_of(*pair) for pair in zip(own.T, marks.T, strict=True))
    indices = np.where(exact < 0, rounded, exact)
    if (indices < 0).any():
        row = int((indices < 0).argmax()) + 1
        what = f"{method} can only place the rows that it was fitted on; row {row} is none of them"
        raise FitError(what, hint=hint)
    return indices


def _first_of(values: Array, marks: Array) -> Rows:
    """The first index of each value among the marks; -1 if there is none."""
    order = np.argsort(marks, kind="stable")
    indices = order[np.minimum(np.searchsorted(marks[order], values), len(order) - 1)]
    return np.where(marks[indices] == values, indices, -1)


def steady_draws(table: Table, seed: int) -> Array:
    """``draws`` for complete numbers from steps, whose last digits depend on the order of the rows.

    Nine digits of the largest number of the column count: a number that a step brings to about 0, such as the mean
    that fills a missing cell, has no digits of its own.
    """
    X = table.numbers
    largest = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    scaled = X * (1e9 / np.maximum(largest, 1e-290))
    cells = np.hstack([np.rint(scaled, out=scaled).astype(np.int64), table.codes.astype(np.int64)]).view(np.uint64)
    factors = _scrambled(np.arange(cells.shape[1], dtype=np.uint64)) | np.uint64(1)
    mixed = _scrambled(_scrambled(cells @ factors) ^ np.uint64(seed))
    return np.asarray((mixed >> np.uint64(11)) * 2.0**-53)


def _scrambled(words: Words) -> Words:
    """SplitMix64 (Steele, Lea & Flood 2014), in place: every bit changes every other one with probability ½."""
    shifted = np.empty_like(words)
    words += np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= np.right_shift(words, np.uint64(shift), out=shifted)
        words *= np.uint64(factor)
    words ^= np.right_shift(words, np.uint64(31), out=shifted)
    return words


Counts = NDArray[np.intp]
Rowed = TypeVar("Rowed", bound=RowsOfTable)


def order_of_content(data: RowsOfTable) -> Rows:
    """An order of the rows that depends only on their content; it looks random."""
    return np.lexsort((*targets_of(data), draws(data.table, 0)))


def in_content_order(data: Rowed) -> Rowed:
    """The rows with weight, in an order that depends only on their content."""
    data = data.counted()
    return data.take(order_of_content(data))


def targets_of(data: RowsOfTable) -> tuple[Array, ...]:
    """The target of each row, if there is one."""
    return (np.asarray(data.y),) if isinstance(data, SupervisedRows) else ()


def as_repeats(data: Rowed) -> Rowed:
    """Rows in the order of their content; if weights are whole, rows are repeated instead."""
    keys = steady_draws(data.table, 0)
    data = data.take(np.lexsort((*targets_of(data), keys)))
    if data.weight is None or not _are_repeats(data.weights):
        return data
    times = data.weights.astype(np.intp)
    return replace(data.take(np.repeat(np.arange(len(data)), times)), weight=None)


def held_aside(
    data: Rowed, share: float, rng: np.random.Generator, by: Callable[[Table, int], Array] = steady_draws
) -> tuple[Rowed, Rowed | None]:
    """Rows to learn from, and about a share of all held aside, if any; equal rows stay together."""
    if share == 0:
        return data, None
    drawn = by(data.table, int(rng.integers(2**62))) < share
    if drawn.all() or not drawn.any():
        text = f"{len(data)} rows are too few to hold {100 * share:g} % of them aside: all are learned from"
        warnings.warn(text, MlcliWarning, stacklevel=4)
        return data, None
    return data.take(np.flatnonzero(~drawn)), data.take(np.flatnonzero(drawn))


def _are_repeats(weights: Array) -> bool:
    """Whether weights are numbers of repeats: whole, with a mean of at most 20."""
    return bool((weights % 1 == 0).all()) and bool(weights.sum() <= 20 * len(weights))


@dataclass(frozen=True, eq=False)
class Bag:
    """Random samples of rows with or without replacement, each row with a chance in proportion to its weight."""

    ends: Array
    """The cumulative weights."""
    whole: bool
    """Whether weights are numbers of repeats: a bag then has as many draws as their sum, otherwise as rows."""
    share: float = 1.0
    """The number of draws as a share of that."""
    replacement: bool = True

    @staticmethod
    def of(weights: Array, share: float = 1.0, replacement: bool = True) -> Bag:
        """The bag of rows with these weights, which are all above 0."""
        return Bag(np.cumsum(weights), _are_repeats(weights), share, replacement)

    @property
    def unit(self) -> float:
        """The weight of a row that is drawn once."""
        return 1.0 if self.whole else float(self.ends[-1]) / len(self.ends)

    def repeats(self, rng: np.random.Generator) -> Counts:
        """How often each row is in one random bag; 0 is out of the bag."""
        rows, total = len(self.ends), float(self.ends[-1])
        units = int(total) if self.whole else rows
        size = max(1, round(self.share * units))
        if not self.replacement and not self.whole:
            weights = np.diff(self.ends, prepend=0.0)
            return np.bincount(rng.choice(rows, size, replace=False, p=weights / weights.sum()), minlength=rows)
        index: NDArray[Any] = rng.integers(0, units, size) if self.whole else rng.random(size) * total
        if not self.replacement:
            index = rng.permutation(units)[:size]
        if not self.whole or units > rows:
            index = np.minimum(np.searchsorted(self.ends, index, side="right"), rows - 1)
        return np.bincount(index, minlength=rows)


@dataclass(kw_only=True, eq=False)
class RandomByRow(Model, SeesRowNumbers):
    """A baseline that draws its answers by row number, or by cells if rows have no numbers."""

    seed_: int = learned()
    row_numbers: Rows | None = field(init=False, default=None, repr=False, compare=False)

    def for_rows(self, rows: Rows) -> Self:
        """A copy that predicts rows with these numbers."""
        model = copy(self)
        model.row_numbers = rows
        return model

    def draws(self, table: Table) -> Array:
        """A number in [0, 1) for each row."""
        if self.row_numbers is None or len(self.row_numbers) != len(table):
            return draws(table, self.seed_)
        stream = np.random.default_rng(self.seed_).random(int(self.row_numbers.max(initial=0)) + 1)
        return np.asarray(stream[self.row_numbers])
