"""Weighted mean and variance of each column of numbers, with empty cells left out.

In blocks that fit a cache; cells less a row near them, so that squares keep their digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows, blocks_of
from mlcli.core.tolerances import ROUNDING

SIDE_BY_SIDE = 64
"""With so many rows side by side NumPy is several times as fast."""
FEW_ROWS = 256
"""Fewer are not worth laying side by side."""
ROUNDING_OF_SQUARES = 4 * np.finfo(np.float64).eps
FAR = 100.0
"""A row farther than 10 deviations from the mean is a poor one to tell cells from."""
CELLS = 2**16
"""How many cells are gone through at once."""
MANY_GROUPS = 2**15
"""Fewer are sorted by their digits."""


@dataclass(frozen=True, eq=False)
class Moments:
    """One entry per column; a column without cells has weight, mean and variance 0."""

    weight: Array
    mean: Array
    variance: Array


class WeightedMoments(NamedTuple):
    """Weight, mean, and Σ w (x − mean)² of each column (last axis)."""

    weight: Array
    mean: Array
    squares: Array

    def moments(self, ddof: int) -> Moments:
        """The moments; ``ddof`` is taken off the weight that the variance is divided by."""
        return Moments(self.weight, self.mean, quotient(self.squares, self.weight - ddof))

    @classmethod
    def stacked(cls, spreads: Sequence[WeightedMoments]) -> WeightedMoments:
        """Several along one more axis, the first."""
        return cls(*map(np.array, zip(*spreads, strict=True)))

    def of(self, groups: Rows | slice) -> WeightedMoments:
        """Of some of the groups (the first axis)."""
        return WeightedMoments(*(one[groups] for one in self))

    def at(self, columns: Rows | slice) -> WeightedMoments:
        """Of some of the columns."""
        return WeightedMoments(*(one[..., columns] for one in self))

    def together(self, axis: int = 0) -> WeightedMoments:
        """Of several groups along an axis, those of all rows (Chan, Golub & LeVeque 1979)."""
        weight = self.weight.sum(axis=axis)
        mean = quotient((self.weight * self.mean).sum(axis=axis), weight)
        apart = self.mean - np.expand_dims(mean, axis)
        squares = self.squares.sum(axis=axis) + (self.weight * apart**2).sum(axis=axis)
        squares[squares <= weight * (ROUNDING_OF_SQUARES * mean) ** 2] = 0.0
        return WeightedMoments(weight, mean, squares)

    def merged(self, other: WeightedMoments) -> WeightedMoments:
        """The spread of these rows and those."""
        weight = self.weight + other.weight
        share = quotient(other.weight, weight)
        apart = other.mean - self.mean
        squares = self.squares + other.squares + self.weight * share * apart**2
        return WeightedMoments(weight, self.mean + share * apart, squares)


def moments(numbers: Array, weights: Array, ddof: int = 0) -> Moments:
    """The moments of each column; ``ddof`` is taken off the summed weight that the variance is divided by."""
    return _all(numbers, weights).moments(ddof)


def means(numbers: Array, weights: Array) -> Array:
    """The mean of each column alone."""
    return _all(numbers, weights).mean


def spreads(numbers: Array, weights: Array, group: Codes, groups: int) -> WeightedMoments:
    """The spread of each group of rows (groups × columns)."""
    order = np.argsort(group.astype(np.int16) if groups < MANY_GROUPS else group, kind="stable")
    counted = order if (weights > 0).all() else order[weights[order] > 0]
    ends = np.searchsorted(group[counted], np.arange(groups + 1)).tolist()
    return WeightedMoments.stacked(
        [_spread(numbers, weights, counted[start:end]) for start, end in pairwise(ends)]
    )


def _all(numbers: Array, weights: Array) -> WeightedMoments:
    """The spread of all rows that have a weight."""
    return _spread(numbers, weights, slice(None) if (weights > 0).all() else np.flatnonzero(weights > 0))


def _spread(numbers: Array, weights: Array, rows: Rows | slice) -> WeightedMoments:
    """The spread of some rows; where the first is far from the mean, cells are measured from that."""
    weights = weights[rows]
    if not len(weights):
        return WeightedMoments(*np.zeros((3, numbers.shape[1])))
    origin = _first_known(numbers, rows)
    weight, first, second = _sums_about(origin, numbers, weights, rows)
    if (first**2 > FAR * weight * (second - first * quotient(first, weight))).any():
        origin = origin + quotient(first, weight)
        weight, first, second = _sums_about(origin, numbers, weights, rows)
    away = quotient(first, weight)
    mean, squares = np.where(weight > 0, origin + away, 0.0), np.maximum(second - first * away, 0.0)
    squares[squares <= weight * (ROUNDING_OF_SQUARES * mean) ** 2] = 0.0
    return WeightedMoments(weight, mean, squares)


def _first_known(numbers: Array, rows: Rows | slice) -> Array:
    """The first number of each column: a constant one has it as its mean, to the last digit."""
    first = numbers[0 if isinstance(rows, slice) else rows[0]].copy()
    for column in np.flatnonzero(np.isnan(first)):
        cells = numbers[rows, column]
        first[column] = cells[np.isnan(cells).argmin()]
    return _known(first)


def _sums_about(origin: Array, numbers: Array, weights: Array, rows: Rows | slice) -> tuple[Array, Array, Array]:
    """The weight of the cells of some rows, the weighted sums of them less a row, and those of their squares."""
    total, first, second = np.zeros((3, len(origin)))
    for block in blocks_of(len(weights), len(origin), CELLS):
        weight, taken = weights[block], numbers[block if isinstance(rows, slice) else rows[block]]
        cells = less_row(taken, origin, None if isinstance(rows, slice) else taken)
        sums = weight @ cells
        if np.isnan(sums).any():
            gaps = np.isnan(cells)
            cells[gaps] = 0.0
            total -= weight @ gaps
            sums = weight @ cells
        total += weight.sum()
        first += sums
        cells *= cells
        second += weight @ cells
    return total, first, second


def extent(numbers: Array, weights: Array) -> tuple[Array, Array]:
    """The smallest and the largest number of each column; both 0 where there is none."""
    counted = weights > 0
    cells = numbers if counted.all() else numbers[counted]
    if not cells.size:
        return np.zeros(numbers.shape[1]), np.zeros(numbers.shape[1])
    return _known(over_rows(np.fmin, cells)), _known(over_rows(np.fmax, cells))


def _known(row: Array) -> Array:
    """A row with 0 for what it lacks."""
    return np.where(np.isnan(row), 0.0, row)


def less_row(numbers: Array, row: Array, out: Array | None = None) -> Array:
    """Every row less one, many of them side by side."""
    whole, width = len(numbers) - len(numbers) % SIDE_BY_SIDE, SIDE_BY_SIDE * numbers.shape[1]
    if len(numbers) < FEW_ROWS or not (width and numbers.flags.c_contiguous):
        return np.asarray(np.subtract(numbers, row, out=out))
    left = np.empty_like(numbers) if out is None else out
    np.subtract(
        numbers[:whole].reshape(-1, width), np.tile(row, SIDE_BY_SIDE), out=left[:whole].reshape(-1, width)
    )
    np.subtract(numbers[whole:], row, out=left[whole:])
    return left


def from_origin(numbers: Array) -> tuple[Array, Array]:
    """Numbers less one near those of each column, and that; it is 0 where they are near enough to 0."""
    # The median of 99 rows is not moved by a few far-off cells, and costs nothing.
    subset = numbers[:: max(1, -(-len(numbers) // 99))]
    known = ~np.isnan(subset)
    if known.all() and len(subset):
        middle = np.partition(subset, len(subset) // 2, axis=0)[len(subset) // 2]
    else:
        middle = np.array(
            [
                np.median(cells[there]) if there.any() else 0.0
                for cells, there in zip(subset.T, known.T, strict=True)
            ]
        )
    apart = np.where(known, subset - middle, 0.0)
    squares = np.einsum("ij,ij->j", apart, apart) / np.maximum(known.sum(axis=0), 1)
    # A column more than 100 deviations from 0 would lose digits.
    origin = np.where(middle**2 > 100.0**2 * squares, middle, 0.0)
    return (less_row(numbers, origin), origin) if origin.any() else (numbers, origin)


def over_rows(extreme: np.ufunc, numbers: Array) -> Array:
    """The least or the largest of each column, many rows side by side."""
    whole = len(numbers) - len(numbers) % SIDE_BY_SIDE
    if whole:
        folded = extreme.reduce(numbers[:whole].reshape(-1, SIDE_BY_SIDE * numbers.shape[1]), axis=0)
        numbers = np.concatenate([folded.reshape(SIDE_BY_SIDE, -1), numbers[whole:]])
    return np.asarray(extreme.reduce(numbers, axis=0))


def is_constant(low: Array, high: Array) -> Flags:
    """Which columns hold at most one number, give or take the rounding of its last digits."""
    return np.asarray(high - low <= ROUNDING_OF_SQUARES * np.maximum(np.abs(low), np.abs(high)))


def quotient(top: Array, bottom: Array) -> Array:
    """The quotient, 0 where what is divided by is not above 0."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def quantiles(values: Array, weights: Array, shares: Array | float) -> Array:
    """For each share the value with that much of the weight below it; the middle between two of them."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    wanted, last = shares * below[-1], len(values) - 1
    low = np.searchsorted(below, wanted * (1 - ROUNDING), side="left").clip(0, last)
    high = np.searchsorted(below, wanted * (1 + ROUNDING), side="right").clip(0, last)
    low, high = values[order[low]], values[order[high]]
    return np.asarray(low / 2 + high / 2)


def summed_from_the_top(scores: Array | Rows, *weights: Array) -> tuple[Array, list[Array]]:
    """The different scores, the largest first; and of each weighting, the sum of the rows that reach each of them.

    The last axis of a weighting is that of the rows.
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    last_of_equals = np.flatnonzero(np.append(falling[1:] < falling[:-1], True)[: len(falling)])
    sums = [np.cumsum(of_rows[..., order], axis=-1)[..., last_of_equals] for of_rows in weights]
    return np.asarray(falling[last_of_equals]), sums
