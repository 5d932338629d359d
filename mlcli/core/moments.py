"""Weighted mean and variance of each column of numbers, with empty cells left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags

ROUNDING = 4 * np.finfo(np.float64).eps
SIDE_BY_SIDE = 64


@dataclass(frozen=True, eq=False)
class Moments:
    """One entry per column; a column without cells has weight, mean and variance 0."""

    weight: Array
    mean: Array
    variance: Array


def moments(numbers: Array, weights: Array, ddof: int = 0) -> Moments:
    """The moments of each column; ``ddof`` is taken off the summed weight that the variance is divided by."""
    weight, mean, constant = _middle(numbers, weights)
    deviations = numbers - mean
    present = _counted(numbers, weights)
    if not present.all():
        deviations[~present] = 0.0
    deviations *= deviations
    variance = _ratio(weights @ deviations, weight - ddof)
    variance[constant] = 0.0
    return Moments(weight, mean, variance)


def means(numbers: Array, weights: Array) -> Array:
    """The mean of each column alone."""
    return _middle(numbers, weights)[1]


def _middle(numbers: Array, weights: Array) -> tuple[Array, Array, Flags]:
    """The weight and the mean of each column, and which are constant."""
    present = _counted(numbers, weights)
    full = present.all()
    weight = np.full(numbers.shape[1], weights.sum()) if full else weights @ present
    low, high = extent(numbers, weights)
    constant = is_constant(low, high)
    mean = _ratio(weights @ (numbers if full else np.where(present, numbers, 0.0)), weight)
    # Sums round, so that seven times 0.1 has a mean beside 0.1 and a variance above 0.
    mean[constant] = low[constant]
    return weight, mean, constant


def extent(numbers: Array, weights: Array) -> tuple[Array, Array]:
    """The smallest and the largest number of each column; both 0 where there is none."""
    if numbers.size and (weights > 0).all():
        low, high = _over_rows(np.minimum, numbers), _over_rows(np.maximum, numbers)
        if not np.isnan(low).any():
            return low, high
    counted = _counted(numbers, weights)
    low = np.min(np.where(counted, numbers, np.inf), axis=0, initial=np.inf)
    high = np.max(np.where(counted, numbers, -np.inf), axis=0, initial=-np.inf)
    empty = ~counted.any(axis=0)
    return np.where(empty, 0.0, low), np.where(empty, 0.0, high)


def _over_rows(extreme: np.ufunc, numbers: Array) -> Array:
    """The least or the largest of each column; with many rows side by side NumPy is several times as fast."""
    whole = len(numbers) - len(numbers) % SIDE_BY_SIDE
    if whole:
        folded = extreme.reduce(numbers[:whole].reshape(-1, SIDE_BY_SIDE * numbers.shape[1]), axis=0)
        numbers = np.concatenate([folded.reshape(SIDE_BY_SIDE, -1), numbers[whole:]])
    return np.asarray(extreme.reduce(numbers, axis=0))


def is_constant(low: Array, high: Array) -> Flags:
    """Which columns hold at most one number, give or take the rounding of its last digits."""
    return np.asarray(high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def _counted(numbers: Array, weights: Array) -> Flags:
    """Which cells are there and have a weight."""
    there, weighty = ~np.isnan(numbers), weights > 0
    return there if weighty.all() else there & weighty[:, None]


def _ratio(sums: Array, weight: Array) -> Array:
    return np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
