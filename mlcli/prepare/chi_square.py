"""Chi-square: keeps the columns whose levels meet the classes least as if by chance.

Formula:
    χ² = Σ (O − E)² / E over the table of levels and classes, with E the product of the shares of level and class
    times n. The score is −log₁₀ of the probability of so large a χ² by chance, with (levels − 1)(classes − 1)
    degrees of freedom, so that columns with many levels and with few can be compared.

Assumes:
    Five expected rows or so in most places of the table, and rows that were drawn on their own.

Cost:
    A pass per column; a sort for numbers.

Choices:
    Numbers, and values to be predicted, are cut into `bins` of equal weight. An empty cell is a level of its own,
    a level without rows is none. Weights count as numbers of rows.
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
    """Columns by a test of independence from the target."""

    measure: ClassVar[str] = "−log10 p"

    statistics_: Array = learned("columns")
    freedom_: Codes = learned("columns")

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Keep the columns of the least chance, and how far each is from independence."""
        super().fit(data, rng)
        tables = list(self.tables(data.counted()))
        self.statistics_ = np.array([chi_square(table) for table in tables], np.float64)
        self.freedom_ = np.array([freedom(table) for table in tables], np.int32)

    def dependence(self, table: Array) -> float:
        """How improbable the table is by chance."""
        return improbability(table)

    def explain(self) -> Explanation:
        """The tests, the least probable first."""
        tests: dict[str, Array | Codes] = {"χ²": self.statistics_, "degrees of freedom": self.freedom_}
        return (self.bars("Columns by chi-square", self.measure, self.scores_, **tests, p=10**-self.scores_),)


def freedom(table: Array) -> int:
    """The degrees of freedom of a table."""
    return int((table.shape[0] - 1) * (table.shape[1] - 1))


def chi_square(table: Array) -> float:
    """Σ (O − E)² / E of a table without empty rows and columns."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def improbability(table: Array) -> float:
    """−log₁₀ of the chance of a table that is as far from independence."""
    from scipy.special import chdtrc, gammaln

    degrees = freedom(table)
    if degrees == 0:
        return 0.0
    statistic = chi_square(table)
    chance = float(chdtrc(degrees, statistic))
    if chance > 0:
        return max(0.0, -log(chance) / log(10))
    # Far out, the first term of the tail: (χ²/2)^(d/2 − 1) e^(−χ²/2) / Γ(d/2).
    half = statistic / 2
    return float((half - (degrees / 2 - 1) * log(half) + gammaln(degrees / 2)) / log(10))
