"""Least squares, ridged or not: from sums where columns are far from collinear, else by singular values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.moments import less_row
from mlcli.core.rooms import blocks_of
from mlcli.core.tables import Array
from mlcli.engines.linear_design import EPSILON, Design, root_weighted, triangle
from mlcli.engines.sums import TrainingSums, sums_of_values
from mlcli.engines.symmetric import made_regular, solved
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows

ENOUGH = 1e-5
"""With so much left of the variance of a column that others explain, sums give the slopes to ten digits."""
ENOUGH_TO_CORRECT = 1e-7
"""With so much, they do after one correction by the residuals of the rows."""
ROUNDED = 1e-14
"""So small a variance, as a share of the square of its column's size, may be rounding."""
CELLS = 2**17


@dataclass(frozen=True, eq=False)
class Plane:
    """A linear function, by each set of rows that it was learned from; at the centre its value is the level."""

    slopes: Array
    centre: Array
    level: Array
    gram: Array
    """XᵀX + l2·I of the centred columns X."""
    left: Array
    """What is left of the variance of the column that others explain most, as a share."""
    inverse: Array | None = None
    """That of the gram, where a correction has needed it."""

    def answers(self, rows: Array) -> Array:
        """Its values (sets × rows); NaN where columns are too nearly collinear for sums."""
        values = ((rows - self.centre[:, None]) @ self.slopes[..., None])[..., 0] + self.level[:, None]
        return np.asarray(np.where((self.left >= ENOUGH)[:, None], values, np.nan))


def plane_from(sums: TrainingSums, l2: float) -> Plane:
    """The plane nearest to rows after its slopes are paid for; of equals, the one of least slopes."""
    gram, toward, mean = sums.within[..., :-1, :-1], sums.within[..., -1:, :-1], sums.overall.mean
    gram = gram + l2 * np.eye(gram.shape[-1]) if l2 else made_regular(gram, sums.constant[..., :-1])
    found = solved(gram, toward)
    return Plane(found.solution[..., 0, :], mean[..., :-1], mean[..., -1], gram, found.least)


def plane_by_sums(data: ValuedRows, l2: float) -> Plane | None:
    """The plane nearest to rows, with an intercept; None where sums do not tell it."""
    sums = sums_of_values(data)
    plane, overall = plane_from(sums, l2), sums.overall
    centre = plane.centre + sums.origin[:-1]
    rounded = overall.squares[:-1] <= ROUNDED * overall.weight[:-1] * (centre**2 + overall.squares[:-1])
    if rounded.any() or plane.left < ENOUGH_TO_CORRECT:
        return None
    plane = replace(plane, centre=centre)
    return plane if l2 and plane.left >= ENOUGH else _corrected(plane, data, l2)


def _corrected(plane: Plane, data: ValuedRows, l2: float) -> Plane:
    """The plane after one correction by what it leaves of the target of each row."""
    left, toward = data.y - plane.level, -l2 * plane.slopes
    for rows in blocks_of(len(data), len(toward), CELLS):
        cells = less_row(data.table.numbers[rows], plane.centre)
        left[rows] -= cells @ plane.slopes
        left[rows] *= 1.0 if data.weight is None else data.weight[rows]
        toward += left[rows] @ cells
    inverse = solved(plane.gram, np.eye(len(toward))).solution
    level = plane.level + left.sum() / data.weights.sum()
    return replace(plane, slopes=plane.slopes + inverse @ toward, level=level, inverse=inverse)


@dataclass(frozen=True, eq=False)
class CarefulPlane:
    """The linear function nearest to training rows, where columns may be collinear or constant."""

    design: Design
    slopes: Array
    level: float
    """Its value at the centre of the rows."""
    inverse: Array
    """The inverse of XᵀX + l2·I, of what is determined where it has none."""
    undetermined: Array
    """Orthonormal directions, in columns of unit norm, along which the rows say nothing (d × missing rank)."""


def careful_plane(data: ValuedRows, l2: float, intercept: bool) -> CarefulPlane:
    """The slopes that minimise ‖y − Xw‖² + l2‖w‖² by the pseudo-inverse; of equals, those of least norm.

    A ridge is as many more rows √l2·I whose target is 0. At the centre the plane passes through the mean.
    """
    design = Design.of(data, intercept)
    level = design.mean(data.y) if intercept else 0.0
    X, y = design.rooted, root_weighted(data.y - level, design.weight)
    norms = np.sqrt(np.einsum("ij,ij->j", X, X) + l2)
    reduced = triangle(len(X), len(norms) + 1, lambda some: np.column_stack([X[some] / norms, y[some]]))
    prior = np.column_stack([np.diag(np.sqrt(l2) / norms), np.zeros(len(norms))])
    reduced = np.concatenate([reduced, prior])
    left, singular, right = np.linalg.svd(reduced[:, :-1], full_matrices=False)
    noise = np.abs(right) @ design.rounding
    kept = singular > np.maximum(max(X.shape) * EPSILON * singular.max(initial=0.0), noise)
    directions = right[kept].T / norms[:, None]
    slopes = directions @ (left.T @ reduced[:, -1] / np.where(kept, singular, 1))[kept]
    if not kept.all():
        # Taken away along what is undetermined, so that a column of another size keeps its digits.
        undetermined = np.linalg.qr(right[~kept].T / norms[:, None])[0]
        slopes = slopes - undetermined @ (undetermined.T @ slopes)
    residuals = y - X @ slopes
    by_rounding = root_weighted(residuals, design.weight).sum() / design.total if intercept else 0.0
    inverse = (directions / singular[kept] ** 2) @ directions.T
    return CarefulPlane(design, slopes, level + float(by_rounding), inverse, right[~kept].T)


def plane_of_side(data: LabelledRows, side: Array, l2: float) -> CarefulPlane:
    """Least squares to ±1."""
    valued = ValuedRows(table=data.table, rows=data.rows, target=data.target, y=side, weight=data.weight)
    return careful_plane(valued, l2, intercept=True)
