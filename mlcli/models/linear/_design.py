"""The design of a linear model: training columns centred, constant ones left out, their scale known.

Centring first keeps the digits of columns with a large offset, and knowing the scale of each column keeps every
decision (what is constant, what is collinear, when to stop) free of the units that the columns are in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, RowExplainer
from mlcli.core.moments import less_row
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.linear_scores import linear_scores, linear_terms, terms
from mlcli.metrics.distributions import student_t_quantile, student_t_tail
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

EPSILON = float(np.finfo(np.float64).eps)
CONSTANT = 8 * EPSILON
"""A column whose spread is below this share of its size varies by rounding only."""


@dataclass(frozen=True, eq=False)
class Design:
    """What linear methods learn from: ``columns`` are centred and vary."""

    columns: Array
    rooted: Array
    """Their rows times the square root of the weight, so that plain sums of squares are weighted ones."""
    scale: Array
    """The root mean square of each of ``columns``."""
    rounding: Array
    """How large the rounding of the cells is, as a share of ``scale``."""
    weight: Array | None
    total: float
    """The summed weight of the rows."""
    centre: Array
    """What was subtracted from each column of the table."""
    varying: Flags
    """Which columns of the table are not constant."""
    basis: Array | None = None
    """An orthonormal basis (columns of the table × ``columns``), where there were more columns than rows."""

    @classmethod
    def of(cls, data: SupervisedRows, intercept: bool) -> Self:
        """The design of training rows, in no more columns than there are rows."""
        return cls.by_column(data, intercept).within_rows()

    @classmethod
    def by_column(cls, data: SupervisedRows, intercept: bool) -> Self:
        """The design in columns of the table, however many; without an intercept the origin is the centre."""
        weight, total = data.weight, float(data.weights.sum())
        centre, columns = _centred(data.table.numbers, data.weights / total, intercept)
        rooted = root_weighted(columns, weight)
        scale = _root_mean_square(rooted, total)
        size = np.hypot(scale, centre)
        varying = scale > CONSTANT * size
        if not varying.all():
            places, scale, size = np.flatnonzero(varying), scale[varying], size[varying]
            columns = np.take(columns, places, axis=1)
            rooted = columns if weight is None else np.take(rooted, places, axis=1)
        return cls(columns, rooted, scale, EPSILON * size / scale, weight, total, centre, varying)

    def within_rows(self) -> Self:
        """The same in coordinates of the space that the rows span, where there are more columns than rows."""
        if self.columns.shape[1] <= len(self.columns):
            return self
        columns, basis = _within_row_space(self.columns, self.rounding / EPSILON * self.scale)
        rooted = root_weighted(columns, self.weight)
        scale = _root_mean_square(rooted, self.total)
        rounding = np.full(len(scale), EPSILON)
        return replace(self, columns=columns, rooted=rooted, scale=scale, rounding=rounding, basis=basis)

    @cached_property
    def standard(self) -> Array:
        """The columns in units of their own scale."""
        return self.columns / self.scale

    def mean(self, values: Array) -> float:
        """The weighted mean over the rows."""
        return float(np.average(values, weights=self.weight))

    def coefficients(self, slopes: Array) -> Array:
        """Slopes of ``columns`` (last axis) as coefficients of all columns of the table; constant ones get 0."""
        inside = slopes if self.basis is None else slopes @ self.basis.T
        outside = np.zeros((*slopes.shape[:-1], len(self.varying)))
        outside[..., self.varying] = inside
        return outside


def wald_test(value: float, error: float, freedom: float = math.inf) -> tuple[float, float, float, float]:
    """Value / error, its two-sided p and the ends of the 95 % interval, by Student's t."""
    statistic = value / error
    if math.isinf(freedom):
        p, reach = math.erfc(abs(statistic) / math.sqrt(2)), 1.959963984540054 * error
    else:
        p, reach = 2 * student_t_tail(abs(statistic), freedom), student_t_quantile(0.975, freedom) * error
    return statistic, p, value - reach, value + reach


def root_weighted(values: Array, weight: Array | None) -> Array:
    """Rows times the square root of their weight."""
    if weight is None:
        return values
    return np.asarray((values.T * np.sqrt(weight)).T)


def _centred(numbers: Array, shares: Array, intercept: bool) -> tuple[Array, Array]:
    """The means and what is left; a second look takes the rounding of the first mean away."""
    if not intercept:
        return np.zeros(numbers.shape[1]), numbers
    centre = shares @ numbers
    centred = less_row(numbers, centre)
    drift = shares @ centred
    if (np.abs(drift) <= EPSILON * np.abs(centre)).all():
        return centre, centred
    return centre + drift, less_row(numbers, centre + drift)


def _root_mean_square(rooted: Array, total: float) -> Array:
    squares: Array = np.einsum("ij,ij->j", rooted, rooted)
    return np.sqrt(squares / total)


def _within_row_space(columns: Array, size: Array) -> tuple[Array, Array]:
    """The rows in coordinates of the space they span: penalties and least norms are the same there.

    Directions that stand out no more than the rounding of the cells, whose size is given, are left out.
    """
    left, singular, right = np.linalg.svd(columns, full_matrices=False)
    noise = np.sqrt(len(columns)) * np.abs(right) @ size + columns.shape[1] * singular[0]
    kept = singular > EPSILON * noise
    return np.ascontiguousarray(left[:, kept] * singular[kept]), right[kept].T


@dataclass(kw_only=True, eq=False)
class LinearValues(Regressor, CountsParameters, RowExplainer):
    """ŷ = level + coefficients · (x − centre)."""

    intercept: bool = param(True, "whether the answer at the origin is free; without it, it is 0")

    coefficients_: Array = learned("columns")
    centre_: Array = learned("columns")
    level_: float = learned()

    def learn_slopes(self, design: Design, slopes: Array, level: float) -> None:
        """Take over the slopes of a design's columns, and the value at its centre."""
        self.centre_, self.level_ = design.centre, level
        self.coefficients_ = design.coefficients(slopes)

    def predict_values(self, table: Table) -> Array:
        """The weighted sum of the columns."""
        return linear_scores(table.numbers, self.centre_, self.coefficients_, self.level_, abs(self.level_))

    def adjustable_parameters(self, table: Table) -> float | None:
        """The coefficients that are not 0, and the intercept."""
        return float(np.count_nonzero(self.coefficients_)) + self.intercept

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The sum that is answered, term by term."""
        of_row = self.coefficients_, self.centre_, self.level_
        return (linear_terms(table, *of_row, (self.target_,), "Contributions to the prediction"),)

    def coefficient_table(self, note: str) -> findings.Table:
        """The coefficients by column."""
        named = terms(self.columns_, self.coefficients_, self.centre_, self.level_, self.intercept)
        rows = tuple((name, float(value)) for name, value in named)
        return findings.Table("Coefficients", ("column", "coefficient"), rows, note=note, code="coefficients")
