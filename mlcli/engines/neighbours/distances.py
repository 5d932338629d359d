"""Rows as a distance sees them, screens of all pairs of them, and the distances as a table.

A screen ranks pairs nearly right and says how wrong it may be: it gives a value (b × n) for each pair that grows
with the distance, and for a value the limit that no pair exceeds which is as near, rounding included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.moments import extent
from mlcli.core.tables import Array, Codes, Rows, Table, blocks_of


@dataclass(frozen=True, eq=False)
class PointSet:
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

    def take(self, rows: Rows | slice) -> PointSet:
        """Some of the points."""
        if isinstance(rows, slice):
            return PointSet(self.numbers[:, rows], self.codes[:, rows])
        return PointSet(np.take(self.numbers.T, rows, axis=0).T, np.take(self.codes.T, rows, axis=0).T)

    def by_point(self) -> PointSet:
        """The same points, each in one piece: the fast way to take some."""
        return PointSet(np.ascontiguousarray(self.numbers.T).T, np.ascontiguousarray(self.codes.T).T)

    def by_column(self) -> PointSet:
        """The same points, each column in one piece: the fast way through all."""
        return PointSet(np.ascontiguousarray(self.numbers), np.ascontiguousarray(self.codes))

    def down(self) -> PointSet:
        """The same points along the first of two axes, to meet others that lie along the second."""
        return PointSet(self.numbers[:, :, None], self.codes[:, :, None])

    def across(self) -> PointSet:
        """The same points along the second of two axes."""
        return PointSet(self.numbers[:, None], self.codes[:, None])


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Points, each standing for one row or for several equal ones."""

    points: Array
    first: Rows
    """For each point the place of a row that it stands for."""
    point_of: Rows
    """For each row the place of its point."""
    counts: Rows
    """How many rows each point stands for."""

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
    """Every column as it stands in the table."""
    return PointSet(table.numbers.T, table.codes.T)


def unit_length_points(table: Table, spans: Array) -> PointSet:
    """Rows of numbers divided by their length; a row of zeros stays where it is."""
    largest = np.abs(table.numbers).max(axis=1, initial=0.0)[:, None]
    shrunk = np.divide(table.numbers, largest, out=np.zeros_like(table.numbers), where=largest > 0)
    length = np.sqrt((shrunk**2).sum(axis=1))[:, None]
    unit = np.divide(shrunk, length, out=shrunk, where=length > 0)
    return PointSet(np.ascontiguousarray(unit.T), np.ascontiguousarray(table.codes.T))


def unit_ranges(table: Table) -> Array:
    """Numbers are what they are."""
    return np.ones(table.numbers.shape[1])


def ranges_of(table: Table) -> Array:
    """The range of each number in training rows; 1 where it is constant or unknown."""
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
    """A number or a boolean as being in the set or not, other columns as they are.

    A number is in the set unless it is 0 or missing, a boolean when it has the second of its levels.
    """
    boolean = np.array([column.kind == "boolean" for column in table.code_columns], dtype=bool)
    inside = np.hstack([np.nan_to_num(table.numbers) != 0, table.codes[:, boolean] == 1])
    return PointSet(np.ascontiguousarray(inside.T.astype(float)), np.ascontiguousarray(table.codes[:, ~boolean].T))


Values = np.ndarray[Any, Any]
LimitOf = Callable[[Array], Array]

SAME = 1e-12
"""Distances closer than this, relatively, are the same: what differs is rounding."""
PIECE = 2**17
"""How many cells are prepared at once."""
TILE = 12_000
"""Pairs measured at once: what an allocator hands out again without asking the system for fresh pages."""
FAR_OFF = 1e15
"""A row so many times farther off than any stored one is beyond single precision."""


@dataclass(frozen=True)
class ExactScreen:
    """The distances themselves, tile by tile."""

    between: Callable[[PointSet, PointSet], Array]
    stored: PointSet
    dtype = np.dtype(np.float64)
    fewest_rows = 1

    def into(self, room: Values, queries: PointSet) -> LimitOf:
        """Fill ``room`` with the distances of the query points; the limit is the distance."""
        wide = min(len(self.stored), TILE)
        high = TILE // wide
        for top in range(0, len(queries), high):
            rows, down = slice(top, top + high), queries.take(slice(top, top + high)).down()
            for left in range(0, len(self.stored), wide):
                columns = slice(left, left + wide)
                room[rows, columns] = self.between(down, self.stored.take(columns).across())
        return lambda bound: bound * (1 + 4 * SAME)


@dataclass(frozen=True)
class ProductScreen:
    """One matrix product in single precision: ‖b‖² − 2ab ranks like the distance from a to b.

    Points are moved to ``centre`` and divided by ``scale`` first, which changes no order but keeps the digits.
    """

    stored: Values
    centre: Array
    scale: float
    dtype = np.dtype(np.float32)
    fewest_rows = 64
    """A product of fewer rows is slow."""

    @property
    def rounding(self) -> float:
        """Values of lengths a and b are wrong by this times (a + b)² / 2: four times the usual bound."""
        terms: int = self.stored.shape[1]
        return 4 * (terms + 4) * float(np.finfo(np.float32).eps)

    def into(self, room: Values, queries: PointSet) -> LimitOf:
        """Fill ``room`` with the values of the query points."""
        moved = (queries.numbers.T - self.centre) / self.scale
        beside = np.column_stack([-2 * moved, np.ones(len(moved))]).astype(np.float32)
        np.matmul(beside, self.stored.T, out=room)
        lengths = np.sqrt(_squares(moved))
        return lambda bound: self._limit(bound, lengths)

    def _limit(self, bound: Array, lengths: Array) -> Array:
        """A stored point is no longer than the query plus their distance."""
        apart = np.sqrt(np.maximum(bound + lengths**2, 0.0))
        tiny = float(np.finfo(np.float32).tiny)
        rounded = SAME * np.abs(bound) + (self.rounding + SAME) * (2 * lengths + apart) ** 2 + tiny
        return np.where(lengths < FAR_OFF, bound + rounded, np.inf)


Screen = ExactScreen | ProductScreen


def screen_by_squares(stored: PointSet) -> ProductScreen:
    """Squared distances without the ‖a‖² that all pairs of one query point share."""
    rows, squares = stored.numbers.T, np.empty(len(stored))
    centre = stored.numbers.mean(axis=1)
    pieces = blocks_of(len(rows), len(centre), PIECE)
    for piece in pieces:
        squares[piece] = _squares(rows[piece] - centre)
    scale = float(np.sqrt(squares.max(initial=0.0))) or 1.0
    beside = np.empty((len(rows), len(centre) + 1), np.float32)
    for piece in pieces:
        beside[piece, :-1] = (rows[piece] - centre) / scale
    beside[:, -1] = squares / scale**2
    return ProductScreen(beside, centre, scale)


def screen_by_angle(stored: PointSet) -> ProductScreen:
    """Minus twice the cosine, for points on the unit sphere."""
    unit = stored.numbers.T
    beside = np.column_stack([unit, np.zeros(len(unit))])
    return ProductScreen(beside.astype(np.float32), np.zeros(unit.shape[1]), 1.0)


def _squares(moved: Array) -> Array:
    lengths: Array = np.einsum("ij,ij->i", moved, moved)
    return lengths


def rounded_up(limit: Array, dtype: np.dtype[Any]) -> Values:
    """The limit in the precision of a screen; one that is no number holds nothing back."""
    rounded = np.nextafter(limit.astype(dtype), dtype.type(np.inf))
    return np.asarray(np.where(np.isnan(limit), dtype.type(np.inf), rounded))


def _between(point_set: PointSet, other: PointSet) -> Array:
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
    total = _between(point_set, other)
    for a, b in zip(point_set.numbers, other.numbers, strict=True):
        total += np.abs(a - b)
    return total


def cosine(point_set: PointSet, other: PointSet) -> Array:
    """1 − a·b / (‖a‖‖b‖) of points on the unit sphere; what lies below the 14th decimal is rounding."""
    return np.maximum(np.round(1 - _summed(point_set.numbers, other.numbers), 14), 0.0)


def hamming(point_set: PointSet, other: PointSet) -> Array:
    """The number of columns that differ; a missing cell differs from everything."""
    different = _between(point_set, other)
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
    common, either = _between(point_set, other), _between(point_set, other)
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
    total, known = _between(point_set, other), _between(point_set, other)
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
    """One way to say how far two rows are apart."""

    between: Callable[[PointSet, PointSet], Array]
    """The distance of points whose trailing axes broadcast."""
    points: Callable[[Table, Array], PointSet]
    """How rows are seen, given the ranges of the training numbers."""
    accepts: Accepts
    quick_screen: Callable[[PointSet], Screen] | None = None
    """A cheaper look at all pairs that misses no neighbour, where there is one."""
    has_tree: bool = False
    """Whether a k-d tree measures it."""
    spans: Callable[[Table], Array] = unit_ranges
    """What numbers are divided by, from training rows."""

    def screen(self, stored: PointSet) -> Screen:
        """What finds the points that may be near."""
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
