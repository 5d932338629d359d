"""Rows as a distance sees them: one line of numbers or codes for each column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.moments import extent
from mlcli.core.tables import Array, Codes, Rows, Table


@dataclass(frozen=True, eq=False)
class Points:
    """``numbers`` is p × n and ``codes`` q × n; the trailing axes broadcast against those of other points."""

    numbers: Array
    codes: Codes

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """The trailing axes: the shape of a distance between these points and themselves."""
        return self.numbers.shape[1:]

    @property
    def columns(self) -> int:
        """How many lines there are."""
        return len(self.numbers) + len(self.codes)

    def take(self, rows: Rows | slice) -> Points:
        """Some of the points."""
        if isinstance(rows, slice):
            return Points(self.numbers[:, rows], self.codes[:, rows])
        return Points(np.take(self.numbers.T, rows, axis=0).T, np.take(self.codes.T, rows, axis=0).T)

    def by_point(self) -> Points:
        """The same points, each in one piece: the fast way to take some."""
        return Points(np.ascontiguousarray(self.numbers.T).T, np.ascontiguousarray(self.codes.T).T)

    def by_column(self) -> Points:
        """The same points, each column in one piece: the fast way through all."""
        return Points(np.ascontiguousarray(self.numbers), np.ascontiguousarray(self.codes))

    def down(self) -> Points:
        """The same points along the first of two axes, to meet others that lie along the second."""
        return Points(self.numbers[:, :, None], self.codes[:, :, None])

    def across(self) -> Points:
        """The same points along the second of two axes."""
        return Points(self.numbers[:, None], self.codes[:, None])


def of_numbers(rows: Array) -> Points:
    """Rows of numbers (n × p) as points."""
    return Points(rows.T, np.empty((0, len(rows)), np.int32))


def raw_points(table: Table, spans: Array) -> Points:
    """Every column as it stands in the table."""
    return Points(table.numbers.T, table.codes.T)


def unit_length_points(table: Table, spans: Array) -> Points:
    """Rows of numbers divided by their length; a row of zeros stays where it is."""
    largest = np.abs(table.numbers).max(axis=1, initial=0.0)[:, None]
    shrunk = np.divide(table.numbers, largest, out=np.zeros_like(table.numbers), where=largest > 0)
    length = np.sqrt((shrunk**2).sum(axis=1))[:, None]
    unit = np.divide(shrunk, length, out=shrunk, where=length > 0)
    return Points(np.ascontiguousarray(unit.T), np.ascontiguousarray(table.codes.T))


def unit_ranges(table: Table) -> Array:
    """Numbers are what they are."""
    return np.ones(table.numbers.shape[1])


def ranges_of(table: Table) -> Array:
    """The range of each number in training rows; 1 where it is constant or unknown."""
    lowest, highest = extent(table.numbers, np.ones(len(table)))
    return np.where(highest > lowest, highest - lowest, 1.0)


def range_scaled_points(table: Table, spans: Array) -> Points:
    """Numbers divided by their range in training, ordinal levels as even ranks from 0 to 1, other codes."""
    ordinal = np.array([column.kind == "ordinal" for column in table.code_columns], dtype=bool)
    steps = np.array([max(len(column.levels) - 1, 1) for column in table.code_columns], dtype=float)
    ranks = np.where(table.codes < 0, np.nan, table.codes / steps)[:, ordinal]
    numbers = np.hstack([table.numbers / spans, ranks])
    return Points(np.ascontiguousarray(numbers.T), np.ascontiguousarray(table.codes[:, ~ordinal].T))


def set_points(table: Table, spans: Array) -> Points:
    """A number or a boolean as being in the set or not, other columns as they are.

    A number is in the set unless it is 0 or missing, a boolean when it has the second of its levels.
    """
    boolean = np.array([column.kind == "boolean" for column in table.code_columns], dtype=bool)
    inside = np.hstack([np.nan_to_num(table.numbers) != 0, table.codes[:, boolean] == 1])
    return Points(np.ascontiguousarray(inside.T.astype(float)), np.ascontiguousarray(table.codes[:, ~boolean].T))
