"""Principal components: shows rows by their place along the few directions in which they vary most.

Formula:
    z = Bᵀ (x − μ), x̃ = μ + B z; the columns of B are the first m eigenvectors of
    Σ = Σ_i w_i (x_i − μ)(x_i − μ)ᵀ / (W − ddof), W being the summed weight. The eigenvalue λ_j is the variance
    along direction j; those left out add up to the mean squared reconstruction error (times W / (W − ddof)).

Assumes:
    What varies most matters most, relations are linear, and columns have one scale: numbers are standardised
    before it unless steps are listed. More components always reconstruct better; the scree plot shows when they
    add little.

Cost:
    The product of both sides of the table and its shorter one; `svd` takes several times as long as `eigen`.

Choices:
    `by: eigen` decomposes the covariance of the centred rows (their products, if there are fewer rows than
    columns), `by: svd` the centred rows themselves; they agree, but squares lose digits of directions with less
    than 1e-9 of the largest variance: if there are such, `by: auto` uses `svd`, else `eigen`. `by: iterative`
    reduces the reconstruction loss step by step (orthogonal iteration), as in the notes, and is slow if two
    variances are nearly equal. Without `components` the fewest are kept that have `share` of the variance, or
    with `choose: elbow` as many as the place of the scree plot that is farthest below the straight line from its
    first to its last point (by the share if there is none). Variances divide by N, as those of standardised
    columns do, unless `ddof` is 1; shares are equal either way. The largest entry of a direction is positive. A
    direction with less than 1e-13 of the largest variance is rounding error and has no entry.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.linear_scores import reconstruction, sum_of_terms
from mlcli.engines.principal_components import (
    SOLVERS,
    Axes,
    component_findings,
    count_for_share,
    elbow,
    principal_axes,
)
from mlcli.tasks.projection import Projector
from mlcli.tasks.unsupervised import UnlabelledRows


@register("pca", reference="Pearson 1901; Jolliffe 2002, Principal Component Analysis")
class PrincipalComponents(Projector, RowExplainer):
    """Rows by their place along the directions of most variance."""

    components: int | None = param(
        None, "number of components; none: as many as the share needs", ge=1, tune=(1, 10)
    )
    share: float = param(
        0.9,
        "share of the variance that the components explain together",
        gt=0,
        le=1,
        matters_when={"components": None},
    )
    choose: str = param(
        "share",
        "how the number of components is chosen",
        choices=("share", "elbow"),
        if_given=True,
        matters_when={"components": None},
    )
    by: str = param("auto", "solver: what is decomposed, the centred rows or their covariance", choices=SOLVERS)
    ddof: int = param(0, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)

    kept_: int = learned()
    middle_: Array = learned("columns")
    directions_: Array = learned("columns", "columns")
    variances_: Array = learned("columns")

    accepts = Accepts(weights=True, prefers_scaled=True)
    """Numbers, on one scale: the column with the largest would be the first component."""

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Find the axes, and the number of components."""
        data = data.counted()
        columns = len(data.table.number_columns)
        if self.components is not None and self.components > columns:
            raise FitError(f"{self.components} components of {columns} columns", hint="choose fewer components")
        axes = principal_axes(data.table.numbers, data.weights, by=self.by, ddof=self.ddof, standardise=False)
        self.middle_, self.directions_, self.variances_ = axes.middle, axes.directions, axes.variances
        bend = elbow(axes.variances) if self.choose == "elbow" else None
        self.kept_ = self.components or bend or count_for_share(axes.variances, self.share)

    def project(self, table: Table) -> Array:
        """The place of each row along the components."""
        return self._axes().coordinates(table.numbers, self.kept_)

    def reconstruct(self, table: Table) -> Array:
        """The row at that place."""
        return self._axes().rows_at(self.project(table))

    def middle(self) -> Array:
        """Where the axes meet."""
        return self.middle_

    def check_learned(self) -> None:
        """No more components than columns."""
        if not 0 <= self.kept_ <= len(self.columns_):
            raise ValueError("more components than columns")

    def explain(self) -> Explanation:
        """The scree plot and the loadings."""
        return component_findings(self._axes(), [column.name for column in self.columns_], self.kept_)

    def explain_answer(self, table: Table) -> Explanation:
        """The coordinates of a row as sums over its cells, and its reconstruction."""
        names = [f"component_{index}" for index in range(1, self.kept_ + 1)]
        centred = (table.numbers[0] - self.middle_).tolist()
        parts = zip(table.number_columns, centred, self.directions_[:, : self.kept_], strict=True)
        terms = [(column.name, cell, cell * direction) for column, cell, direction in parts]
        places = sum_of_terms(terms, names, "Contributions to the components", times="cell − mean")
        return places, reconstruction(table, self.reconstruct(table))

    def _axes(self) -> Axes:
        return Axes(self.middle_, np.ones_like(self.middle_), self.directions_, self.variances_)
