"""Checks of what least squares assumes, on the residuals of its training rows.

Linearity by Ramsey's RESET (do powers of the answers explain what is left?), independence by Durbin and Watson (do
rows that follow each other err alike?), one variance by Breusch and Pagan, studentised by Koenker (do the columns
explain the squares of what is left?), normality by Jarque and Bera (skewness and kurtosis).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import Array
from mlcli.metrics.distributions import f_tail

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
        found = (self._linearity(total), self._independence(total), self._variance(total), self._normality(total))
        return np.array(found)

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
        skewness, kurtosis = (float(self.weights @ (square * one)) / total for one in (unit, square))
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
