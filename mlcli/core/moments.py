"""Weighted statistics of columns: means and variances, extremes, quantiles, entropy.

Empty cells are left out. Sums go in blocks that fit a cache, over cells less a row near them, so that squares
keep their digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Codes, Flags, Rows, blocks_of
from mlcli.core.tolerances import ROUNDING

SIDE_BY_SIDE = 64
"""NumPy is several times as fast on so many short rows laid side by side."""
ROUNDING_OF_SQUARES = 4 * np.finfo(np.float64).eps


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

    def together(self) -> WeightedMoments:
        """Those of all rows, from those of several groups (first axis; Chan, Golub & LeVeque 1979)."""
        weight = self.weight.sum(axis=0)
        mean = quotient((self.weight * self.mean).sum(axis=0), weight)
        squares = self.squares.sum(axis=0) + (self.weight * (self.mean - mean) ** 2).sum(axis=0)
        return WeightedMoments(weight, mean, _without_rounding(squares, weight, mean))


def moments(numbers: Array, weights: Array, ddof: int = 0) -> Moments:
    """The moments of each column; ``ddof`` is taken off the summed weight that the variance is divided by."""
    return _of_rows(numbers, weights, _weighted_rows(weights)).moments(ddof)


def means(numbers: Array, weights: Array) -> Array:
    """The mean of each column alone."""
    return _of_rows(numbers, weights, _weighted_rows(weights)).mean


def spreads(numbers: Array, weights: Array, group: Codes, groups: int) -> WeightedMoments:
    """The moments of each group of rows (groups × columns)."""
    # NumPy sorts 16-bit integers by their digits, which is faster
    order = np.argsort(group.astype(np.int16) if groups < 2**15 else group, kind="stable")
    rows = order if (weights > 0).all() else order[weights[order] > 0]
    ends = np.searchsorted(group[rows], np.arange(groups + 1)).tolist()
    parts = [_of_rows(numbers, weights, rows[start:end]) for start, end in pairwise(ends)]
    return WeightedMoments(*map(np.array, zip(*parts, strict=True)))


def _weighted_rows(weights: Array) -> Rows | slice:
    return slice(None) if (weights > 0).all() else np.flatnonzero(weights > 0)


def _of_rows(numbers: Array, weights: Array, rows: Rows | slice) -> WeightedMoments:
    """The moments of some rows."""
    weights = weights[rows]
    if not len(weights):
        return WeightedMoments(*np.zeros((3, numbers.shape[1])))
    # Cells are measured from the first number of each column: a constant column has it as its exact mean.
    origin = numbers[0 if isinstance(rows, slice) else rows[0]].copy()
    for column in np.flatnonzero(np.isnan(origin)):
        cells = numbers[rows, column]
        origin[column] = cells[np.isnan(cells).argmin()]
    origin = _zero_for_nan(origin)
    weight, first, second = _sums_about(origin, numbers, weights, rows)
    # A first number more than 10 deviations from the mean costs digits: measure from the mean instead.
    if (first**2 > 100.0 * weight * (second - first * quotient(first, weight))).any():
        origin = origin + quotient(first, weight)
        weight, first, second = _sums_about(origin, numbers, weights, rows)
    shift = quotient(first, weight)
    mean, squares = np.where(weight > 0, origin + shift, 0.0), np.maximum(second - first * shift, 0.0)
    return WeightedMoments(weight, mean, _without_rounding(squares, weight, mean))


def _without_rounding(squares: Array, weight: Array, mean: Array) -> Array:
    """Sums of squares, with 0 for those that are no more than the rounding of the mean."""
    squares[squares <= weight * (ROUNDING_OF_SQUARES * mean) ** 2] = 0.0
    return squares


def _sums_about(origin: Array, numbers: Array, weights: Array, rows: Rows | slice) -> tuple[Array, Array, Array]:
    """The weight of the cells of each column, and weighted sums of cells less ``origin`` and of their squares."""
    total, first, second = np.zeros((3, len(origin)))
    for block in blocks_of(len(weights), len(origin), cells=2**16):
        weight = weights[block]
        if isinstance(rows, slice):
            cells = less_row(numbers[block], origin)
        else:
            copied = numbers[rows[block]]
            cells = less_row(copied, origin, out=copied)
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
    whole = len(cells) - len(cells) % SIDE_BY_SIDE
    low, high = cells, cells
    if whole:
        wide = cells[:whole].reshape(-1, SIDE_BY_SIDE * cells.shape[1])
        low = np.concatenate([np.fmin.reduce(wide, axis=0).reshape(SIDE_BY_SIDE, -1), cells[whole:]])
        high = np.concatenate([np.fmax.reduce(wide, axis=0).reshape(SIDE_BY_SIDE, -1), cells[whole:]])
    return _zero_for_nan(np.fmin.reduce(low, axis=0)), _zero_for_nan(np.fmax.reduce(high, axis=0))


def _zero_for_nan(row: Array) -> Array:
    return np.where(np.isnan(row), 0.0, row)


def less_row(numbers: Array, row: Array, out: Array | None = None) -> Array:
    """Every row less one, many of them side by side."""
    whole, width = len(numbers) - len(numbers) % SIDE_BY_SIDE, SIDE_BY_SIDE * numbers.shape[1]
    if len(numbers) < 4 * SIDE_BY_SIDE or not (width and numbers.flags.c_contiguous):
        return np.asarray(np.subtract(numbers, row, out=out))
    left = np.empty_like(numbers) if out is None else out
    wide_row = np.tile(row, SIDE_BY_SIDE)
    np.subtract(numbers[:whole].reshape(-1, width), wide_row, out=left[:whole].reshape(-1, width))
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
        columns = zip(subset.T, known.T, strict=True)
        middle = np.array([np.median(cells[present]) if present.any() else 0.0 for cells, present in columns])
    apart = np.where(known, subset - middle, 0.0)
    squares = np.einsum("ij,ij->j", apart, apart) / np.maximum(known.sum(axis=0), 1)
    # A column more than 100 deviations from 0 would lose digits.
    origin = np.where(middle**2 > 100.0**2 * squares, middle, 0.0)
    return (less_row(numbers, origin), origin) if origin.any() else (numbers, origin)


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
    goal, last = shares * below[-1], len(values) - 1
    low = np.searchsorted(below, goal * (1 - ROUNDING), side="left").clip(0, last)
    high = np.searchsorted(below, goal * (1 + ROUNDING), side="right").clip(0, last)
    return np.asarray(values[order[low]] / 2 + values[order[high]] / 2)


def summed_from_the_top(scores: Array | Rows, *weights: Array) -> tuple[Array, list[Array]]:
    """The different scores in descending order; and for each weighting, the weight of the rows that reach each.

    The last axis of a weighting is that of the rows.
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    last_of_equals = np.flatnonzero(np.append(falling[1:] < falling[:-1], True)[: len(falling)])
    sums = [np.cumsum(weighting[..., order], axis=-1)[..., last_of_equals] for weighting in weights]
    return np.asarray(falling[last_of_equals]), sums


def entropy(shares: Array) -> Array:
    """−Σ p ln p of each row of shares, or of a single row, in nats."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=-1))


def entropy_of_counts(counts: Array) -> float:
    """The entropy of the shares that counts, or weights, make; 0 where there are none."""
    total = counts.sum()
    return float(entropy(counts.ravel() / total)) if total > 0 else 0.0


def mutual_information(joint: Array) -> float:
    """The mutual information in nats of two variables, or its mean given a third: counts a × b (× c)."""
    joint = joint.reshape(*joint.shape[:2], -1)
    a, b, c = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True), joint.sum(axis=(0, 1))
    total = c.sum()
    ratio = np.divide(joint * c, a * b, out=np.ones_like(joint), where=joint > 0)
    return max(0.0, float((joint * np.log(ratio)).sum() / total)) if total > 0 else 0.0
