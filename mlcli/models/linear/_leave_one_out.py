"""Leave-one-out of least squares and ridge: residual / (1 − leverage)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.abilities import LOST, LeaveOneOutTable, centred
from mlcli.core.model import Step
from mlcli.core.tables import Array
from mlcli.core.tolerances import CLOSE
from mlcli.tasks.regression import ValuedRows

LEAST = 1e-5
"""The smallest eigenvalue of correlations that leaves enough digits; below it columns are nearly collinear."""


def least_squares_without_each_row(rows: ValuedRows, steps: Sequence[Step], l2: float) -> Array | None:
    """The value of each row by the least squares of all others, with an intercept and a penalty l2·‖w‖².

    A fit without the row misses it by r / (1 − h), where r is its residual and h its leverage in the fit to all
    rows under the same penalty (Hastie, Tibshirani & Friedman 2009, section 7.10). Behind standardise the penalty
    on the original columns is l2 times their variance without the row.
    """
    seen = LeaveOneOutTable.behind(rows.table, steps)
    if seen is None:
        return None
    numbers = seen.table.numbers
    spans, sizes = np.ptp(numbers, axis=0), np.abs(numbers).max(axis=0, initial=0.0)
    kept = spans > 0 if l2 else (spans > 0) & ~seen.redundant
    if (spans[kept] <= CLOSE * sizes[kept]).any():  # columns that may vary by rounding alone
        return None
    X, y, n = centred(numbers[:, kept]), centred(rows.y), len(rows)
    norms = np.sqrt((X**2).sum(axis=0))
    X /= norms
    penalties = l2 * (seen.units()[:, kept] / norms) ** 2 if l2 else np.zeros(X.shape)
    lost = (X**2 * n / (n - 1) > 1 - LOST).any(axis=1) | np.isnan(penalties).any(axis=1)
    penalties[lost] = usual = np.median(penalties[~lost], axis=0) if not lost.all() else 0.0
    system = X.T @ X + usual * np.eye(X.shape[1])
    unit = np.sqrt(system.diagonal())
    least = float(np.linalg.eigvalsh(system / np.outer(unit, unit)).min(initial=1.0))
    if least < LEAST:
        return None
    fitted, leverage = _fits(X, y, penalties)
    left = 1 - 1 / n - leverage
    known = (left * least >= LEAST) & ~lost
    return np.where(known, rows.y - (y - fitted) / np.where(known, left, 1.0), np.nan)


def _fits(X: Array, y: Array, penalties: Array) -> tuple[Array, Array]:
    """The fitted value of each row and its leverage, under the penalty of that row (n × columns)."""
    gram, columns = X.T @ X, X.shape[1]
    if (penalties == penalties[0]).all():
        own = np.linalg.solve(gram + np.diag(penalties[0]), X.T).T
    else:
        own, size = np.empty_like(X), max(1, 2**20 // columns**2)  # numbers in the matrices solved at once
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            matrices = gram + penalties[rows, :, None] * np.eye(columns)
            own[rows] = np.linalg.solve(matrices, X[rows, :, None])[:, :, 0]
    return own @ (X.T @ y), (X * own).sum(axis=1)
