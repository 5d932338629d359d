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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import LeaveOneOut
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags
from mlcli.engines.leave_one_out.least_squares import least_squares_without_each_row
from mlcli.engines.linear_objective import LinearObjective, Penalty, complaint
from mlcli.engines.linear_scores import terms
from mlcli.engines.losses import Squared
from mlcli.engines.solvers.gradient_descent import DESCENTS
from mlcli.metrics.distributions import f_tail
from mlcli.models.linear._design import Design, LinearValues, wald_test
from mlcli.models.linear._least_squares import LeastSquares, least_squares
from mlcli.tasks.regression import Regressor, ValuedRows

OF_INFLATION = (
    "How many times collinearity makes the variance of the coefficient larger; above 10: nearly collinear."
)
NAMED = 12
"""Of more columns than this, a note names the first ones only."""


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
        by_descent = self.solver != "closed-form"
        fit = self._by_descent(data) if by_descent else least_squares(data, 0.0, self.intercept)
        self.coefficients_, self.centre_, self.level_ = fit.coefficients, fit.centre, fit.level
        self.constant_, self.collinear_, self.rank_ = fit.constant, fit.collinear, fit.rank
        self._learn_precision(data, fit)

    def _by_descent(self, data: ValuedRows) -> LeastSquares:
        """The same by gradient descent on half the mean squared error, in standard columns and deviations.

        What the rows determine, and how precisely, does not depend on the solver.
        """
        design = Design.of(data, self.intercept)
        middle = design.mean(data.y) if self.intercept else 0.0
        unit = np.sqrt(design.mean((data.y - middle) ** 2)) or 1.0
        loss = Squared((data.y - middle)[None] / unit, data.weights / design.total)
        penalty = Penalty.of(0.0, 0.0, design.scale, design.total)
        objective = LinearObjective(design.standard, loss, penalty, np.eye(1), self.intercept)
        limits = self.tolerance, self.max_iterations, self.learning_rate
        found = DESCENTS[self.solver](objective, objective.start, *limits)
        if unfinished := complaint([found], self.tolerance):
            others = "the solver closed-form, a larger max_iterations, or another learning_rate if you gave one"
            text = f"{self.id} {unfinished}; {others}, would help"
            warnings.warn(text, MlcliWarning, stacklevel=2)
        w = unit * found.at.w[0]
        fit = least_squares(data, 0.0, self.intercept)
        return replace(
            fit,
            coefficients=design.coefficients(w[:-1] / design.scale),
            centre=design.centre,
            level=middle + float(w[-1]),
            inverse=fit.inverse if found.converged else None,
        )

    def _learn_precision(self, data: ValuedRows, fit: LeastSquares) -> None:
        """Standard errors of what the rows determine, by the inverse for columns that vary; NaN elsewhere."""
        inverse = fit.inverse
        answers = self.predict_values(data.table)
        residual = data.y - answers
        self.residual_sum_ = float(data.weights @ residual**2)
        varying, freedom = ~self.constant_, self.total_ - self.rank_
        variance = self.residual_sum_ / freedom if freedom > 0 else np.nan
        errors = np.full(len(varying) + 1, np.nan)
        self.checks_, self.inflation_ = np.full((len(CHECKS), 2), np.nan), np.full(len(varying), np.nan)
        if inverse is not None:
            centre = self.centre_[varying]
            errors[1:][varying] = np.sqrt(variance * inverse.diagonal())
            errors[0] = np.sqrt(variance * (1 / self.total_ + centre @ inverse @ centre))
        if inverse is not None and self.intercept:
            columns = data.table.numbers if varying.all() else data.table.numbers[:, varying]
            if self.checks:
                known = Residuals(columns, centre, inverse, data.weights, residual, answers, self.rank_)
                self.checks_ = known.checks()
            self.inflation_[varying] = inverse.diagonal() * fit.squares
        errors[1:][self.collinear_] = self.inflation_[self.collinear_] = np.nan
        errors[0] = np.nan if self.collinear_.any() or not self.intercept else errors[0]
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
        coefficients = findings.Table(
            "Coefficients",
            header=("column", "coefficient", "standard error", "t", "p", "2.5 %", "97.5 %"),
            rows=tuple(self._coefficient_rows()),
            note=" ".join(self._notes()),
            code="coefficients",
        )
        noise = findings.Table("Residual variance", ("what", "value"), self._noise_rows())
        if np.isnan(self.checks_).all():
            return coefficients, noise
        checks = table_of_checks(self.checks_)
        return coefficients, noise, checks, self._inflation()

    def _inflation(self) -> findings.Bars:
        """The columns whose coefficients others make uncertain, the worst first."""
        known = [
            j for j in np.argsort(-self.inflation_, kind="stable").tolist() if not np.isnan(self.inflation_[j])
        ]
        labels = tuple(self.columns_[j].name for j in known[:NAMED])
        values = tuple(float(self.inflation_[j]) for j in known[:NAMED])
        return findings.Bars("Variance inflation factors", ("column", "VIF"), labels, values, note=OF_INFLATION)

    def _coefficient_rows(self) -> Iterator[tuple[findings.Entry, ...]]:
        named = terms(self.columns_, self.coefficients_, self.centre_, self.level_, self.intercept)
        errors = self.standard_errors_[0 if self.intercept else 1 :]
        for (name, value), error in zip(named, errors, strict=True):
            precision: tuple[findings.Entry, ...] = (None,) * 5
            if error > 0:
                precision = float(error), *wald_test(float(value), float(error), self.total_ - self.rank_)
            yield (name, float(value), *precision)

    def _noise_rows(self) -> tuple[tuple[findings.Entry, ...], ...]:
        freedom = self.total_ - self.rank_
        return (
            ("variance, maximum likelihood RSS / N", self.residual_sum_ / self.total_),
            ("variance, unbiased RSS / (N − p)", self.residual_sum_ / freedom if freedom > 0 else None),
            ("log-likelihood −N/2 · (ln 2πσ² + 1)", self._log_likelihood()),
            ("rows (sum of weights) N", self.total_),
            ("parameters determined by the rows p", self.rank_),
        )

    def _log_likelihood(self) -> float | None:
        """That of the training rows under the likeliest coefficients and noise; none where nothing is left."""
        variance = self.residual_sum_ / self.total_
        return -self.total_ / 2 * (math.log(2 * math.pi * variance) + 1) if variance > 0 else None

    def _notes(self) -> Iterator[str]:
        collinear, constant = _names(self.columns_, self.collinear_), _names(self.columns_, self.constant_)
        if collinear:
            of_least_norm = self.solver == "closed-form"
            shown = f"the coefficients {'of least norm' if of_least_norm else 'where descent ended'} are shown"
            yield (
                f"Collinear, or nearly so: {collinear}. The rows determine only the joint effect of these "
                f"columns; {shown}, without standard errors. Of levels, "
                "one-hot with drop: first leaves one out."
            )
        if self.solver != "closed-form" and np.isnan(self.standard_errors_).all() and not collinear:
            yield "No standard errors and no checks: descent stopped before it arrived, or rows are too few."
        if constant:
            yield f"Constant in the training rows, so without effect: {constant}."


def _names(columns: Sequence[Column], chosen: Flags) -> str:
    """The chosen columns in words; of many, the first ones and how many more."""
    names = [column.name for column, named in zip(columns, chosen, strict=True) if named]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


DOUBTFUL = 0.05
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
OF_CHECKS = "Of training rows in their order; a p below 0.05 speaks against the assumption."
NOTHING = 1e-12
"""Squares of so small a share of those around the mean are rounding."""
ROUNDING = 1e-13
"""Residuals of so small a share of the answers are rounding, however little these differ."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """What a plane with an intercept leaves of its training rows."""

    numbers: Array
    centre: Array
    inverse: Array
    """That of the scatter of the columns."""
    weights: Array
    residual: Array
    answers: Array
    rank: int
    """The parameters that the rows determine, with the intercept."""

    def checks(self) -> Array:
        """For each check its statistic and how probable one so large is if it holds; NaN where it says nothing."""
        total = float(self.weights.sum())
        squares = float(self.weights @ self.residual**2)
        spread = float(np.var(self.answers) + np.mean(self.residual**2))
        rounding = NOTHING * spread + (ROUNDING * float(np.abs(self.answers).max())) ** 2
        if squares <= rounding * total or total - self.rank <= len(CHECKS):
            return np.full((len(CHECKS), 2), np.nan)
        results = (
            self._linearity(total),
            self._independence(total),
            self._variance(total),
            self._normality(total),
        )
        return np.array(results)

    def _linearity(self, total: float) -> tuple[float, float]:
        middle = float(self.weights @ self.answers) / total
        spread = math.sqrt(float(self.weights @ (self.answers - middle) ** 2) / total)
        if spread == 0:
            return math.nan, math.nan
        unit = (self.answers - middle) / spread
        square = unit * unit
        z = np.stack([square, square * unit])
        z -= (z @ self.weights / total)[:, None]
        weighted = z * self.weights
        toward = weighted @ self.numbers - weighted.sum(axis=1)[:, None] * self.centre
        left = weighted @ z.T - toward @ self.inverse @ toward.T
        cross = weighted @ self.residual
        if np.linalg.det(left) <= NOTHING * left[0, 0] * left[1, 1]:
            return math.nan, math.nan
        gained = float(cross @ np.linalg.solve(left, cross))
        squares = float(self.weights @ self.residual**2)
        freedom = total - self.rank - 2
        return _f_test(gained / 2, max(squares - gained, 0.0) / freedom, 2, freedom)

    def _independence(self, total: float) -> tuple[float, float]:
        steps = self.residual[1:] - self.residual[:-1]
        statistic = float(steps @ steps) / float(self.residual @ self.residual)
        alike = (1 - statistic / 2) * math.sqrt(len(self.residual))
        return statistic, math.erfc(abs(alike) / math.sqrt(2))

    def _variance(self, total: float) -> tuple[float, float]:
        squares = self.residual**2 - float(self.weights @ self.residual**2) / total
        weighted = self.weights * squares
        toward = weighted @ self.numbers - weighted.sum() * self.centre
        explained, whole = float(toward @ self.inverse @ toward), float(weighted @ squares)
        columns, freedom = self.rank - 1, total - self.rank
        if columns == 0 or whole <= 0:
            return math.nan, math.nan
        return _f_test(explained / columns, max(whole - explained, 0.0) / freedom, columns, freedom)

    def _normality(self, total: float) -> tuple[float, float]:
        unit = self.residual / math.sqrt(float(self.weights @ self.residual**2) / total)
        square = unit * unit
        skewness, kurtosis = (float(self.weights @ (square * values)) / total for values in (unit, square))
        statistic = total / 6 * (skewness**2 + (kurtosis - 3) ** 2 / 4)
        return statistic, math.exp(-statistic / 2)


def _f_test(explained: float, left: float, first: float, second: float) -> tuple[float, float]:
    """The ratio of two mean squares, and how probable one so large is."""
    if left <= 0:
        return math.inf, 0.0
    ratio = explained / left
    return ratio, f_tail(ratio, first, second)


def table_of_checks(checks: Array) -> findings.Table:
    """Each check that says something, and how to read it."""
    rows = tuple(
        (name, test, statistic, p, doubtful if p < DOUBTFUL else fine)
        for (name, (test, fine, doubtful)), (statistic, p) in zip(CHECKS.items(), checks.tolist(), strict=True)
        if not math.isnan(p)
    )
    return findings.Table("Assumptions", ("assumption", "test", "statistic", "p", "reading"), rows, note=OF_CHECKS)
