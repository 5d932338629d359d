"""Weighted mean and variance of each column of numbers, with empty cells left out.

One pass, in blocks that fit a cache: cells are told from a row near them, so that squares keep their digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mlcli.core.blocks import SIDE_BY_SIDE, less_row, row_blocks
from mlcli.core.tables import Array, Codes, Flags, Rows

ROUNDING = 4 * np.finfo(np.float64).eps
FAR = 100.0
"""A row farther than 10 deviations from the mean is a poor one to tell cells from; the mean then is taken."""
CELLS = 2**16
"""How many cells are gone through at once."""
MANY_GROUPS = 2**15
"""Fewer are sorted by their digits."""
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

    @classmethod
    def stacked(cls, spreads: Sequence[Spread]) -> Spread:
        """Several along one more axis, the first."""
        weight, mean, squares = zip(*((one.weight, one.mean, one.squares) for one in spreads), strict=True)
        return cls(np.array(weight), np.array(mean), np.array(squares))

    def of(self, groups: Rows | slice) -> Spread:
        """Of some of the groups (the first axis)."""
        return Spread(self.weight[groups], self.mean[groups], self.squares[groups])

    def at(self, columns: Rows | slice) -> Spread:
        """Of some of the columns."""
        return Spread(self.weight[..., columns], self.mean[..., columns], self.squares[..., columns])

    def together(self, axis: int = 0) -> Spread:
        """Of several groups along an axis, those of all rows (Chan, Golub & LeVeque 1979)."""
        weight = self.weight.sum(axis=axis)
        mean = _ratio((self.weight * self.mean).sum(axis=axis), weight)
        apart = self.mean - np.expand_dims(mean, axis)
        squares = self.squares.sum(axis=axis) + (self.weight * apart**2).sum(axis=axis)
        squares[squares <= weight * (ROUNDING * mean) ** 2] = 0.0
        return Spread(weight, mean, squares)

    def merged(self, other: Spread) -> Spread:
        """The spread of these rows and those."""
        weight = self.weight + other.weight
        share = _ratio(other.weight, weight)
        apart = other.mean - self.mean
        squares = self.squares + other.squares + self.weight * share * apart**2
        return Spread(weight, self.mean + share * apart, squares)


def moments(numbers: Array, weights: Array, ddof: int = 0) -> Moments:
    """The moments of each column; ``ddof`` is taken off the summed weight that the variance is divided by."""
    return _spread(numbers, weights).moments(ddof)


def means(numbers: Array, weights: Array) -> Array:
    """The mean of each column alone."""
    return _spread(numbers, weights).mean


def spreads(numbers: Array, weights: Array, group: Codes, groups: int) -> Spread:
    """The spread of each group of rows (groups × columns)."""
    counted = weights > 0
    group = group if counted.all() else np.where(counted, group, -1)
    return _of_sets(numbers, weights, list(_rows_of(group, groups)))


def _rows_of(group: Codes, groups: int) -> Iterator[Rows]:
    """The rows of each group, in order."""
    order = np.argsort(group.astype(np.int16) if groups < MANY_GROUPS else group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(groups + 1)).tolist()
    return (order[start:end] for start, end in pairwise(ends))


def _spread(numbers: Array, weights: Array) -> Spread:
    """The spread of all rows that have a weight."""
    counted = weights > 0
    found = _of_sets(numbers, weights, [None if counted.all() else np.flatnonzero(counted)])
    return Spread(found.weight[0], found.mean[0], found.squares[0])


def _of_sets(numbers: Array, weights: Array, sets: Sequence[Rows | None]) -> Spread:
    """The spread of each set of rows, all of which have a weight; None is all rows."""
    room, near = room_for(numbers), np.zeros((len(sets), numbers.shape[1]))
    weight, first, second = np.zeros((3, *near.shape))
    for k, rows in enumerate(sets):
        if len(numbers if rows is None else rows):
            near[k] = _known(numbers[0 if rows is None else rows[0]])
            weight[k], first[k], second[k] = _sums(numbers, weights, rows, near[k], room)
    mean, squares = _told_from(near, weight, first, second)
    flat = (squares <= weight * (MAY_BE_CONSTANT * mean) ** 2) & (second > 0)
    for k in np.flatnonzero(flat.any(axis=1)).tolist():
        _settle_constant(flat[k], mean[k], squares[k], numbers, weights, sets[k])
    far = ((first**2 > FAR * weight * squares) & (squares > 0)).any(axis=1)
    for k in np.flatnonzero(far).tolist():
        again = _sums(numbers, weights, sets[k], mean[k], room)
        constant = squares[k] == 0
        mean[k], squares[k] = _told_from(mean[k], *again)
        squares[k, constant] = 0.0
    return Spread(weight, mean, squares)


def _told_from(near: Array, weight: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """Means and squares about them, by sums of cells told from a row near them."""
    away = _ratio(first, weight)
    return np.where(weight > 0, near + away, 0.0), np.maximum(second - first * away, 0.0)


def _sums(
    numbers: Array, weights: Array, rows: Rows | None, near: Array, room: Array
) -> tuple[Array, Array, Array]:
    """The weight of the cells, and the weighted sums of them told from a row, and of their squares."""
    first, second, missing = np.zeros((3, numbers.shape[1]))
    total = 0.0
    for cells, weight in told(numbers, weights, rows, near, room):
        total += float(weight.sum())
        sums = weight @ cells
        if np.isnan(sums).any():
            gaps = np.isnan(cells)
            cells[gaps] = 0.0
            missing += weight @ gaps
            sums = weight @ cells
        first += sums
        cells *= cells
        second += weight @ cells
    return total - missing, first, second


def room_for(numbers: Array) -> Array:
    """Room for a block of rows: fresh pages cost more than what is done to them."""
    return np.empty(numbers[next(row_blocks(max(len(numbers), 1), numbers.shape[1], CELLS))].shape)


def told(
    numbers: Array, weights: Array, rows: Rows | None, near: Array, room: Array
) -> Iterator[tuple[Array, Array]]:
    """Block by block, cells told from a row, in the same room, and the weights of their rows."""
    for block in row_blocks(len(numbers) if rows is None else len(rows), numbers.shape[1], CELLS):
        if rows is None:
            weight = weights[block]
            yield less_row(numbers[block], near, room[: len(weight)]), weight
        else:
            weight = weights[rows[block]]
            taken = np.take(numbers, rows[block], axis=0, out=room[: len(weight)], mode="clip")
            yield less_row(taken, near, taken), weight


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
    return _known(low), _known(high)


def _known(row: Array) -> Array:
    """A row with 0 for what it lacks."""
    return np.where(np.isnan(row), 0.0, row)


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
