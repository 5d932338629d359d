"""What the linear regressions share: the design matrix, least squares, and the model they end up as.

Columns are centred first, which keeps the digits of columns with a large offset. The scale of each column is
known, so that no decision (what is constant, what is collinear, when to stop) depends on units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, RowExplainer
from mlcli.core.moments import less_row
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Flags, Table, blocks_of
from mlcli.engines.linear_scores import linear_scores, linear_terms, terms
from mlcli.engines.sums import sums_of_values
from mlcli.engines.symmetric import solved
from mlcli.metrics.intervals import student_t_quantile, student_t_tail
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import Regressor, ValuedRows
from mlcli.tasks.supervised import SupervisedRows

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(kw_only=True, eq=False)
class LinearValues(Regressor, CountsParameters, RowExplainer):
    """ŷ = level + coefficients · (x − centre)."""

    intercept: bool = param(True, "whether the answer at the origin is free; without it, it is 0")

    coefficients_: Array = learned("columns")
    centre_: Array = learned("columns")
    level_: float = learned()

    def learn_slopes(self, design: Design, slopes: Array, level: float) -> None:
        """Store the slopes of a design's columns, and the value at its centre."""
        self.centre_, self.level_ = design.centre, level
        self.coefficients_ = design.coefficients(slopes)

    def predict_values(self, table: Table) -> Array:
        """The weighted sum of the columns."""
        return linear_scores(table.numbers, self.centre_, self.coefficients_, self.level_, abs(self.level_))

    def adjustable_parameters(self, table: Table) -> float | None:
        """The coefficients that are not 0, and the intercept."""
        return float(np.count_nonzero(self.coefficients_)) + self.intercept

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The prediction as a sum of terms."""
        title = "Contributions to the prediction"
        return (linear_terms(table, self.coefficients_, self.centre_, self.level_, (self.target_,), title),)

    def coefficient_table(self, note: str) -> findings.Table:
        """The coefficients by column."""
        named = terms(self.columns_, self.coefficients_, self.centre_, self.level_, self.intercept)
        rows = tuple((name, float(value)) for name, value in named)
        return findings.Table("Coefficients", ("column", "coefficient"), rows, note=note, code="coefficients")


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


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The linear function that minimises ‖y − Xw‖² + l2‖w‖² over training rows, and how well it is determined."""

    coefficients: Array
    """Of all columns of the table; 0 for a constant one."""
    centre: Array
    level: float
    """Its value at the centre."""
    constant: Flags
    collinear: Flags
    """The columns that take part in a direction which the rows do not determine."""
    rank: int
    """How many parameters the rows determine, the intercept included."""
    squares: Array
    """The sum of squares of each column that varies, about its mean."""
    inverse: Array | None = None
    """That of XᵀX + l2·I for the columns that vary; None if there are more of them than rows."""


def least_squares(data: ValuedRows, l2: float, intercept: bool) -> LeastSquares:
    """The normal equations where they are accurate, else the pseudo-inverse."""
    fit = _by_normal_equations(data, l2) if intercept else None
    return by_pseudo_inverse(data, l2, intercept) if fit is None else fit


def least_squares_to_side(data: LabelledRows, side: Array, l2: float) -> LeastSquares:
    """Least squares to ±1."""
    valued = ValuedRows(table=data.table, rows=data.rows, target=data.target, y=side, weight=data.weight)
    return by_pseudo_inverse(valued, l2, intercept=True)


def _by_normal_equations(data: ValuedRows, l2: float) -> LeastSquares | None:
    """The fit with an intercept; None if columns are nearly collinear, or may vary by rounding only.

    ``least`` is the smallest share of a column's variance that the other columns leave. From 1e-5 on the solution
    has ten digits, from 1e-7 on it has them after one step of iterative refinement.
    """
    sums = sums_of_values(data)
    overall, level = sums.overall, float(sums.overall.mean[-1])
    gram = sums.within[:-1, :-1] + l2 * np.eye(len(sums.origin) - 1)
    system = solved(gram, sums.within[-1:, :-1])
    centre = overall.mean[:-1] + sums.origin[:-1]
    sizes = overall.weight[:-1] * (centre**2 + overall.squares[:-1])
    if (overall.squares[:-1] <= 1e-14 * sizes).any() or system.least < 1e-7:
        return None
    slopes, inverse = system.solution[0], None
    if not l2 or system.least < 1e-5:
        inverse = solved(gram, np.eye(len(gram))).solution
        residuals, gradient = _residuals(slopes, centre, level, data)
        slopes = slopes + inverse @ (gradient - l2 * slopes)
        level += float(residuals.sum() / data.weights.sum())
    none, rank = np.zeros(len(slopes), bool), len(slopes) + 1
    return LeastSquares(slopes, centre, level, none, none, rank, gram.diagonal(), inverse)


def _residuals(slopes: Array, centre: Array, level: float, data: ValuedRows) -> tuple[Array, Array]:
    """The weighted residual of each row, and their products with the columns; in blocks, for large tables."""
    residuals, gradient = data.y - level, np.zeros(len(slopes))
    for rows in blocks_of(len(data), len(slopes), cells=2**17):
        cells = less_row(data.table.numbers[rows], centre)
        residuals[rows] -= cells @ slopes
        residuals[rows] *= 1.0 if data.weight is None else data.weight[rows]
        gradient += residuals[rows] @ cells
    return residuals, gradient


def by_pseudo_inverse(data: ValuedRows, l2: float, intercept: bool) -> LeastSquares:
    """The slopes that minimise ‖y − Xw‖² + l2‖w‖², whatever the columns; among equals, those of least norm.

    A ridge is the same as further rows √l2·I whose target is 0. At the centre the function has the mean.
    """
    design = Design.of(data, intercept)
    level = design.mean(data.y) if intercept else 0.0
    X, y = design.weighted, root_weighted(data.y - level, design.weight)
    norms = np.sqrt(np.einsum("ij,ij->j", X, X) + l2)
    reduced = np.asarray(np.linalg.qr(np.column_stack([X / norms, y]), mode="r"))
    ridge_rows = np.column_stack([np.diag(np.sqrt(l2) / norms), np.zeros(len(norms))])
    reduced = np.concatenate([reduced, ridge_rows])
    left, singular, right = np.linalg.svd(reduced[:, :-1], full_matrices=False)
    noise = np.abs(right) @ design.rounding
    kept = singular > np.maximum(max(X.shape) * EPSILON * singular.max(initial=0.0), noise)
    directions = right[kept].T / norms[:, None]
    slopes = directions @ (left.T @ reduced[:, -1] / np.where(kept, singular, 1))[kept]
    if not kept.all():
        # The solution of least norm: subtract the part along undetermined directions. Loadings that are rounding
        # are set to 0 first, as they would dominate for a column of tiny cells.
        gap = singular[kept].min(initial=np.inf)
        rounded = max(X.shape) * EPSILON * singular.max(initial=0.0) / gap
        undetermined = np.where(np.abs(right[~kept]) > rounded, right[~kept], 0.0)
        undetermined = np.linalg.qr(undetermined.T / norms[:, None])[0]
        least = slopes - undetermined @ (undetermined.T @ slopes)
        # With sizes from x to x¹⁰ the rounding of this may exceed the fit itself: then keep the first solution.
        rise = np.sum((y - X @ least) ** 2) - np.sum((y - X @ slopes) ** 2)
        slopes = least if rise <= 1e-16 * (y @ y) else slopes
    if intercept:  # what rounding has left of the mean residual
        level += float(root_weighted(y - X @ slopes, design.weight).sum() / design.total)
    # Of directions without a singular value, a column takes part in those where its loading is not rounding.
    collinear = np.zeros(len(design.varying), bool)
    loadings = np.abs(right[~kept]).max(axis=0, initial=0.0)
    collinear[design.varying] = True if design.basis is not None else loadings > 1e-6
    return LeastSquares(
        design.coefficients(slopes),
        design.centre,
        level,
        ~design.varying,
        collinear,
        rank=int(kept.sum()) + int(intercept),
        squares=design.scale**2 * design.total,
        inverse=(directions / singular[kept] ** 2) @ directions.T if design.basis is None else None,
    )


def wald_test(value: float, error: float, freedom: float = math.inf) -> tuple[float, float, float, float]:
    """Value / error, its two-sided p and the ends of the 95 % interval, by Student's t."""
    statistic = value / error
    if math.isinf(freedom):
        p, reach = math.erfc(abs(statistic) / math.sqrt(2)), 1.959963984540054 * error
    else:
        p, reach = 2 * student_t_tail(abs(statistic), freedom), student_t_quantile(0.975, freedom) * error
    return statistic, p, value - reach, value + reach
