"""Rows that follow each other: windows of them, and what is warned of where they are not consecutive."""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array
from mlcli.tasks.anomaly import ScreenedRows


def windows_of(X: Array, size: int) -> Array:
    """Every window of consecutive rows (windows × size × columns); of fewer rows one, its last repeated."""
    if len(X) < size:
        X = np.concatenate([X, np.repeat(X[-1:], size - len(X), axis=0)])
    found = np.lib.stride_tricks.sliding_window_view(X, size, axis=0)
    return np.ascontiguousarray(found.transpose(0, 2, 1))


def rows_before(X: Array, size: int) -> Array:
    """The rows before each row, the nearest first (n × size × columns); before the first row stands itself."""
    if not len(X):
        return np.empty((0, size, X.shape[1]))
    place = np.arange(len(X))[:, None] - np.arange(1, size + 1)
    return np.asarray(X[np.maximum(place, 0)])


def mean_over_windows(values: Array, size: int, rows: int) -> Array:
    """For each row the mean of the values of all windows that it is in."""
    counts, total = np.zeros(rows), np.zeros(rows)
    for first in range(min(size, rows)):
        ends = min(len(values), rows - first)
        counts[first : first + ends] += 1
        total[first : first + ends] += values[:ends]
    return np.asarray(total / np.maximum(counts, 1))


def warn_of_gaps(data: ScreenedRows, whose: str) -> None:
    """Say so where rows do not follow each other; sequences are never cut, and have no gaps."""
    rows = data.rows if data.order is None else np.sort(data.rows)
    if data.sequence is None and (np.diff(rows) != 1).any():
        text = f"{whose} takes rows as they follow each other, and these have gaps or another order"
        warnings.warn(f"{text}: protocol whole keeps them together", MlcliWarning, stacklevel=3)
