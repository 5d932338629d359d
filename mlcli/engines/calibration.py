"""Scores of classes made probabilities, without a change of which class is the most probable one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array, Codes

LEAST_SLOPE = 1e-3
"""What is left of a slope, in units of the scores, where scores tell nothing about rows that were left out."""
STEPS = 100


def softmax(scores: Array) -> Array:
    """exp(score) as shares of the row."""
    columns = np.ascontiguousarray(scores.T)
    powers = np.exp(columns - columns.max(axis=0))
    return np.asarray((powers / powers.sum(axis=0)).T)


def of_all_classes(shares: Array, totals: Array) -> Array:
    """Probabilities of the classes that had rows, and 0 for those without: ``totals`` is the weight of each."""
    result = np.zeros((len(shares), len(totals)))
    result[:, totals > 0] = shares
    return result


def of_present_classes(outputs: Array, slope: float, totals: Array) -> Array:
    """softmax(slope × outputs) of the classes that had rows, and 0 for those without."""
    return of_all_classes(softmax(slope * outputs[:, totals > 0]), totals)


def two_sided(score: Array) -> Array:
    """One score for or against the second of two classes as a score of each."""
    return np.column_stack([-score / 2, score / 2])


def slope(scores: Array, y: Codes, weights: Array) -> float:
    """The a at which softmax(a · scores) is likeliest, by Newton's method between bounds.

    The scores are those of rows that were left out. The target of each row is Platt's (N + 1)/(N + 2) for its
    class of N rows, and the rest for the others, so that a is finite where all are right.
    """
    columns = np.ascontiguousarray((scores - scores.mean(axis=1, keepdims=True)).T)
    unit = float(np.average(np.abs(columns).max(axis=0), weights=weights))
    if not unit > 0:
        return 1.0
    totals = np.bincount(y, weights=weights, minlength=len(columns))
    sure = ((totals + 1) / (totals + 2))[y]
    own = columns[y, np.arange(len(y))]
    target = float(weights @ (own * (sure - (1 - sure) / (len(columns) - 1))))

    def moments(at: float) -> tuple[float, float]:
        shares = softmax((at * columns).T).T
        mean = (shares * columns).sum(axis=0)
        return float(weights @ mean), float(weights @ ((shares * columns**2).sum(axis=0) - mean**2))

    return _where_mean_is(target, float(weights @ columns.max(axis=0)), moments, unit)


def slope_of_present(outputs: Array, y: Codes, weights: Array) -> float:
    """The same for outputs of all classes, of which some may have no rows; 1 where fewer than two have."""
    present, place = np.unique(y, return_inverse=True)
    return slope(outputs[:, present], place.astype(np.int32), weights) if len(present) > 1 else 1.0


def _where_mean_is(
    target: float, most: float, moments: Callable[[float], tuple[float, float]], unit: float
) -> float:
    """The slope at which the mean of scores is a target; ``moments`` has the mean and how fast it rises.

    It comes near ``most`` by powers of e, so that Newton's steps are for the logarithm of what it lacks of that.
    """
    low, high, at = LEAST_SLOPE / unit, np.inf, LEAST_SLOPE / unit
    for _ in range(STEPS):
        mean, curve = moments(at)
        left = most - mean
        low, high = (low, at) if mean > target else (at, high)
        rising = curve > 0 and left > 0 and target < most
        step = at + left * np.log(left / (most - target)) / curve if rising else np.inf
        if low == high:
            break
        if abs(step - at) <= 1e-8 * at:
            return float(step)
        between = (low + high) / 2 if np.isfinite(high) else 2 * low
        at = step if low < step < high else between
    return float(at)
