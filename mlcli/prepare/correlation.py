"""Correlation: keeps the numeric columns with the largest linear correlation with the target, of either sign.

Formula:
    |r| = |Σ w (x − x̄)(y − ȳ)| / √(Σ w (x − x̄)² Σ w (y − ȳ)²), Pearson's correlation; for classes y is 1 in one
    class and 0 in the others, and the class with the largest |r| counts.

Assumes:
    Linear relations, and no outliers. The notes call this CFS; Hall's CFS is the step `cfs`.

Cost:
    One pass per class.

Choices:
    Missing values are left out column by column. A column, or a target, that does not vary has correlation 0.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.prepare._selecting import Filter
from mlcli.tasks.supervised import SupervisedRows


@register("correlation", reference="Pearson 1896, Regression, heredity and panmixia")
class Correlation(Filter):
    """Select columns by their linear correlation with the target."""

    measure: ClassVar[str] = "correlation"

    def scores(self, data: SupervisedRows) -> Array:
        """The largest absolute correlation of each column."""
        each = [correlations(data.table.numbers, y, data.weights) for y in data.outputs.T]
        return np.asarray(np.max(np.abs(each), axis=0))


def correlations(X: Array, y: Array, weights: Array) -> Array:
    """Pearson's correlation of each column with y, without missing values."""
    known = ~np.isnan(X)
    w = known * weights[:, None]
    total = np.maximum(w.sum(axis=0), np.finfo(np.float64).tiny)
    filled = np.where(known, X, 0.0)
    x = np.where(known, X - (w * filled).sum(axis=0) / total, 0.0)
    target = y[:, None] - (w * y[:, None]).sum(axis=0) / total
    xx, yy = (w * x**2).sum(axis=0), (w * target**2).sum(axis=0)
    # a smaller share of the sum of squares is due to rounding
    varies = (xx > 1e-24 * (w * filled**2).sum(axis=0)) & (yy > 1e-24 * (w * y[:, None] ** 2).sum(axis=0))
    return np.where(varies, (w * x * target).sum(axis=0) / np.sqrt(np.where(varies, xx * yy, 1.0)), 0.0)
