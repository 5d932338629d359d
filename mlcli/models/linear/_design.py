"""The design matrix that linear methods learn from, and the Wald test of a coefficient.

Columns are centred first, which keeps the digits of columns with a large offset. The scale of each column is
known, so that no decision (what is constant, what is collinear, when to stop) depends on units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.core.moments import less_row
from mlcli.core.tables import Array, Flags
from mlcli.metrics.intervals import student_t_quantile, student_t_tail
from mlcli.tasks.supervised import SupervisedRows

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Design:
    """The columns that linear methods learn from: centred, without constant ones."""

    columns: Array
    weighted: Array
    """The same, each row times the square root of its weight: plain sums of squares are then weighted ones."""
    scale: Array
    """The root mean square of each of ``columns``."""
    rounding: Array
    """The rounding error of the cells, as a share of ``scale``."""
    weight: Array | None
    total: float
    """The sum of the row weights."""
    centre: Array
    """What was subtracted from each column of the table."""
    varying: Flags
    """Which columns of the table are not constant."""
    basis: Array | None = None
    """An orthonormal basis (columns of the table × ``columns``) of the row space, if rows are few."""

    @staticmethod
    def of(data: SupervisedRows, intercept: bool, in_row_space: bool = True) -> Design:
        """The design of training rows; without an intercept the origin is the centre.

        With ``in_row_space`` it has no more columns than rows: penalties on squares and least norms are the same
        there. A penalty on absolute coefficients needs the columns of the table.
        """
        numbers, weight, total = data.table.numbers, data.weight, float(data.weights.sum())
        centre, columns = np.zeros(numbers.shape[1]), numbers
        if intercept:
            shares = data.weights / total
            centre = shares @ numbers
            columns = less_row(numbers, centre)
            drift = shares @ columns
            if (np.abs(drift) > EPSILON * np.abs(centre)).any():  # the first mean was rounded
                centre = centre + drift
                columns = less_row(numbers, centre)
        weighted = root_weighted(columns, weight)
        scale = _root_mean_square(weighted, total)
        size = np.hypot(scale, centre)
        varying = scale > 8 * EPSILON * size  # below that, a column varies by rounding only
        if not varying.all():
            kept, scale, size = np.flatnonzero(varying), scale[varying], size[varying]
            columns = np.take(columns, kept, axis=1)
            weighted = columns if weight is None else np.take(weighted, kept, axis=1)
        design = Design(columns, weighted, scale, EPSILON * size / scale, weight, total, centre, varying)
        return design._in_row_space() if in_row_space and columns.shape[1] > len(columns) else design

    def _in_row_space(self) -> Design:
        """The same rows in coordinates of the space that they span.

        Directions that stand out no more than the rounding of the cells are left out.
        """
        left, singular, right = np.linalg.svd(self.columns, full_matrices=False)
        cell_size = self.rounding / EPSILON * self.scale
        noise = np.sqrt(len(self.columns)) * np.abs(right) @ cell_size + self.columns.shape[1] * singular[0]
        kept = singular > EPSILON * noise
        columns = np.ascontiguousarray(left[:, kept] * singular[kept])
        weighted = root_weighted(columns, self.weight)
        scale = _root_mean_square(weighted, self.total)
        rounding = np.full(len(scale), EPSILON)
        return replace(
            self, columns=columns, weighted=weighted, scale=scale, rounding=rounding, basis=right[kept].T
        )

    @cached_property
    def standard(self) -> Array:
        """The columns in units of their own scale."""
        return self.columns / self.scale

    def mean(self, values: Array) -> float:
        """The weighted mean over the rows."""
        return float(np.average(values, weights=self.weight))

    def coefficients(self, slopes: Array) -> Array:
        """Slopes of ``columns`` (last axis) as coefficients of all columns of the table; constant ones get 0."""
        coefficients = np.zeros((*slopes.shape[:-1], len(self.varying)))
        coefficients[..., self.varying] = slopes if self.basis is None else slopes @ self.basis.T
        return coefficients


def root_weighted(values: Array, weight: Array | None) -> Array:
    """Rows times the square root of their weight."""
    return values if weight is None else np.asarray((values.T * np.sqrt(weight)).T)


def _root_mean_square(weighted: Array, total: float) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", weighted, weighted) / total))


def wald_test(value: float, error: float, freedom: float = math.inf) -> tuple[float, float, float, float]:
    """Value / error, its two-sided p and the ends of the 95 % interval, by Student's t."""
    statistic = value / error
    if math.isinf(freedom):
        p, reach = math.erfc(abs(statistic) / math.sqrt(2)), 1.959963984540054 * error
    else:
        p, reach = 2 * student_t_tail(abs(statistic), freedom), student_t_quantile(0.975, freedom) * error
    return statistic, p, value - reach, value + reach
