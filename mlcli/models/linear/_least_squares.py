"""Least squares, ridged or not: normal equations, or the pseudo-inverse where columns are nearly collinear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.moments import less_row
from mlcli.core.tables import Array, Flags, blocks_of
from mlcli.engines.sums import sums_of_values
from mlcli.engines.symmetric import solved
from mlcli.models.linear._design import EPSILON, Design, root_weighted
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows

ENOUGH = 1e-5
"""If other columns leave at least this share of a column's variance, the normal equations give ten digits."""
ENOUGH_TO_CORRECT = 1e-7
"""From this share on they do after one step of iterative refinement."""
ROUNDED = 1e-14
"""A variance below this share of the squared size of its column may be rounding."""
INVOLVED = 1e-6
"""The smallest loading in an undetermined direction from which a column counts as collinear."""
AS_GOOD = 1e-16
"""A rise of the squared error by this share of the target's squares is rounding."""
CELLS = 2**17


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The linear function that minimises ‖y − Xw‖² + l2‖w‖² over training rows, and what determines it."""

    coefficients: Array
    """Of all columns of the table; 0 for one that is constant."""
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
    """That of XᵀX + l2·I for the columns that vary; none where there are more of them than rows."""


def least_squares(data: ValuedRows, l2: float, intercept: bool) -> LeastSquares:
    """The normal equations where they are accurate, else the pseudo-inverse."""
    fit = _by_normal_equations(data, l2) if intercept else None
    return by_pseudo_inverse(data, l2, intercept) if fit is None else fit


def _by_normal_equations(data: ValuedRows, l2: float) -> LeastSquares | None:
    """The fit with an intercept; None if columns are nearly collinear, or may vary by rounding only."""
    sums = sums_of_values(data)
    overall, level = sums.overall, float(sums.overall.mean[-1])
    gram = sums.within[:-1, :-1] + l2 * np.eye(len(sums.origin) - 1)
    system = solved(gram, sums.within[-1:, :-1])
    centre = overall.mean[:-1] + sums.origin[:-1]
    rounded = overall.squares[:-1] <= ROUNDED * overall.weight[:-1] * (centre**2 + overall.squares[:-1])
    if rounded.any() or system.least < ENOUGH_TO_CORRECT:
        return None
    slopes, inverse = system.solution[0], None
    if not l2 or system.least < ENOUGH:
        inverse = solved(gram, np.eye(len(gram))).solution
        left, toward = _residuals(slopes, centre, level, data)
        slopes = slopes + inverse @ (toward - l2 * slopes)
        level += float(left.sum() / data.weights.sum())
    none, rank = np.zeros(len(slopes), bool), len(slopes) + 1
    return LeastSquares(slopes, centre, level, none, none, rank, gram.diagonal(), inverse)


def _residuals(slopes: Array, centre: Array, level: float, data: ValuedRows) -> tuple[Array, Array]:
    """The weighted residual of each row, and their sum times the columns."""
    left, toward = data.y - level, np.zeros(len(slopes))
    for rows in blocks_of(len(data), len(toward), CELLS):
        cells = less_row(data.table.numbers[rows], centre)
        left[rows] -= cells @ slopes
        left[rows] *= 1.0 if data.weight is None else data.weight[rows]
        toward += left[rows] @ cells
    return left, toward


def by_pseudo_inverse(data: ValuedRows, l2: float, intercept: bool) -> LeastSquares:
    """The slopes that minimise ‖y − Xw‖² + l2‖w‖², whatever the columns; of equals, those of least norm.

    A ridge is as many more rows √l2·I whose target is 0. At the centre the function passes through the mean.
    """
    design = Design.of(data, intercept)
    level = design.mean(data.y) if intercept else 0.0
    X, y = design.rooted, root_weighted(data.y - level, design.weight)
    norms = np.sqrt(np.einsum("ij,ij->j", X, X) + l2)
    reduced = np.asarray(np.linalg.qr(np.column_stack([X / norms, y]), mode="r"))
    prior = np.column_stack([np.diag(np.sqrt(l2) / norms), np.zeros(len(norms))])
    reduced = np.concatenate([reduced, prior])
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
        worse = np.sum((y - X @ least) ** 2) - np.sum((y - X @ slopes) ** 2)
        slopes = least if worse <= AS_GOOD * (y @ y) else slopes
    residuals = y - X @ slopes
    by_rounding = root_weighted(residuals, design.weight).sum() / design.total if intercept else 0.0
    return LeastSquares(
        design.coefficients(slopes), design.centre, level + float(by_rounding), ~design.varying,
        collinear=_collinear(design, right[~kept]), rank=int(kept.sum()) + int(intercept),
        squares=design.scale**2 * design.total,
        inverse=(directions / singular[kept] ** 2) @ directions.T if design.basis is None else None,
    )  # fmt: skip


def _collinear(design: Design, undetermined: Array) -> Flags:
    """The columns of the table that take part in directions (of columns of unit norm) without a singular value."""
    collinear = np.zeros(len(design.varying), bool)
    share = np.abs(undetermined).max(axis=0, initial=0.0)
    collinear[design.varying] = True if design.basis is not None else share > INVOLVED
    return collinear


def least_squares_to_side(data: LabelledRows, side: Array, l2: float) -> LeastSquares:
    """Least squares to ±1."""
    valued = ValuedRows(table=data.table, rows=data.rows, target=data.target, y=side, weight=data.weight)
    return by_pseudo_inverse(valued, l2, intercept=True)
