"""Weighted mean and variance of each column of numbers, with empty cells left out.

One pass, in blocks that fit a cache: cells are told from a row near them, so that squares keep their digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core.blocks import SIDE_BY_SIDE, row_blocks
from mlcli.core.tables import Array, Codes, Flags, Rows

ROUNDING = 4 * np.finfo(np.float64).eps
FAR = 100.0
"""A row farther than 10 deviations from the mean is a poor one to tell cells from; the mean then is taken."""
MAY_BE_CONSTANT = 1e-9
"""A column that varies by less, as a share of its size, is looked at again: sums round."""


@dataclass(frozen=True, eq=False)
class Moments:
    """One entry per column; a column without cells has weight, mean and variance 0."""

    weight: Array
    mean: Array
    variance: Array


@dataclass(frozen=True, eq=False)
class Spread:
    """Weight, mean, and Σ w (x − mean)² of each column (last axis)."""

    weight: Array
    mean: Array
    squares: Array

    def moments(self, ddof: int) -> Moments:
        """The moments; ``ddof`` is taken off the weight that the variance is divided by."""
        return Moments(self.weight, self.mean, _ratio(self.squares, self.weight - ddof))

    def together(self) -> Spread:
        """Of several groups (the first axis), those of all rows (Chan, Golub & LeVeque 1979)."""
        weight = self.weight.sum(axis=0)
        mean = _ratio((self.weight * self.mean).sum(axis=0), weight)
        squares = self.squares.sum(axis=0) + (self.weight * (self.mean - mean) ** 2).sum(axis=0)
        squares[squares <= weight * (ROUNDING * mean) ** 2] = 0.0
        return Spread(weight, mean, squares)


def moments(numbers: Array, weights: Array, ddof: int = 0) -> Moments:
    """The moments of each column; ``ddof`` is taken off the summed weight that the variance is divided by."""
    return _spread(numbers, weights, _weighty(weights)).moments(ddof)


def means(numbers: Array, weights: Array) -> Array:
    """The mean of each column alone."""
    return _spread(numbers, weights, _weighty(weights)).mean


def spreads(numbers: Array, weights: Array, group: Codes, groups: int) -> Spread:
    """The spread of each group of rows (groups × columns)."""
    counted = weights > 0
    found = [_spread(numbers, weights, np.flatnonzero((group == k) & counted)) for k in range(groups)]
    return Spread(*(np.array([getattr(one, name) for one in found]) for name in ("weight", "mean", "squares")))


def _weighty(weights: Array) -> Rows | None:
    """The rows that count; None for all."""
    counted = weights > 0
    return None if counted.all() else np.flatnonzero(counted)


def _spread(numbers: Array, weights: Array, rows: Rows | None) -> Spread:
    """What is true of some rows, all of which have a weight."""
    columns = numbers.shape[1]
    if not (len(numbers) if rows is None else len(rows)):
        return Spread(*np.zeros((3, columns)))
    near = np.nan_to_num(numbers[0 if rows is None else rows[0]])
    weight, first, second = _sums(numbers, weights, rows, near)
    mean, squares = _told_from(near, weight, first, second)
    flat = squares <= weight * (MAY_BE_CONSTANT * mean) ** 2
    if flat.any():
        _settle_constant(flat, mean, squares, numbers, weights, rows)
    if (first**2 > FAR * weight * squares)[squares > 0].any():
        weight, first, second = _sums(numbers, weights, rows, mean)
        constant = squares == 0
        mean, squares = _told_from(mean, weight, first, second)
        squares[constant] = 0.0
    return Spread(weight, mean, squares)


def _told_from(near: Array, weight: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Means and squares about them, by sums of cells told from a row near them."""
    away = _ratio(first, weight)
    return np.where(weight > 0, near + away, 0.0), np.maximum(second - first * away, 0.0)


def _sums(numbers: Array, weights: Array, rows: Rows | None, near: Array) -> tuple[Array, Array, Array]:
    """The weight of the cells, and the weighted sums of them told from a row, and of their squares."""
    first, second, lacking = np.zeros((3, numbers.shape[1]))
    total = 0.0
    for block, weight in _blocks(numbers, weights, rows):
        total += float(weight.sum())
        cells = block - near
        sums = weight @ cells
        if np.isnan(sums).any():
            gaps = np.isnan(cells)
            cells[gaps] = 0.0
            lacking += weight @ gaps
            sums = weight @ cells
        first += sums
        cells *= cells
        second += weight @ cells
    return total - lacking, first, second


def _blocks(numbers: Array, weights: Array, rows: Rows | None) -> Iterator[tuple[Array, Array]]:
    for block in row_blocks(len(numbers) if rows is None else len(rows), numbers.shape[1]):
        some = block if rows is None else rows[block]
        yield numbers[some], weights[some]


def _settle_constant(
    flat: Flags, mean: Array, squares: Array, numbers: Array, weights: Array, rows: Rows | None
) -> None:
    """Sums round: seven times 0.1 has a mean beside 0.1 and squares above 0. Put what is true in their place."""
    some = numbers[:, flat] if rows is None else numbers[np.ix_(rows, np.flatnonzero(flat))]
    low, high = extent(some, np.ones(len(some)))
    still = is_constant(low, high)
    constant = np.flatnonzero(flat)[still]
    mean[constant], squares[constant] = low[still], 0.0


def extent(numbers: Array, weights: Array) -> tuple[Array, Array]:
    """The smallest and the largest number of each column; both 0 where there is none."""
    counted = weights > 0
    some = numbers if counted.all() else numbers[counted]
    if not some.size:
        return np.zeros(numbers.shape[1]), np.zeros(numbers.shape[1])
    low, high = over_rows(np.fmin, some), over_rows(np.fmax, some)
    return np.nan_to_num(low), np.nan_to_num(high)


def over_rows(extreme: np.ufunc, numbers: Array) -> Array:
    """The least or the largest of each column; with many rows side by side NumPy is several times as fast."""
    whole = len(numbers) - len(numbers) % SIDE_BY_SIDE
    if whole:
        folded = extreme.reduce(numbers[:whole].reshape(-1, SIDE_BY_SIDE * numbers.shape[1]), axis=0)
        numbers = np.concatenate([folded.reshape(SIDE_BY_SIDE, -1), numbers[whole:]])
    return np.asarray(extreme.reduce(numbers, axis=0))


def is_constant(low: Array, high: Array) -> Flags:
    """Which columns hold at most one number, give or take the rounding of its last digits."""
    return np.asarray(high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def _ratio(sums: Array, weight: Array) -> Array:
    return np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
