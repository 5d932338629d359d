"""The cells of a table as numbers that are the same in every split: numbers, indicators of levels and of gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.moments import Spread, less_row, quotient, spreads
from mlcli.core.rooms import Room, filled
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Rows, Table

NONE = -1
LOOKED_AT = 99
"""The median of so many rows is not moved by a few far-off cells, and costs nothing."""
FAR = 100.0
"""A column farther from 0 than so many deviations is measured from a place near it, to keep its digits."""


@dataclass(frozen=True, eq=False)
class ColumnEntries:
    """The entries of a column: one, or one for each level; and the one that is 1 where its cell is empty."""

    column: Column
    entries: Rows
    gap: int = NONE
    empty: bool = False
    """Whether some cell is."""


def entries_of(places: Iterable[ColumnEntries]) -> Rows:
    """The entries of some columns, in their order."""
    return np.concatenate([np.empty(0, np.intp), *(place.entries for place in places)]).astype(np.intp)


@dataclass(frozen=True, eq=False)
class Entries:
    """Each row as a line of entries: its numbers (NaN in a gap), then indicators of its levels, then of its gaps.

    The indicators of levels are NaN where the cell is empty.
    """

    table: Table
    weights: Array
    numbers: Array
    """The numbers less ``origin``; the last one is the target, if there is one."""
    origin: Array

    @classmethod
    def of(cls, table: Table, weights: Array, target: Array | None = None) -> Entries:
        """The entries of rows."""
        numbers = table.numbers if target is None else _beside(table.numbers, target)
        return cls(table, weights, *from_origin(numbers))

    @cached_property
    def places(self) -> tuple[ColumnEntries, ...]:
        """The columns of the table, and their entries."""
        return tuple(self._places())

    def _places(self) -> Iterator[ColumnEntries]:
        entries, gap = np.arange(self.first_gap), self.first_gap
        number, level = 0, self.numbers.shape[1]
        empty_numbers, empty_codes = iter(_any_empty(self.numbers)), iter(_any_empty(self.table.codes))
        for column in self.table.columns:
            if column.coded:
                empty, start, level = next(empty_codes), level, level + len(column.levels)
                here = entries[start:level]
            else:
                empty, here, number = next(empty_numbers), entries[number : number + 1], number + 1
            may_be = empty or column.missing
            yield ColumnEntries(column, here, gap if may_be else NONE, empty)
            gap += may_be

    @cached_property
    def first_gap(self) -> int:
        """How many entries are numbers or levels."""
        return int(self.numbers.shape[1]) + sum(len(column.levels) for column in self.table.code_columns)

    @cached_property
    def width(self) -> int:
        """How many entries a row has."""
        return self.first_gap + sum(place.gap != NONE for place in self.places)

    def origin_of(self, entries: Rows) -> Array:
        """What entries are measured from."""
        return np.append(self.origin, np.zeros(self.width - len(self.origin)))[entries]

    def rows(self, rows: Rows | slice) -> Array:
        """The entries of some rows."""
        numbers, codes = self.numbers[rows], iter(self.table.codes[rows].T)
        if self.width == numbers.shape[1]:
            return numbers
        found = np.empty((len(numbers), self.width))
        found[:, : numbers.shape[1]] = numbers
        for place in self.places:
            cells = next(codes) if place.column.coded else numbers[:, place.entries[0]]
            empty = _is_empty(cells)
            if place.column.coded:
                indicators = cells[:, None] == np.arange(len(place.entries))
                found[:, place.entries] = np.where(empty[:, None], np.nan, indicators)
            if place.gap != NONE:
                found[:, place.gap] = empty
        return found

    def spreads(self, group: Rows, groups: int) -> Spread:
        """Weight, mean and squares (groups × entries) of what is not empty, in each group of rows."""
        numbers = spreads(self.numbers, self.weights, group.astype(np.int32), groups)
        beside = ((0, 0), (0, self.width - self.numbers.shape[1]))
        weight, mean, squares = (np.pad(one, beside) for one in (numbers.weight, numbers.mean, numbers.squares))
        total, coded = np.bincount(group, self.weights, groups), iter(self.table.codes.T)
        for place in self.places:
            if place.column.coded:
                counts = _counts(next(coded), len(place.entries), self.weights, group, groups)
                weight[:, place.entries], mean[:, place.entries] = counts.sum(axis=1, keepdims=True), counts
            if place.gap != NONE:
                known = weight[:, place.entries[:1]].sum(axis=1)
                weight[:, place.gap], mean[:, place.gap] = total, np.maximum(total - known, 0.0)
        return with_shares(Spread(weight, mean, squares), self.numbers.shape[1])


def _beside(numbers: Array, target: Array) -> Array:
    """Numbers with one more column, the last."""
    rows, columns = numbers.shape
    return filled((rows, columns + 1), np.float64, lambda some: np.column_stack([numbers[some], target[some]]))


def with_shares(spread: Spread, first: int) -> Spread:
    """The same, where the means of indicators, from the first on, have been given as counts."""
    weight, counts = spread.weight[..., first:], spread.mean[..., first:]
    share = quotient(counts, weight)
    mean, squares = spread.mean.copy(), spread.squares.copy()
    mean[..., first:], squares[..., first:] = share, counts * (1 - share)
    return Spread(spread.weight, mean, squares)


def from_origin(numbers: Array) -> tuple[Array, Array]:
    """Numbers less one near those of each column, and that; it is 0 where they are near enough to 0."""
    some = numbers[:: max(1, -(-len(numbers) // LOOKED_AT))]
    known = ~np.isnan(some)
    if known.all() and len(some):
        middle = np.partition(some, len(some) // 2, axis=0)[len(some) // 2]
    else:
        middle = np.array(
            [np.median(cells[there]) if there.any() else 0.0 for cells, there in zip(some.T, known.T, strict=True)]
        )
    apart = np.where(known, some - middle, 0.0)
    squares = np.einsum("ij,ij->j", apart, apart) / np.maximum(known.sum(axis=0), 1)
    origin = np.where(middle**2 > FAR**2 * squares, middle, 0.0)
    if not origin.any():
        return numbers, origin
    return less_row(numbers, origin, Room(*numbers.shape).cells), origin


def _counts(codes: NDArray[Any], levels: int, weights: Array, group: Rows, groups: int) -> Array:
    """The weight of each level in each group."""
    known = codes >= 0
    cells = group[known] * levels + codes[known]
    return np.bincount(cells, weights[known], groups * levels).reshape(groups, levels).astype(np.float64)


def _any_empty(cells: NDArray[Any]) -> list[bool]:
    """Whether some cell of each column is empty."""
    return list(map(bool, np.atleast_1d(_is_empty(cells).any(axis=0))))


def _is_empty(cells: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(cells) if cells.dtype == np.float64 else np.asarray(cells < 0)
