"""What the linear regressions share: the fitted model, least squares, and its leave-one-out predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import CLOSE, findings
from mlcli.core.abilities import LOST, CountsParameters, LeaveOneOutTable, RowExplainer, centred
from mlcli.core.model import Step
from mlcli.core.moments import less_row
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Flags, Table, blocks_of
from mlcli.engines.linear_scores import linear_scores, linear_terms, terms
from mlcli.engines.sums import sums_of_values
from mlcli.engines.symmetric import solved
from mlcli.models.linear._design import EPSILON, Design, root_weighted
from mlcli.tasks.supervised import LabelledRows, Regressor, ValuedRows


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


LEAST_EIGENVALUE = 1e-5
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
    if least < LEAST_EIGENVALUE:
        return None
    fitted, leverage = _fits(X, y, penalties)
    left = 1 - 1 / n - leverage
    known = (left * least >= LEAST_EIGENVALUE) & ~lost
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
