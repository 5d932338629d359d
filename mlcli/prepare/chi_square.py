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

from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.prepare._filtering import LevelFilter


@register("chi-square", reference="Pearson 1900; Liu & Setiono 1995, Chi2")
class ChiSquare(LevelFilter):
    """Columns by a test of independence from the target."""

    measure: ClassVar[str] = "−log10 p of chi-square"

    def dependence(self, table: Array) -> float:
        """How improbable the table is by chance."""
        return improbability(table)


def chi_square(table: Array) -> float:
    """Σ (O − E)² / E of a table without empty rows and columns."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(((table - expected) ** 2 / expected).sum())


def improbability(table: Array) -> float:
    """−log₁₀ of the chance of a table that is as far from independence."""
    from scipy.special import chdtrc, gammaln

    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    if freedom == 0:
        return 0.0
    statistic = chi_square(table)
    chance = float(chdtrc(freedom, statistic))
    if chance > 0:
        return max(0.0, -log(chance) / log(10))
    # Far out, the first term of the tail: (χ²/2)^(d/2 − 1) e^(−χ²/2) / Γ(d/2).
    half = statistic / 2
    return float((half - (freedom / 2 - 1) * log(half) + gammaln(freedom / 2)) / log(10))
