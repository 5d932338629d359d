"""What may stand for the values of a column: one number for values with weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array, Rows

Filling = Callable[[Array, Array], float]
ROUNDING = 1e-12
"""Sums of weights that differ by less, relatively, are equal: 0.1 + 0.2 is 0.3."""


def mean(values: Array, weights: Array) -> float:
    """The weighted mean."""
    return float(weights @ values / weights.sum())


def median(values: Array, weights: Array) -> float:
    """The value with half of the weight below it; the middle between two of them."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    half = below[-1] / 2
    low = values[order[np.searchsorted(below, half * (1 - ROUNDING), side="left")]]
    high = values[order[np.searchsorted(below, half * (1 + ROUNDING), side="right")]]
    return float(low + (high - low) / 2)


def most_frequent(values: Array, weights: Array) -> float:
    """The value with the largest weight, the smallest of equals."""
    distinct, which = np.unique(values, return_inverse=True)
    return float(distinct[first_of_most(np.bincount(which, weights).astype(np.float64))])


def first_of_most(totals: Array) -> Rows:
    """The place of the largest total (last axis), of equals the first."""
    return np.asarray(np.argmax(totals >= totals.max(axis=-1, keepdims=True) * (1 - ROUNDING), axis=-1))


OF_NUMBERS: dict[str, Filling] = {
    "mean": mean,
    "median": median,
    "most-frequent": most_frequent,
    "own-value": mean,
}
OF_LEVELS: dict[str, Filling] = {"most-frequent": most_frequent, "own-value": most_frequent}
