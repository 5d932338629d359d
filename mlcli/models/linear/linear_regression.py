"""Linear regression: the weighted sum of the columns with the least squared error.

Formula:
    ŷ = b + w·x with w = X⁺(y − ȳ), X the centred columns and X⁺ their pseudo-inverse: (XᵀX)⁻¹Xᵀ at full rank.
    Noise variance σ² = RSS / N (maximum likelihood). Standard errors use RSS / (N − p), p counting the intercept:
    se(w_j) = √(RSS / (N − p) · (XᵀX)⁻¹_jj), t = w_j / se, intervals from Student's t with N − p degrees of
    freedom.

Assumes:
    The target is linear in the columns, with independent noise of one variance; the intervals also want the noise
    normal. Collinear columns (one-hot columns of one source are) share their effect: predictions are sound, but
    single coefficients say nothing then, and no standard errors are shown.

Cost:
    n·p² + p³ to fit, p per row to predict. Cholesky's factors of the correlations with one correction where these
    are well conditioned, else QR and singular values.

Choices:
    Decision 54: the variance is RSS / N; a step of the notes drops a factor ½ on the way to it. What is collinear
    is decided on columns of unit norm, so units do not matter, and a column that differs from others only by the
    rounding of its cells counts as collinear. A weight counts a row that many times: N is the sum of weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.findings import Cell, Explanation
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.learn_from_sums import held_out_values
from mlcli.engines.least_squares import CarefulPlane, Plane, careful_plane, plane_by_sums, plane_from
from mlcli.engines.linear_scores import check_shapes, linear_scores, terms
from mlcli.engines.training_sums import TrainingSums
from mlcli.metrics.distributions import student_t_quantile, student_t_tail
from mlcli.tasks.regression import Regressor, ValuedRows

CONFIDENCE = 0.95
NAMED = 12
"""Of more columns than this, a note names the first ones only."""
INVOLVED = 1e-6
"""The part a column plays in a direction of collinearity from which it is named."""


@register("linear-regression", reference="Hastie, Tibshirani & Friedman 2009, section 3.2")
@dataclass(kw_only=True, eq=False)
class LinearRegression(Regressor):
    """Least squares by the pseudo-inverse."""

    intercept: bool = param(True, "whether the answer at the origin is free; without it, it is 0")

    coefficients_: Array = learned()
    centre_: Array = learned()
    level_: float = learned()
    standard_errors_: Array = learned()
    """Of the intercept, then of each coefficient; NaN where there is none."""
    residual_sum_: float = learned()
    total_: float = learned()
    rank_: int = learned()
    constant_: Flags = learned()
    collinear_: Flags = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers and weights; least squares does not depend on their scale."""
        return Accepts(weights=True)

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Find the nearest plane, and how precisely the rows determine it."""
        data = data.counted()
        self.total_ = float(data.weights.sum())
        plane = plane_by_sums(data, 0.0) if self.intercept else None
        if plane is None:
            self._fit_carefully(data)
            return
        self.centre_, self.level_, self.coefficients_ = plane.centre, float(plane.level), plane.slopes
        self.residual_sum_ = float(data.weights @ (data.y - self.predict_values(data.table)) ** 2)
        self.constant_ = self.collinear_ = np.zeros(len(plane.slopes), bool)
        self.rank_ = len(plane.slopes) + 1
        self._learn_precision(plane.inverse)

    def _fit_carefully(self, data: ValuedRows) -> None:
        """The same where columns may be collinear, constant, or more than the rows can tell apart."""
        plane = careful_plane(data, 0.0, self.intercept)
        self.centre_, self.level_ = plane.design.centre, plane.level
        self.coefficients_ = plane.design.coefficients(plane.slopes)
        self.residual_sum_ = float(plane.residuals @ plane.residuals)
        self.constant_, self.collinear_ = ~plane.design.varying, _collinear(plane)
        self.rank_ = len(plane.slopes) - plane.undetermined.shape[1] + int(self.intercept)
        self._learn_precision(plane.inverse if plane.design.basis is None else None)

    def _learn_precision(self, inverse: Array | None) -> None:
        """Standard errors of what the rows determine, by the inverse for columns that vary; NaN elsewhere."""
        varying, freedom = ~self.constant_, self.total_ - self.rank_
        variance = self.residual_sum_ / freedom if freedom > 0 else np.nan
        errors = np.full(len(varying) + 1, np.nan)
        if inverse is not None:
            centre = self.centre_[varying]
            errors[1:][varying] = np.sqrt(variance * inverse.diagonal())
            errors[0] = np.sqrt(variance * (1 / self.total_ + centre @ inverse @ centre))
        errors[1:][self.collinear_] = np.nan
        errors[0] = np.nan if self.collinear_.any() or not self.intercept else errors[0]
        self.standard_errors_ = errors

    def learn_from(self, sums: TrainingSums) -> Plane:
        """The plane that is nearest to rows with such sums."""
        return plane_from(sums, 0.0)

    def held_out(self, data: ValuedRows, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """The values of all rows, each by sums of the rows outside its part."""
        return held_out_values(self, data, round_, steps) if self.intercept else None

    def predict_values(self, table: Table) -> Array:
        """The weighted sum of the columns."""
        return linear_scores(table.numbers, self.centre_, self.coefficients_, self.level_, abs(self.level_))

    def check_learned(self) -> None:
        """Refuse arrays that do not fit the columns."""
        check_shapes(self.columns_, self.coefficients_, self.centre_, self.constant_, self.collinear_)
        check_shapes(self.columns_, self.standard_errors_[1:])

    def explain(self) -> Explanation:
        """Coefficients with their precision, and the noise."""
        coefficients = findings.Table(
            "Coefficients",
            header=("column", "coefficient", "standard error", "t", "p", "2.5 %", "97.5 %"),
            rows=tuple(self._coefficient_rows()),
            note=" ".join(self._notes()),
        )
        return coefficients, findings.Table("Noise", ("what", "value"), self._noise_rows())

    def _coefficient_rows(self) -> Iterator[tuple[Cell, ...]]:
        named = terms(self.columns_, self.coefficients_, self.centre_, self.level_, self.intercept)
        errors = self.standard_errors_[0 if self.intercept else 1 :]
        for (name, value), error in zip(named, errors, strict=True):
            yield (name, float(value), *_precision(float(value), float(error), self.total_ - self.rank_))

    def _noise_rows(self) -> tuple[tuple[Cell, ...], ...]:
        freedom = self.total_ - self.rank_
        return (
            ("variance, maximum likelihood RSS / N", self.residual_sum_ / self.total_),
            ("variance, unbiased RSS / (N − p)", self.residual_sum_ / freedom if freedom > 0 else None),
            ("rows (sum of weights) N", self.total_),
            ("parameters determined by the rows p", self.rank_),
        )

    def _notes(self) -> Iterator[str]:
        collinear, constant = _names(self.columns_, self.collinear_), _names(self.columns_, self.constant_)
        if collinear:
            yield (
                f"Collinear, or nearly so: {collinear}. The rows determine only the joint effect of these "
                "columns; the coefficients of least norm are shown, without standard errors."
            )
        if constant:
            yield f"Constant in the training rows, so without effect: {constant}."


def _collinear(plane: CarefulPlane) -> Flags:
    """Which columns of the table take part in a direction that the rows do not determine."""
    collinear = np.zeros(len(plane.design.varying), bool)
    share = np.abs(plane.undetermined).max(axis=1, initial=0.0)
    collinear[plane.design.varying] = True if plane.design.basis is not None else share > INVOLVED
    return collinear


def _precision(value: float, error: float, freedom: float) -> tuple[Cell, ...]:
    """Standard error, t, two-sided p and the interval; nothing where there is no error to speak of."""
    if not error > 0:
        return (None,) * 5
    t = value / error
    reach = error * student_t_quantile((1 + CONFIDENCE) / 2, freedom)
    return error, t, 2 * student_t_tail(abs(t), freedom), value - reach, value + reach


def _names(columns: Sequence[Column], chosen: Flags) -> str:
    """The chosen columns in words; of many, the first ones and how many more."""
    names = [column.name for column, named in zip(columns, chosen, strict=True) if named]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
