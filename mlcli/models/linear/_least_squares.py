"""Least squares, ridged or not: by the inverse of the correlations, or near collinearity by singular values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.linear._design import EPSILON, Design, root_weighted
from mlcli.models.linear._from_sums import inverse_of
from mlcli.tasks.regression import ValuedRows

WELL_CONDITIONED = 1e7
"""Up to this condition (1-norm) the inverse, with one correction, is as exact as singular values are."""


@dataclass(frozen=True, eq=False)
class Plane:
    """The linear function nearest to training rows."""

    design: Design
    solution: Solution
    level: float
    """Its value at the centre of the rows."""


def nearest_plane(data: ValuedRows, l2: float, intercept: bool) -> Plane:
    """Least squares on centred columns; at their centre the plane passes through the mean of the target."""
    design = Design.of(data, intercept)
    level = design.mean(data.y) if intercept else 0.0
    solution = least_squares(design, root_weighted(data.y - level, design.weight), l2)
    left_by_rounding = root_weighted(solution.residuals, design.weight).sum() / design.total if intercept else 0.0
    return Plane(design, solution, level + float(left_by_rounding))


@dataclass(frozen=True, eq=False)
class Solution:
    """The slopes of least squares, and what their standard errors need."""

    slopes: Array
    residuals: Array
    """Times the square root of the weight of their row."""
    inverse: Array
    """The inverse of XᵀX + l2·I, of what is determined where it has none."""
    undetermined: Array
    """Orthonormal directions, in columns of unit norm, along which the rows say nothing (d × missing rank)."""


def least_squares(design: Design, y: Array, l2: float) -> Solution:
    """The slopes that minimise ‖y − Xw‖² + l2‖w‖²; of equals, those of least norm. y comes root-weighted."""
    X, gram = design.rooted, design.gram + l2 * np.eye(len(design.gram))
    inverse = inverse_of(gram, WELL_CONDITIONED)
    if inverse is None:
        return _by_singular_values(X, y, l2, np.sqrt(gram.diagonal()), design.rounding)
    slopes = inverse @ (X.T @ y)
    slopes = slopes + inverse @ (X.T @ (y - X @ slopes) - l2 * slopes)
    return Solution(slopes, y - X @ slopes, inverse, np.empty((len(slopes), 0)))


def _by_singular_values(X: Array, y: Array, l2: float, norms: Array, rounding: Array) -> Solution:
    """The pseudo-inverse; a ridge is as many more rows √l2·I whose target is 0."""
    triangle = np.linalg.qr(np.column_stack([X / norms, y]), mode="r")
    prior = np.column_stack([np.diag(np.sqrt(l2) / norms), np.zeros(len(norms))])
    reduced = np.concatenate([triangle, prior])
    left, singular, right = np.linalg.svd(reduced[:, :-1], full_matrices=False)
    noise = np.abs(right) @ rounding
    kept = singular > np.maximum(max(X.shape) * EPSILON * singular[0], noise)
    directions = right[kept].T / norms[:, None]
    slopes = directions @ (left.T @ reduced[:, -1] / np.where(kept, singular, 1))[kept]
    if not kept.all():
        # Taken away along what is undetermined, so that a column of another size keeps its digits.
        undetermined = np.linalg.qr(right[~kept].T / norms[:, None])[0]
        slopes = slopes - undetermined @ (undetermined.T @ slopes)
    inverse = (directions / singular[kept] ** 2) @ directions.T
    return Solution(slopes, y - X @ slopes, inverse, right[~kept].T)
