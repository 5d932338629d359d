"""Random draws that belong to rows, and bags of them: neither order nor a repeat changes what learns from them."""

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
DIGITS, TINY = 1e9, 1e-290
MIXING = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
HALF = np.uint64(1 << 21)
"""Half of the last of the 30 bits of a number that count."""


def draws(table: Table, seed: int) -> Array:
    """A number in [0, 1) for each row, which looks random and depends on nothing but its cells and the seed."""
    return _drawn(table, seed)


def _drawn(table: Table, seed: int, rounded: bool = True) -> Array:
    numbers = np.add(table.numbers.T, 0.0, order="C")  # the two zeros count as one value, and all empty cells do
    numbers[np.isnan(numbers)] = np.nan
    mixed = np.full(len(table), seed, np.uint64)
    words = _rounded(numbers) if rounded else numbers.view(np.uint64)
    for cells in (*words, *table.codes.T.astype(np.uint64)):
        mixed = _scrambled(np.bitwise_xor(mixed, cells, out=mixed))
    return np.asarray((mixed >> np.uint64(11)) * 2.0**-53)


def marks_of(table: Table) -> Array:
    """Two numbers for each row, by which it is known again: by all digits of its cells, and by nine."""
    return np.column_stack([_drawn(table, 0, rounded=False), draws(table, 0)])


def places_of(table: Table, marks: Array, method: str, hint: str) -> Rows:
    """Where each row stands among those that have these marks; others are refused.

    Nine digits count where no row has all: steps in front may round otherwise when they see other rows.
    """
    wanted = marks_of(table)
    if np.array_equal(wanted, marks):
        return np.arange(len(marks))
    same, alike = (_first_of(*pair) for pair in zip(wanted.T, marks.T, strict=True))
    indices = np.where(same < 0, alike, same)
    if (indices < 0).any():
        row = int((indices < 0).argmax()) + 1
        what = f"{method} can only place the rows that it was fitted on; row {row} is none of them"
        raise FitError(what, hint=hint)
    return indices


def _first_of(wanted: Array, marks: Array) -> Rows:
    """The first place at which each wanted mark stands; -1 where it does not."""
    order = np.argsort(marks, kind="stable")
    indices = order[np.minimum(np.searchsorted(marks[order], wanted), len(order) - 1)]
    return np.where(marks[indices] == wanted, indices, -1)


def steady_draws(table: Table, seed: int) -> Array:
    """The same for numbers without gaps that steps have made, whose last digits follow the order of the rows.

    Numbers count to nine digits of the largest of their column: what a step brings to about 0, such as the mean
    that fills an empty cell, has no digits of its own.
    """
    X = table.numbers
    largest = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    scaled = X * (DIGITS / np.maximum(largest, TINY))
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
    """SplitMix64 (Steele, Lea & Flood 2014), in place: every bit changes every other one with probability ½."""
    shifted = np.empty_like(words)
    words += np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in MIXING:
        words ^= np.right_shift(words, shift, out=shifted)
        words *= factor
    words ^= np.right_shift(words, np.uint64(31), out=shifted)
    return words


Counts = NDArray[np.intp]
Rowed = TypeVar("Rowed", bound=RowsOfTable)


def order_of_content(data: RowsOfTable) -> Rows:
    """An order of rows that depends on what is in them alone; it looks random."""
    return np.lexsort((*targets_of(data), draws(data.table, 0)))


def in_content_order(data: Rowed) -> Rowed:
    """The rows that count, in an order that depends on what is in them alone."""
    data = data.counted()
    return data.take(order_of_content(data))


def targets_of(data: RowsOfTable) -> tuple[Array, ...]:
    """What is to be learned of each row, or nothing."""
    return (np.asarray(data.y),) if isinstance(data, SupervisedRows) else ()


def as_repeats(data: Rowed) -> Rowed:
    """Rows in the order of their content, each as often as its weight says where weights are whole."""
    keys = steady_draws(data.table, 0)
    data = data.take(np.lexsort((*targets_of(data), keys)))
    if data.weight is None or not _are_repeats(data.weights):
        return data
    times = data.weights.astype(np.intp)
    return replace(data.take(np.repeat(np.arange(len(data)), times)), weight=None)


def held_aside(
    data: Rowed, share: float, rng: np.random.Generator, by: Callable[[Table, int], Array] = steady_draws
) -> tuple[Rowed, Rowed | None]:
    """Rows to learn from, and about a share of them held aside, if any; equal rows stay together."""
    if share == 0:
        return data, None
    drawn = by(data.table, int(rng.integers(2**62))) < share
    if drawn.all() or not drawn.any():
        text = f"{len(data)} rows are too few to hold {100 * share:g} % of them aside: all are learned from"
        warnings.warn(text, MlcliWarning, stacklevel=4)
        return data, None
    return data.take(np.flatnonzero(~drawn)), data.take(np.flatnonzero(drawn))


def _are_repeats(weights: Array) -> bool:
    # whole weights count as repeats up to this mean; a bag has a draw for each
    return bool((weights % 1 == 0).all()) and bool(weights.sum() <= 20 * len(weights))


@dataclass(frozen=True, eq=False)
class Bag:
    """Rows drawn with or without replacement, each as likely as its weight says."""

    ends: Array
    """The sums of weights up to and with each row."""
    whole: bool
    """Whether weights are numbers of repeats: then a bag has as many draws as they sum to, otherwise as rows."""
    share: float = 1.0
    """How many draws there are, as a share of that."""
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
        """How often each row is drawn for one bag; 0 is out of the bag."""
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
    """A baseline that draws its answers by row number, or by cells where rows have no numbers."""

    seed_: int = learned()
    row_numbers: Rows | None = field(init=False, default=None, repr=False, compare=False)

    def for_rows(self, rows: Rows) -> Self:
        """A copy that knows the numbers of the rows that it is asked about."""
        asked = copy(self)
        asked.row_numbers = rows
        return asked

    def draws(self, table: Table) -> Array:
        """A number in [0, 1) for each row."""
        if self.row_numbers is None or len(self.row_numbers) != len(table):
            return draws(table, self.seed_)
        stream = np.random.default_rng(self.seed_).random(int(self.row_numbers.max(initial=0)) + 1)
        return np.asarray(stream[self.row_numbers])
