"""Weighted mean and variance of each column of numbers, with empty cells left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags

ROUNDING = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Moments:
    """One entry per column; a column without cells has weight, mean and variance 0."""

    weight: Array
    mean: Array
    variance: Array


def moments(numbers: Array, weights: Array, ddof: int = 0) -> Moments:
    """The moments of each column; ``ddof`` is taken off the summed weight that the variance is divided by."""
    present = ~np.isnan(numbers) & (weights > 0)[:, None]
    weight = weights @ present
    low, high = extent(numbers, weights)
    constant = is_constant(low, high)
    mean = _ratio(weights @ np.where(present, numbers, 0.0), weight)
    # Sums round, so that seven times 0.1 has a mean beside 0.1 and a variance above 0.
    mean[constant] = low[constant]
    deviations = np.where(present, numbers - mean, 0.0)
    variance = _ratio(weights @ deviations**2, weight - ddof)
    variance[constant] = 0.0
    return Moments(weight, mean, variance)


def extent(numbers: Array, weights: Array) -> tuple[Array, Array]:
    """The smallest and the largest number of each column; both 0 where there is none."""
    counted = ~np.isnan(numbers) & (weights > 0)[:, None]
    low = np.min(np.where(counted, numbers, np.inf), axis=0, initial=np.inf)
    high = np.max(np.where(counted, numbers, -np.inf), axis=0, initial=-np.inf)
    empty = ~counted.any(axis=0)
    return np.where(empty, 0.0, low), np.where(empty, 0.0, high)


def is_constant(low: Array, high: Array) -> Flags:
    """Which columns hold at most one number, give or take the rounding of its last digits."""
    return np.asarray(high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high)))


def _ratio(sums: Array, weight: Array) -> Array:
    return np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0)
