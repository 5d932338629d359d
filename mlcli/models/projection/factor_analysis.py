"""Factor analysis: shows rows by a few hidden factors that explain how their columns go together.

Formula:
    x = μ + Λ f + e with f ~ N(0, I) and e ~ N(0, Ψ), Ψ diagonal, fitted by EM; z = E[f | x] = (I + Λᵀ Ψ⁻¹ Λ)⁻¹ Λᵀ
    Ψ⁻¹ (x − μ) and x̃ = μ + Λ z. The step of the same name has the steps of EM.

Assumes:
    Linear relations, independent noise in every column (pca has none), and far fewer factors than columns.

Cost:
    A singular value decomposition of the columns for each step of EM.

Choices:
    Without `factors` their number is the elbow of the scree plot: the place farthest below the straight line
    from the first variance to the last, of standardised columns. As x̃ leaves out the noise of columns, and z is
    drawn towards 0, pca with as many components always reconstructs better; factors show what columns share.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.factor_analysis import FactorModel, Search
from mlcli.engines.principal_components import elbow, principal_axes
from mlcli.tasks.projection import Projector
from mlcli.tasks.unsupervised import UnlabelledRows


@register("factor-analysis", reference="Spearman 1904; Jöreskog 1967; Barber 2012, Bayesian Reasoning, 21.2")
class FactorAnalysis(FactorModel, Projector):
    """Rows by their expected factors."""

    factors: int | None = param(
        None, "number of factors; none: by the elbow of the scree plot", ge=1, tune=(1, 10)
    )
    tolerance: float = param(1e-7, "EM ends when the mean log-likelihood rises by less", gt=0)
    most_steps: int = param(10_000, "maximum number of steps of EM", ge=1)
    floor: float = param(0.005, "the least noise of a column, as a share of its variance", gt=0, lt=1)

    accepts = Accepts(weights=True, prefers_scaled=True)
    """Numbers; factors do not depend on units, but the reconstruction error does."""

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Find loadings and noise by EM."""
        data = data.counted()
        X, columns = data.table.numbers, data.table.numbers.shape[1]
        if self.factors is not None and self.factors > columns:
            raise FitError(f"{self.factors} factors of {columns} columns", hint="choose fewer factors")
        axes = principal_axes(X, data.weights, by="auto", ddof=0, standardise=True)
        factors = self.factors or elbow(axes.variances) or 1
        self.find(data, Search(factors, self.tolerance, self.most_steps, self.floor))

    def project(self, table: Table) -> Array:
        """The expected factors of each row."""
        return self.found.expected(table.numbers)

    def reconstruct(self, table: Table) -> Array:
        """The row that has these factors."""
        return self.found.rows_at(self.project(table))

    def middle(self) -> Array:
        """The mean row."""
        return self.mean_
