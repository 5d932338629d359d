"""Ridge: least squares with a penalty on the squared size of the coefficients.

Formula:
    Minimise Σ (y_i − b − w·x_i)² + l2·‖w‖², so w = (XᵀX + l2·I)⁻¹ Xᵀ(y − ȳ) on centred columns X.

Assumes:
    The target is linear in the columns. The penalty depends on units, so columns are best standardised first.

Cost:
    n·p² + p³ to fit (n²·p with more columns than rows), p per row to predict.

Choices:
    The notes write RSS / (2σ²) + α/2·‖w‖² for the most probable w (MAP) under a normal prior of precision α; times
    2σ² that is the formula above with l2 = α·σ². The findings say σ, the likeliest (σ² = RSS / n), and the α that
    l2 then is. The sum of squares is not divided by n, and the intercept is not penalised. l2 = 0 is least
    squares. A weight counts a row that many times.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import LeaveOneOut
from mlcli.core.model import Step
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.models.linear._regression import LinearValues, least_squares, least_squares_without_each_row
from mlcli.tasks.supervised import Regressor, ValuedRows


@register("ridge", reference="Hoerl & Kennard 1970")
class Ridge(LinearValues, Regressor, LeaveOneOut):
    """Penalised least squares in closed form."""

    l2: float = param(
        1.0,
        "L2 penalty: the cost of squared coefficients, in squared error",
        ge=0,
        tune=log_range(1e-3, 1e4, simpler="high"),
    )

    noise_: float = learned()
    """σ² of the notes: the mean squared residual of the training rows."""

    accepts = Accepts(weights=True, large=True, prefers_scaled=True)

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Solve the penalised normal equations."""
        data = data.counted()
        fit = least_squares(data, self.l2, self.intercept)
        self.coefficients_, self.centre_, self.level_ = fit.coefficients, fit.centre, fit.level
        self.noise_ = float(np.average((data.y - self.predict_values(data.table)) ** 2, weights=data.weights))

    def leave_one_out(self, rows: ValuedRows, steps: Sequence[Step]) -> Array | None:
        """The value of each row by the ridge of all others."""
        return least_squares_without_each_row(rows, steps, self.l2) if self.intercept else None

    def adjustable_parameters(self, table: Table) -> float | None:
        """The effective degrees of freedom: Σ d² / (d² + l2) over the singular values d of the columns."""
        spread = np.linalg.svd(table.numbers - self.centre_, compute_uv=False) ** 2
        return float((spread[spread > 0] / (spread[spread > 0] + self.l2)).sum()) + self.intercept

    def explain(self) -> findings.Explanation:
        """The coefficients, and the prior under which they are the most probable ones."""
        precision = self.l2 / self.noise_ if self.noise_ > 0 else np.inf
        prior = (("noise σ", np.sqrt(self.noise_)), ("prior precision α = l2/σ²", precision))
        note = "These are the most probable coefficients where each has a normal prior around 0 of variance 1/α."
        return (
            self.coefficient_table(f"Shrunk towards 0 by l2 = {self.l2:g}; the intercept is not."),
            findings.Table("Penalty as a prior (MAP)", ("what", "value"), prior, note=note),
        )
