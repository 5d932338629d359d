"""Chi-square: keeps the columns with the strongest evidence against independence from the target.

Formula:
    χ² = Σ (O − E)² / E over the contingency table of levels and classes, with E = n P(level) P(class). The score
    is −log₁₀ p, with p from the χ² distribution with (levels − 1)(classes − 1) degrees of freedom, so that columns
    with many levels and columns with few can be compared.

Assumes:
    About five expected rows in most cells of the table, and independent rows.

Cost:
    One pass per column; a sort for numeric columns.

Choices:
    Numeric columns and numeric targets are cut into `bins` of equal weight. A missing value is a level of its own;
    levels without rows are not counted. Weights count as numbers of rows.
"""

from __future__ import annotations

from math import log
from typing import ClassVar

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.prepare._selecting import LevelFilter
from mlcli.tasks.supervised import SupervisedRows


@register("chi-square", reference="Pearson 1900; Liu & Setiono 1995, Chi2")
class ChiSquare(LevelFilter):
    """Select columns by a test of independence from the target."""

    measure: ClassVar[str] = "−log10 p"

    statistics_: Array = learned("columns")
    freedom_: Codes = learned("columns")

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Keep the columns with the smallest p-values."""
        super().fit(data, rng)
        tables = list(self.tables(data.counted()))
        self.statistics_ = np.array([chi_square(table) for table in tables], np.float64)
        self.freedom_ = np.array([degrees_of_freedom(table) for table in tables], np.int32)

    def dependence(self, table: Array) -> float:
        """−log₁₀ of the p-value of a contingency table."""
        return log_improbability(table)

    def explain(self) -> Explanation:
        """The tests, smallest p-value first."""
        tests: dict[str, Array | Codes] = {"χ²": self.statistics_, "degrees of freedom": self.freedom_}
        return (self.bars("Columns by chi-square", self.measure, self.scores_, **tests, p=10**-self.scores_),)


def degrees_of_freedom(table: Array) -> int:
    """The degrees of freedom of the χ² test of a contingency table."""
    return int((table.shape[0] - 1) * (table.shape[1] - 1))


def chi_square(table: Array) -> float:
    """Σ (O − E)² / E of a contingency table without empty rows or columns."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def log_improbability(table: Array) -> float:
    """−log₁₀ of the p-value of the χ² test, also where the p-value is too small for a float."""
    from scipy.special import chdtrc, gammaln

    freedom = degrees_of_freedom(table)
    if freedom == 0:
        return 0.0
    statistic = chi_square(table)
    p_value = float(chdtrc(freedom, statistic))
    if p_value > 0:
        return max(0.0, -log(p_value) / log(10))
    # The p-value underflows: use the first term of the tail, (χ²/2)^(d/2 − 1) e^(−χ²/2) / Γ(d/2).
    half = statistic / 2
    return float((half - (freedom / 2 - 1) * log(half) + gammaln(freedom / 2)) / log(10))
