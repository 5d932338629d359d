"""Factor analysis: replaces the columns by a few hidden factors that explain how they go together.

Formula:
    x = μ + Λ f + e with f ~ N(0, I) and e ~ N(0, Ψ), Ψ diagonal, so that Σ = Λ Λᵀ + Ψ. Λ and Ψ maximise the
    likelihood by EM in its fast form: with the singular values s_j of X Ψ^{−½} / √N and their vectors u_j, Λ_j =
    Ψ^{½} u_j √(s_j² − 1)₊, then Ψ = diag(S − Λ Λᵀ), until the likelihood stands still. A row becomes E[f | x] = (I
    + Λᵀ Ψ⁻¹ Λ)⁻¹ Λᵀ Ψ⁻¹ (x − μ).

Assumes:
    Straight relations, noise of its own in every column (pca has none), and far fewer factors than columns.

Cost:
    A singular value decomposition per step.

Choices:
    Factors are those of the maximum as it is found, not rotated; the largest entry of each is positive. EM begins
    with standardised columns that are noise alone, so that units do not matter, and ends in a local maximum. Of
    the noise of a column at least `floor` of its variance is kept (a column that others explain whole would have
    none). A column that does not vary has no part in it. How many factors there are is given; where the variances
    of standardised columns along their directions bend (the elbow) is said.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.engines.factor_analysis import FactorModel, Search
from mlcli.prepare._columns import Projection


@register("factor-analysis", reference="Spearman 1904; Jöreskog 1967; Barber 2012, Bayesian Reasoning, 21.2")
class FactorAnalysis(FactorModel, Projection):
    """Factors instead of columns."""

    noun: ClassVar[str] = "factor"

    factors: int = param(2, "how many hidden factors there are", ge=1, tune=(1, 10))
    tolerance: float = param(1e-7, "EM ends when the mean log-likelihood rises by less", gt=0)
    most_steps: int = param(1000, "after how many steps EM ends in any case", ge=1)
    floor: float = param(0.005, "the least noise of a column, as a share of its variance", gt=0, lt=1)

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find loadings and noise by EM."""
        self.find(data.counted(), Search(self.factors, self.tolerance, self.most_steps, self.floor))

    def project(self, table: Table) -> Array:
        """What is expected of the factors of each row."""
        return self.found.expected(table.numbers)
