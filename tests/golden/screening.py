"""Rows to be screened for anomalies, from plain arrays, for golden cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Array
from mlcli.tasks.anomaly import ScreenedRows
from tests.golden.asking import asked, fitted
from tests.golden.shipped import numeric


def rows_of(X: Array, odd: Any = (), first: int = 0) -> ScreenedRows:
    """Rows of numbers; those in ``odd`` are labelled as anomalies. They are numbered from ``first`` on."""
    labels = np.isin(np.arange(len(X)), odd).astype(np.int32)
    rows = first + np.arange(len(X))
    return ScreenedRows(table=numeric(X), rows=rows, target="ill", labels=labels, classes=("no", "yes"))


def line(*values: float) -> ScreenedRows:
    """Rows of one column."""
    return rows_of(np.array(values, dtype=float)[:, None])


def cloud(n: int, p: int, seed: int = 0) -> Array:
    """Correlated Gaussian rows."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 3 * rng.normal(size=p)


def scores(model: Any, X: Array, Z: Array) -> Array:
    """What a model that learned from X says of Z."""
    return np.asarray(asked(fitted(model, rows_of(X)), rows_of(Z, first=len(X))).score)


def scores_of_its_own(model: Any, X: Array) -> Array:
    """What a model says of the rows that it has learned from."""
    data = rows_of(X)
    return np.asarray(asked(fitted(model, data), data).score)
