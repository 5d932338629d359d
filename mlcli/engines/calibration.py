"""Probabilities from scores of classes.

Calibration multiplies scores by a slope before the softmax, which never changes the most probable class.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Codes

LEAST_SLOPE = 1e-3
"""The least slope, in units of the scores, if scores tell nothing about rows that were left out."""


def softmax(scores: Array) -> Array:
    """exp(score) as shares of the sum of the row."""
    columns = np.ascontiguousarray(scores.T)
    exponentials = np.exp(columns - columns.max(axis=0))
    return np.asarray((exponentials / exponentials.sum(axis=0)).T)


def of_all_classes(shares: Array, totals: Array) -> Array:
    """Probabilities of all classes, 0 for those without rows; ``totals`` is the weight of each."""
    result = np.zeros((len(shares), len(totals)))
    result[:, totals > 0] = shares
    return result


def of_present_classes(outputs: Array, slope: float, totals: Array) -> Array:
    """softmax(slope × outputs) of the classes with rows, and 0 for those without."""
    return of_all_classes(softmax(slope * outputs[:, totals > 0]), totals)


def two_sided(score: Array) -> Array:
    """One score for or against the second of two classes as a score of each."""
    return np.column_stack([-score / 2, score / 2])


def slope(scores: Array, y: Codes, weights: Array) -> float:
    """The slope a at which softmax(a · scores) of rows that were left out is likeliest.

    The target of each row is Platt's (N + 1)/(N + 2) for its class of N rows, and the rest for the others, so that
    a is finite if all scores are right. Newton's method finds it between bounds. The mean of the scores comes near
    its maximum exponentially, so a step is for the logarithm of what the mean lacks of that.
    """
    columns = np.ascontiguousarray((scores - scores.mean(axis=1, keepdims=True)).T)
    unit = float(np.average(np.abs(columns).max(axis=0), weights=weights))
    if not unit > 0:
        return 1.0
    totals = np.bincount(y, weights=weights, minlength=len(columns))
    own_target = ((totals + 1) / (totals + 2))[y]
    own = columns[y, np.arange(len(y))]
    target = float(weights @ (own * (own_target - (1 - own_target) / (len(columns) - 1))))
    most = float(weights @ columns.max(axis=0))
    low, high, at = LEAST_SLOPE / unit, np.inf, LEAST_SLOPE / unit
    for _ in range(100):
        shares = softmax((at * columns).T).T
        means = (shares * columns).sum(axis=0)
        mean, curve = float(weights @ means), float(weights @ ((shares * columns**2).sum(axis=0) - means**2))
        shortfall = most - mean
        low, high = (low, at) if mean > target else (at, high)
        rising = curve > 0 and shortfall > 0 and target < most
        step = at + shortfall * np.log(shortfall / (most - target)) / curve if rising else np.inf
        if low == high:
            break
        if abs(step - at) <= 1e-8 * at:
            return float(step)
        between = (low + high) / 2 if np.isfinite(high) else 2 * low
        at = step if low < step < high else between
    return float(at)


def slope_of_present(outputs: Array, y: Codes, weights: Array) -> float:
    """The slope for outputs of all classes, of which some may have no rows; 1 if fewer than two have."""
    present, index = np.unique(y, return_inverse=True)
    return slope(outputs[:, present], index.astype(np.int32), weights) if len(present) > 1 else 1.0
