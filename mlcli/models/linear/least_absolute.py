"""Least absolute deviations: the weighted sum of the columns with the least absolute error.

Formula:
    Minimise Σ |y_i − b − w·x_i|. More generally Σ q·max(0, r_i) + (1 − q)·max(0, −r_i) of the residuals r, whose
    minimum is the q-quantile of the target given the columns; the median has q = ½.

Assumes:
    That the middle of the target is linear in the columns. A few far values of the target hardly move it, where
    least squares follows them; far values of columns move both. No scale of columns is needed.

Cost:
    n·p² + p³ for each of 10 to 40 steps of an interior point method.

Choices:
    It is solved as a linear programme; where several planes are best (an even number of rows, collinear columns),
    one between them is given. A weight counts a row that many times.
"""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array
from mlcli.engines.interior_point import Matrix, PiecewiseLinear, interior_point
from mlcli.models.linear._design import EPSILON, Design
from mlcli.models.linear._regression import LinearValues
from mlcli.tasks.supervised import Regressor, ValuedRows


@register("least-absolute", reference="Koenker & Bassett 1978; Mehrotra 1992", revision=2)
class LeastAbsolute(LinearValues, Regressor):
    """Absolute errors by an interior point method."""

    quantile: float = param(0.5, "the share of rows that lie below the plane; the median is 0.5", gt=0, lt=1)

    deviation_: float = learned()
    """The mean absolute residual."""
    steps_: int = learned()

    accepts = Accepts(weights=True)

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Solve the linear programme in standard columns, the target measured from its mean in its deviation."""
        data = data.counted()
        design = Design.of(data, self.intercept)
        middle = design.mean(data.y) if self.intercept else 0.0
        unit = design.mean(np.abs(data.y - middle)) or 1.0
        turned = _orthogonal(design)
        X = np.column_stack([design.standard @ turned, np.full(len(data), float(self.intercept))])
        y, weights = (data.y - middle) / unit, data.weights / design.total
        below = 1 - self.quantile
        slope, offset = below * weights @ X, -below * float(weights @ y)
        free = np.append(np.zeros(turned.shape[1]), 0.0 if self.intercept else 1.0)
        problem = PiecewiseLinear(Matrix(X), weights, y, free, slope, offset)
        aim, enough = 1e-11, 1e-7  # duality gaps, as shares of the objective; up to the second there is no warning
        minimum = interior_point(problem, aim, 200)
        if minimum.gap > enough * max(minimum.value, aim):
            text = f"{self.id} stopped {minimum.gap / minimum.value:.1e} above the least error, as a share of it"
            warnings.warn(f"{text}; columns that are less alike would help", MlcliWarning, stacklevel=2)
        level = middle + unit * float(minimum.w[-1])
        self.learn_slopes(design, unit * (turned @ minimum.w[:-1]) / design.scale, level)
        self.steps_ = minimum.iterations
        self.deviation_ = design.mean(np.abs(data.y - self.predict_values(data.table)))

    def explain(self) -> findings.Explanation:
        """The coefficients, and how far rows are from the plane."""
        note = f"Mean absolute residual {self.deviation_:.6g}, after {self.steps_} steps."
        lines = (f"{100 * self.quantile:g} % of the weight of training rows lies below, but for rows on it.",)
        return self.coefficient_table(note), findings.Lines("Quantile", lines)


def _orthogonal(design: Design) -> Array:
    """What turns standard columns into orthogonal ones of the same size, without directions that are rounding.

    Otherwise columns that are nearly alike would make the method's equations singular.
    """
    X = design.standard
    _, singular, right = np.linalg.svd(np.linalg.qr(X, mode="r"), full_matrices=False)
    noise = np.sqrt(len(X)) * np.abs(right) @ design.rounding
    kept = singular > np.maximum(max(X.shape) * EPSILON * singular.max(initial=0.0), noise)
    return np.asarray(right[kept].T * (np.sqrt(len(X)) / singular[kept]))
