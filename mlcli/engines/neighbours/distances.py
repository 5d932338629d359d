"""Distances: how each one sees rows as points, measures pairs of points, and screens all pairs quickly.

A screen computes a value for each pair of query and stored points (b × n) that grows with the distance. It may
round; for a value it gives the limit that no pair exceeds which is as near. Pairs up to the limit are then
measured exactly, so a screen misses no neighbour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.moments import extent
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table, blocks_of


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points as ``numbers`` (p × n) and ``codes`` (q × n); the trailing axes broadcast against other points."""

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
        """The number of columns."""
        return len(self.numbers) + len(self.codes)

    def take(self, rows: Rows | slice) -> PointSet:
        """Some of the points."""
        if isinstance(rows, slice):
            return PointSet(self.numbers[:, rows], self.codes[:, rows])
        return PointSet(np.take(self.numbers.T, rows, axis=0).T, np.take(self.codes.T, rows, axis=0).T)

    def by_point(self) -> PointSet:
        """The same points with each point contiguous in memory: the fast way to take some."""
        return PointSet(np.ascontiguousarray(self.numbers.T).T, np.ascontiguousarray(self.codes.T).T)

    def by_column(self) -> PointSet:
        """The same points with each column contiguous in memory: the fast way through all."""
        return PointSet(np.ascontiguousarray(self.numbers), np.ascontiguousarray(self.codes))

    def down(self) -> PointSet:
        """The same points along the first of two axes, to meet others that lie along the second."""
        return PointSet(self.numbers[:, :, None], self.codes[:, :, None])

    def across(self) -> PointSet:
        """The same points along the second of two axes."""
        return PointSet(self.numbers[:, None], self.codes[:, None])


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of a matrix; equal rows are one point."""

    points: Array
    first: Rows
    """For each point the index of a row that it stands for."""
    point_of: Rows
    """For each row the index of its point."""
    counts: Rows
    """The number of rows that each point stands for."""

    @classmethod
    def of(cls, rows: Array) -> DistinctRows:
        """The distinct rows, compared by their bytes."""
        in_bytes = np.ascontiguousarray(rows).view(f"V{rows.itemsize * rows.shape[1]}").ravel()
        _, first, point_of, counts = np.unique(
            in_bytes, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(rows[first], first, point_of, counts)


def of_numbers(rows: Array) -> PointSet:
    """Rows of numbers (n × p) as points."""
    return PointSet(rows.T, np.empty((0, len(rows)), np.int32))


def raw_points(table: Table, spans: Array) -> PointSet:
    """Every column as it is in the table."""
    return PointSet(table.numbers.T, table.codes.T)


def unit_length_points(table: Table, spans: Array) -> PointSet:
    """Rows of numbers divided by their length; a row of zeros stays where it is."""
    largest = np.abs(table.numbers).max(axis=1, initial=0.0)[:, None]
    scaled = np.divide(table.numbers, largest, out=np.zeros_like(table.numbers), where=largest > 0)
    length = np.sqrt((scaled**2).sum(axis=1))[:, None]
    unit = np.divide(scaled, length, out=scaled, where=length > 0)
    return PointSet(np.ascontiguousarray(unit.T), np.ascontiguousarray(table.codes.T))


def unit_ranges(table: Table) -> Array:
    """Numbers are not scaled."""
    return np.ones(table.numbers.shape[1])


def ranges_of(table: Table) -> Array:
    """The range of each number column in training rows; 1 if it is constant or unknown."""
    lowest, highest = extent(table.numbers, np.ones(len(table)))
    return np.where(highest > lowest, highest - lowest, 1.0)


def range_scaled_points(table: Table, spans: Array) -> PointSet:
    """Numbers divided by their range in training, ordinal levels as even ranks from 0 to 1, other codes."""
    ordinal = np.array([column.kind == "ordinal" for column in table.code_columns], dtype=bool)
    steps = np.array([max(len(column.levels) - 1, 1) for column in table.code_columns], dtype=float)
    ranks = np.where(table.codes < 0, np.nan, table.codes / steps)[:, ordinal]
    numbers = np.hstack([table.numbers / spans, ranks])
    return PointSet(np.ascontiguousarray(numbers.T), np.ascontiguousarray(table.codes[:, ~ordinal].T))


def set_points(table: Table, spans: Array) -> PointSet:
    """A row as a set: a number is in it unless it is 0 or missing, a boolean if it has its second level.

    Other columns stay codes.
    """
    boolean = np.array([column.kind == "boolean" for column in table.code_columns], dtype=bool)
    inside = np.hstack([np.nan_to_num(table.numbers) != 0, table.codes[:, boolean] == 1])
    return PointSet(np.ascontiguousarray(inside.T.astype(float)), np.ascontiguousarray(table.codes[:, ~boolean].T))


Values = NDArray[np.floating[Any]]
LimitOf = Callable[[Array], Array]

SAME = 1e-12
"""Distances closer than this, relatively, are equal but for rounding."""
TILE = 12_000
"""The pairs measured at once, for which an allocator reuses memory without asking the system for fresh pages."""


@dataclass(frozen=True)
class ExactScreen:
    """The distances themselves, tile by tile."""

    between: Callable[[PointSet, PointSet], Array]
    stored: PointSet
    dtype = np.dtype(np.float64)
    fewest_rows = 1

    def into(self, room: Values, queries: PointSet) -> LimitOf:
        """Fill ``room`` with the distances of the query points; the limit is the distance."""
        width = min(len(self.stored), TILE)
        height = TILE // width
        for top in range(0, len(queries), height):
            rows, down = slice(top, top + height), queries.take(slice(top, top + height)).down()
            for left in range(0, len(self.stored), width):
                columns = slice(left, left + width)
                room[rows, columns] = self.between(down, self.stored.take(columns).across())
        return lambda bound: bound * (1 + 4 * SAME)


@dataclass(frozen=True)
class ProductScreen:
    """One matrix product in single precision: ‖b‖² − 2ab has the order of the distances from a to all b.

    Points are centred and divided by ``scale`` first, which changes no order but keeps digits.
    """

    stored: Values
    centre: Array
    scale: float
    dtype = np.dtype(np.float32)
    fewest_rows = 64
    """A product of fewer rows is slow."""

    def into(self, room: Values, queries: PointSet) -> LimitOf:
        """Fill ``room`` with the values of the query points."""
        scaled = (queries.numbers.T - self.centre) / self.scale
        factors = np.column_stack([-2 * scaled, np.ones(len(scaled))]).astype(np.float32)
        np.matmul(factors, self.stored.T, out=room)
        lengths, single = np.sqrt(_squares(scaled)), np.finfo(np.float32)
        # Values of lengths a and b are wrong by this times (a + b)² / 2: four times the usual bound.
        rounding = 4 * (self.stored.shape[1] + 4) * float(single.eps)

        def limit(bound: Array) -> Array:
            distance = np.sqrt(np.maximum(bound + lengths**2, 0.0))  # no stored point is longer than a + this
            error = SAME * np.abs(bound) + (rounding + SAME) * (2 * lengths + distance) ** 2 + float(single.tiny)
            return np.where(lengths < 1e15, bound + error, np.inf)  # longer ones are beyond single precision

        return limit


Screen = ExactScreen | ProductScreen


def screen_by_squares(stored: PointSet) -> ProductScreen:
    """A screen by squared distances, without the ‖a‖² that all pairs of one query point share."""
    rows, squares = stored.numbers.T, np.empty(len(stored))
    centre = stored.numbers.mean(axis=1)
    blocks = blocks_of(len(rows), len(centre), 2**17)  # cells at a time, for the cache
    for block in blocks:
        squares[block] = _squares(rows[block] - centre)
    scale = float(np.sqrt(squares.max(initial=0.0))) or 1.0
    factors = np.empty((len(rows), len(centre) + 1), np.float32)
    for block in blocks:
        factors[block, :-1] = (rows[block] - centre) / scale
    factors[:, -1] = squares / scale**2
    return ProductScreen(factors, centre, scale)


def screen_by_angle(stored: PointSet) -> ProductScreen:
    """A screen by minus twice the cosine, for points on the unit sphere."""
    unit = stored.numbers.T
    factors = np.column_stack([unit, np.zeros(len(unit))])
    return ProductScreen(factors.astype(np.float32), np.zeros(unit.shape[1]), 1.0)


def _squares(rows: Array) -> Array:
    """The sum of squares of each row."""
    squares: Array = np.einsum("ij,ij->i", rows, rows)
    return squares


def rounded_up(limit: Array, dtype: np.dtype[Any]) -> Values:
    """The limit in the precision of a screen; NaN becomes infinite."""
    rounded = np.nextafter(limit.astype(dtype), dtype.type(np.inf))
    return np.asarray(np.where(np.isnan(limit), dtype.type(np.inf), rounded))


def _zeros(point_set: PointSet, other: PointSet) -> Array:
    """A zero for each pair."""
    return np.zeros(np.broadcast_shapes(point_set.shape, other.shape))


def _summed(values: Array, other: Array) -> Array:
    """The products of two blocks of numbers, summed over columns."""
    return np.asarray(np.einsum("j...,j...->...", values, other))


def euclidean(point_set: PointSet, other: PointSet) -> Array:
    """√ Σ (a_j − b_j)²."""
    steps = point_set.numbers - other.numbers
    return np.sqrt(_summed(steps, steps))


def manhattan(point_set: PointSet, other: PointSet) -> Array:
    """Σ |a_j − b_j|."""
    total = _zeros(point_set, other)
    for a, b in zip(point_set.numbers, other.numbers, strict=True):
        total += np.abs(a - b)
    return total


def cosine(point_set: PointSet, other: PointSet) -> Array:
    """1 − a·b / (‖a‖‖b‖) of points on the unit sphere; what lies below the 14th decimal is rounding."""
    return np.maximum(np.round(1 - _summed(point_set.numbers, other.numbers), 14), 0.0)


def hamming(point_set: PointSet, other: PointSet) -> Array:
    """The number of columns that differ; a missing cell differs from everything."""
    different = _zeros(point_set, other)
    for a, b in zip(point_set.numbers, other.numbers, strict=True):
        different += ~(a == b)
    for c, d in zip(point_set.codes, other.codes, strict=True):
        different += (c != d) | (c < 0)
    return different


def simple_matching(point_set: PointSet, other: PointSet) -> Array:
    """1 − matching columns / columns."""
    return hamming(point_set, other) / max(len(point_set.numbers) + len(point_set.codes), 1)


def jaccard(point_set: PointSet, other: PointSet) -> Array:
    """1 − |A ∩ B| / |A ∪ B| of the sets of things present; two empty sets are equal."""
    common, either = _zeros(point_set, other), _zeros(point_set, other)
    for a, b in zip(point_set.numbers, other.numbers, strict=True):
        common += a * b
        either += np.maximum(a, b)
    for c, d in zip(point_set.codes, other.codes, strict=True):
        equal = (c == d) & (c >= 0)
        common += equal
        either += (c >= 0) * 1.0 + (d >= 0) - equal
    return 1 - np.divide(common, either, out=np.ones_like(common), where=either > 0)


def mixed(point_set: PointSet, other: PointSet) -> Array:
    """The mean over columns known in both rows (Gower): |a − b| of scaled numbers, 0 or 1 for levels."""
    total, known = _zeros(point_set, other), _zeros(point_set, other)
    for a, b in zip(point_set.numbers, other.numbers, strict=True):
        apart = np.abs(a - b)
        both = ~np.isnan(apart)
        total += np.where(both, apart, 0.0)
        known += both
    for c, d in zip(point_set.codes, other.codes, strict=True):
        both = (c >= 0) & (d >= 0)
        total += both & (c != d)
        known += both
    return np.divide(total, known, out=np.ones_like(total), where=known > 0)


@dataclass(frozen=True)
class Distance:
    """A distance between rows."""

    between: Callable[[PointSet, PointSet], Array]
    """The distance of points whose trailing axes broadcast."""
    points: Callable[[Table, Array], PointSet]
    """From a table, and the ranges of the training numbers, its rows as points."""
    accepts: Accepts
    quick_screen: Callable[[PointSet], Screen] | None = None
    """A quicker screen than measuring all pairs, if there is one."""
    has_tree: bool = False
    """Whether a k-d tree measures it."""
    spans: Callable[[Table], Array] = unit_ranges
    """From training rows, what numbers are divided by."""

    def screen(self, stored: PointSet) -> Screen:
        """The screen of all pairs with stored points."""
        return self.quick_screen(stored) if self.quick_screen else ExactScreen(self.between, stored.by_column())


NUMBERS = Accepts(weights=True, prefers_scaled=True)
ANYTHING = Accepts(nominal=True, missing=True, weights=True)

DISTANCES = {
    "euclidean": Distance(euclidean, raw_points, NUMBERS, screen_by_squares, has_tree=True),
    "manhattan": Distance(manhattan, raw_points, NUMBERS),
    "cosine": Distance(cosine, unit_length_points, NUMBERS, screen_by_angle),
    "hamming": Distance(hamming, raw_points, ANYTHING),
    "simple-matching": Distance(simple_matching, raw_points, ANYTHING),
    "jaccard": Distance(jaccard, set_points, ANYTHING),
    "mixed": Distance(mixed, range_scaled_points, ANYTHING, spans=ranges_of),
}
