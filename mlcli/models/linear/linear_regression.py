"""Linear regression: the weighted sum of the columns with the least squared error.

Formula:
    ŷ = b + w·x with w = X⁺(y − ȳ), X the centred columns and X⁺ their pseudo-inverse: (XᵀX)⁻¹Xᵀ at full rank
    (one-step learning). Noise variance σ² = RSS / N (maximum likelihood). Standard errors use RSS / (N − p), p
    counting the intercept: se(w_j) = √(RSS / (N − p) · (XᵀX)⁻¹_jj), t = w_j / se, intervals from Student's t with
    N − p degrees of freedom.

Assumes:
    The target is linear in the columns, with independent noise of one variance; the intervals also want the noise
    normal. Collinear columns (one-hot columns of one source are) share their effect: predictions are sound, but
    single coefficients say nothing then, and no standard errors are shown.

Cost:
    n·p² + p³ to fit, p per row to predict. Cholesky's factors of the correlations with one correction where these
    are well conditioned, else QR and singular values.

Choices:
    The variance is RSS / N; a step of the notes drops a factor ½ on the way to it. What is collinear is decided on
    columns of unit norm, so units do not matter, and a column that differs from others only by the rounding of its
    cells counts as collinear. A weight counts a row that many times: N is the sum of weights. The checks are
    linearity, independence, one variance and normal residuals, each with a test, and how much other columns
    inflate the variance of a coefficient. Descent ends at the same plane, with the same errors and checks; without
    them where it stops before. Its gradient is of half the mean squared error, in columns and a target of mean 0
    and variance 1; so is ``learning_rate``, by which the notes multiply the gradient.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core import ROUNDING, findings
from mlcli.core.abilities import LeaveOneOut
from mlcli.core.errors import MlcliWarning
from mlcli.core.model import Step
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Flags
from mlcli.engines.linear_objective import LinearObjective, Penalty, Squared
from mlcli.engines.linear_scores import terms
from mlcli.engines.solvers import DESCENTS, complaint
from mlcli.metrics.intervals import f_tail
from mlcli.models.linear._design import Design, wald_test
from mlcli.models.linear._regression import (
    LeastSquares,
    LinearValues,
    least_squares,
    least_squares_without_each_row,
)
from mlcli.tasks.supervised import Regressor, ValuedRows

NAMED = 12
"""If a note or picture would name more columns than this, it names the first ones only."""


@register("linear-regression", reference="Hastie, Tibshirani & Friedman 2009, section 3.2", revision=3)
class LinearRegression(LinearValues, Regressor, LeaveOneOut):
    """Least squares by the pseudo-inverse."""

    solver: str = param("closed-form", "the solver", choices=("closed-form", *DESCENTS))
    checks: bool = param(True, "whether the assumptions are checked on the training rows", changes_answers=False)
    learning_rate: float | None = param(
        None,
        "the learning rate η of descent: what the gradient is multiplied by; none: safe steps, with momentum",
        gt=0,
        matters_when={"solver": ("gradient-descent", "sgd")},
        if_given=True,
    )
    tolerance: float = param(
        1e-8,
        "the gradient per row at which descent stops, in standard units",
        gt=0,
        matters_when={"solver": ("gradient-descent", "sgd")},
    )
    max_iterations: int = param(
        10_000,
        "how many steps of descent, or passes, at most",
        ge=1,
        matters_when={"solver": ("gradient-descent", "sgd")},
    )

    standard_errors_: Array = learned("terms")
    """Of the intercept, then of each coefficient; NaN where there is none."""
    residual_sum_: float = learned()
    total_: float = learned()
    rank_: int = learned()
    checks_: Array = learned()
    """For each of CHECKS its statistic and p; NaN where it says nothing."""
    inflation_: Array = learned("columns")
    """How many times other columns make the variance of each coefficient larger."""
    constant_: Flags = learned("columns")
    collinear_: Flags = learned("columns")

    accepts = Accepts(weights=True, large=True)

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Find the nearest plane, and how precisely the rows determine it."""
        data = data.counted()
        self.total_ = float(data.weights.sum())
        fit = least_squares(data, 0.0, self.intercept)
        if self.solver != "closed-form":
            # What the rows determine, and how precisely, does not depend on the solver.
            fit = self._descend(data, fit)
        self.coefficients_, self.centre_, self.level_ = fit.coefficients, fit.centre, fit.level
        self.constant_, self.collinear_, self.rank_ = fit.constant, fit.collinear, fit.rank
        self._learn_precision(data, fit)

    def _descend(self, data: ValuedRows, fit: LeastSquares) -> LeastSquares:
        """The coefficients by gradient descent on half the mean squared error, in standard columns and target."""
        design = Design.of(data, self.intercept)
        mean = design.mean(data.y) if self.intercept else 0.0
        deviation = np.sqrt(design.mean((data.y - mean) ** 2)) or 1.0
        loss = Squared((data.y - mean)[None] / deviation, data.weights / design.total)
        penalty = Penalty.of(0.0, 0.0, design.scale, design.total)
        objective = LinearObjective(design.standard, loss, penalty, np.eye(1), self.intercept)
        minimum = DESCENTS[self.solver](
            objective, objective.start, self.tolerance, self.max_iterations, self.learning_rate
        )
        if unfinished := complaint([minimum], self.tolerance):
            advice = "the solver closed-form, a larger max_iterations, or another learning_rate if you gave one"
            warnings.warn(f"{self.id} {unfinished}; {advice}, would help", MlcliWarning, stacklevel=2)
        w = deviation * minimum.at.w[0]
        return replace(
            fit,
            coefficients=design.coefficients(w[:-1] / design.scale),
            centre=design.centre,
            level=mean + float(w[-1]),
            inverse=fit.inverse if minimum.converged else None,
        )

    def _learn_precision(self, data: ValuedRows, fit: LeastSquares) -> None:
        """Standard errors, inflation and checks; NaN for what the rows do not determine."""
        predictions = self.predict_values(data.table)
        residuals = data.y - predictions
        self.residual_sum_ = float(data.weights @ residuals**2)
        varying, freedom = ~self.constant_, self.total_ - self.rank_
        variance = self.residual_sum_ / freedom if freedom > 0 else np.nan
        errors = np.full(len(varying) + 1, np.nan)
        self.checks_, self.inflation_ = np.full((len(CHECKS), 2), np.nan), np.full(len(varying), np.nan)
        if fit.inverse is not None:
            centre, diagonal = self.centre_[varying], fit.inverse.diagonal()
            errors[1:][varying] = np.sqrt(variance * diagonal)
            errors[0] = np.sqrt(variance * (1 / self.total_ + centre @ fit.inverse @ centre))
            if self.intercept:
                self.inflation_[varying] = diagonal * fit.squares
            if self.intercept and self.checks:
                columns = data.table.numbers if varying.all() else data.table.numbers[:, varying]
                remains = Residuals(columns, centre, fit.inverse, data.weights, residuals, predictions, self.rank_)
                self.checks_ = remains.checks()
        errors[1:][self.collinear_] = self.inflation_[self.collinear_] = np.nan
        if self.collinear_.any() or not self.intercept:
            errors[0] = np.nan
        self.standard_errors_ = errors

    def leave_one_out(self, rows: ValuedRows, steps: Sequence[Step]) -> Array | None:
        """The value of each row by the least squares of all others."""
        if self.solver != "closed-form" or not self.intercept:
            return None
        return least_squares_without_each_row(rows, steps, 0.0)

    def check_learned(self) -> None:
        """A standard error for each column and the intercept."""
        if len(self.standard_errors_) != len(self.columns_) + 1:
            raise ValueError("standard errors that do not fit the columns")

    def explain(self) -> findings.Explanation:
        """Coefficients with their precision, the noise, and the checks of what is assumed."""
        explanation = self._coefficients_with_errors(), self._residual_variance()
        if np.isnan(self.checks_).all():
            return explanation
        worst = [j for j in np.argsort(-self.inflation_, kind="stable") if not np.isnan(self.inflation_[j])][
            :NAMED
        ]
        inflation = findings.Bars(
            "Variance inflation factors",
            ("column", "VIF"),
            labels=tuple(self.columns_[j].name for j in worst),
            values=tuple(float(self.inflation_[j]) for j in worst),
            note="How many times collinearity makes the variance of the coefficient larger; "
            "above 10: nearly collinear.",
        )
        return *explanation, table_of_checks(self.checks_), inflation

    def _coefficients_with_errors(self) -> findings.Table:
        named = terms(self.columns_, self.coefficients_, self.centre_, self.level_, self.intercept)
        errors = self.standard_errors_[0 if self.intercept else 1 :]
        rows = list[tuple[findings.Entry, ...]]()
        for (name, value), error in zip(named, errors.tolist(), strict=True):
            precision: tuple[findings.Entry, ...] = (None,) * 5
            if error > 0:
                precision = error, *wald_test(float(value), error, self.total_ - self.rank_)
            rows.append((name, float(value), *precision))
        notes = list[str]()
        by_descent = self.solver != "closed-form"
        if collinear := self._names(self.collinear_):
            shown = f"the coefficients {'where descent ended' if by_descent else 'of least norm'} are shown"
            notes.append(
                f"Collinear, or nearly so: {collinear}. The rows determine only the joint effect of these "
                f"columns; {shown}, without standard errors. Of levels, "
                "one-hot with drop: first leaves one out."
            )
        elif by_descent and np.isnan(self.standard_errors_).all():
            notes.append(
                "No standard errors and no checks: descent stopped before it arrived, or rows are too few."
            )
        if constant := self._names(self.constant_):
            notes.append(f"Constant in the training rows, so without effect: {constant}.")
        header = ("column", "coefficient", "standard error", "t", "p", "2.5 %", "97.5 %")
        return findings.Table("Coefficients", header, tuple(rows), note=" ".join(notes), code="coefficients")

    def _residual_variance(self) -> findings.Table:
        freedom, variance = self.total_ - self.rank_, self.residual_sum_ / self.total_
        likelihood = -self.total_ / 2 * (math.log(2 * math.pi * variance) + 1) if variance > 0 else None
        rows = (
            ("variance, maximum likelihood RSS / N", variance),
            ("variance, unbiased RSS / (N − p)", self.residual_sum_ / freedom if freedom > 0 else None),
            ("log-likelihood −N/2 · (ln 2πσ² + 1)", likelihood),
            ("rows (sum of weights) N", self.total_),
            ("parameters determined by the rows p", self.rank_),
        )
        return findings.Table("Residual variance", ("what", "value"), rows)

    def _names(self, flags: Flags) -> str:
        """The flagged columns in words; of many, the first ones and how many more."""
        names = [column.name for column, flag in zip(self.columns_, flags, strict=True) if flag]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return ", ".join(names[:NAMED]) + more


CHECKS = {
    "linearity": ("RESET (Ramsey)", "no sign of non-linearity", "powers of the predictions say more: not linear"),
    "independence": (
        "Durbin-Watson", "no sign of autocorrelation", "residuals of consecutive rows are correlated"
    ),
    "equal variance": (
        "Breusch-Pagan (Koenker)", "no sign of heteroscedasticity", "heteroscedastic: intervals are off"
    ),
    "normal residuals": ("Jarque-Bera", "no sign of non-normality", "not normal: intervals of few rows are off"),
}  # fmt: skip
"""What is assumed: its test, and how to read a p that is not small, or small."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """What a plane with an intercept leaves of its training rows."""

    columns: Array
    centre: Array
    inverse: Array
    """That of the scatter of the columns."""
    weights: Array
    residuals: Array
    predictions: Array
    rank: int
    """The parameters that the rows determine, with the intercept."""

    def checks(self) -> Array:
        """For each of CHECKS its statistic and p (checks × 2); NaN where it says nothing."""
        total = float(self.weights.sum())
        mean_square = float(self.weights @ self.residuals**2) / total
        spread = float(np.var(self.predictions) + np.mean(self.residuals**2))
        # Residuals of 1e-13 of the predictions are rounding, however little these differ.
        rounding = ROUNDING * spread + (1e-13 * float(np.abs(self.predictions).max())) ** 2
        if mean_square * total <= rounding * total or total - self.rank <= len(CHECKS):
            return np.full((len(CHECKS), 2), np.nan)
        return np.array(
            [
                self._reset(total),
                self._durbin_watson(),
                self._breusch_pagan(total, mean_square),
                self._jarque_bera(total, mean_square),
            ]
        )

    def _reset(self, total: float) -> tuple[float, float]:
        """Whether the square and the cube of the predictions explain residuals, by an F test."""
        mean = float(self.weights @ self.predictions) / total
        deviation = math.sqrt(float(self.weights @ (self.predictions - mean) ** 2) / total)
        if deviation == 0:
            return math.nan, math.nan
        unit = (self.predictions - mean) / deviation
        powers = np.stack([unit**2, unit * unit * unit])
        powers -= (powers @ self.weights / total)[:, None]
        weighted = powers * self.weights
        products = weighted @ self.columns - weighted.sum(axis=1)[:, None] * self.centre
        scatter = weighted @ powers.T - products @ self.inverse @ products.T  # what the columns do not explain
        if np.linalg.det(scatter) <= ROUNDING * scatter[0, 0] * scatter[1, 1]:
            return math.nan, math.nan
        cross = weighted @ self.residuals
        explained = float(cross @ np.linalg.solve(scatter, cross))
        squares = float(self.weights @ self.residuals**2)
        freedom = total - self.rank - 2
        return _f_test(explained / 2, max(squares - explained, 0.0) / freedom, 2, freedom)

    def _durbin_watson(self) -> tuple[float, float]:
        steps = np.diff(self.residuals)
        statistic = float(steps @ steps) / float(self.residuals @ self.residuals)
        z = (1 - statistic / 2) * math.sqrt(len(self.residuals))
        return statistic, math.erfc(abs(z) / math.sqrt(2))

    def _breusch_pagan(self, total: float, mean_square: float) -> tuple[float, float]:
        """Whether the columns explain squared residuals, by an F test."""
        squares = self.residuals**2 - mean_square
        weighted = self.weights * squares
        products = weighted @ self.columns - weighted.sum() * self.centre
        explained, whole = float(products @ self.inverse @ products), float(weighted @ squares)
        columns, freedom = self.rank - 1, total - self.rank
        if columns == 0 or whole <= 0:
            return math.nan, math.nan
        return _f_test(explained / columns, max(whole - explained, 0.0) / freedom, columns, freedom)

    def _jarque_bera(self, total: float, mean_square: float) -> tuple[float, float]:
        unit = self.residuals / math.sqrt(mean_square)
        skewness = float(self.weights @ (unit * unit * unit)) / total
        kurtosis = float(self.weights @ (unit * unit) ** 2) / total
        statistic = total / 6 * (skewness**2 + (kurtosis - 3) ** 2 / 4)
        return statistic, math.exp(-statistic / 2)


def _f_test(explained: float, left: float, first: float, second: float) -> tuple[float, float]:
    """The ratio of two mean squares and its p."""
    if left <= 0:
        return math.inf, 0.0
    ratio = explained / left
    return ratio, f_tail(ratio, first, second)


def table_of_checks(checks: Array) -> findings.Table:
    """Each check that says something, and how to read it."""
    rows = tuple(
        (name, test, statistic, p, doubtful if p < 0.05 else fine)
        for (name, (test, fine, doubtful)), (statistic, p) in zip(CHECKS.items(), checks.tolist(), strict=True)
        if not math.isnan(p)
    )
    note = "Of training rows in their order; a p below 0.05 speaks against the assumption."
    return findings.Table("Assumptions", ("assumption", "test", "statistic", "p", "reading"), rows, note=note)
