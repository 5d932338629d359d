"""Principal components: replaces all columns by coordinates along the directions in which the rows vary most.

Formula:
    z = Bᵀ (x − μ) / σ with the mean and, if `standardise`, the standard deviation of the training rows; the
    columns of B are the first eigenvectors of their covariance.

Assumes:
    The directions of largest variance matter most, and relations between columns are linear.

Cost:
    The product of both sides of the table and its shorter one to fit, rows × columns × components to apply.

Choices:
    Columns are always centred, and standardised unless `standardise` is false: otherwise columns in small units,
    with large numbers, would dominate (the notes do both). Steps that fill missing values and encode levels are
    inserted before it. There are never more components than columns. With `share` each split keeps as many
    components as its training rows need, and with `choose: elbow` as many as the elbow of the scree plot says, as
    the method `pca` finds it (all if there is no elbow). A direction without variance in training is 0 in all
    rows. σ² divides by N unless `ddof` is 1, as in `standardise` and in the method `pca`. `by` is the solver; the
    page of the method `pca` says when the solvers differ.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.ranges import Range
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.principal_components import (
    SOLVERS,
    Axes,
    component_findings,
    count_for_share,
    elbow,
    principal_axes,
)
from mlcli.prepare._columns import Projection


@register("pca", reference="Pearson 1901; Jolliffe 2002, Principal Component Analysis", revision=2)
class PrincipalComponents(Projection):
    """Replace the columns by principal components."""

    scales = True

    components: int | None = param(
        2,
        "number of components; none: one per column",
        ge=1,
        tune=Range(1, 10, simpler="low"),
        matters_when={"share": None, "choose": "number"},
    )
    share: float | None = param(
        None,
        "keep as many components as explain this share of the variance, whatever `components` says",
        gt=0,
        le=1,
        matters_when={"choose": "number"},
    )
    choose: str = param(
        "number",
        "what decides the number of components: `components` or `share`, or the elbow of the scree plot",
        choices=("number", "elbow"),
        if_given=True,
    )
    standardise: bool = param(True, "whether columns are divided by their standard deviation")
    by: str = param(
        "auto",
        "the solver: decompose the centred rows or their covariance, or choose by the shape of the table",
        choices=SOLVERS,
    )
    ddof: int = param(0, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)

    middle_: Array = learned("columns")
    unit_: Array = learned("columns")
    directions_: Array = learned("columns", "columns")
    variances_: Array = learned("columns")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the principal axes."""
        data = data.counted()
        axes = principal_axes(
            data.table.numbers, data.weights, by=self.by, ddof=self.ddof, standardise=self.standardise
        )
        self.middle_, self.unit_ = axes.middle, axes.unit
        self.directions_, self.variances_ = axes.directions, axes.variances

    def count(self, columns: tuple[Column, ...]) -> int:
        """The number of components; with a share or the elbow the most that there may be."""
        if self.components is None or self.share is not None or self.choose == "elbow":
            return len(columns)
        return min(self.components, len(columns))

    def project(self, table: Table) -> Array:
        """The coordinates of the rows along the components."""
        return self._axes().coordinates(table.numbers, self._kept())

    def log_stretch(self) -> float:
        """Rotations keep volumes, so only the units count; refused if components are left out."""
        kept = self._kept()
        if kept < len(self.columns_):
            message = f"pca keeps {kept} of {len(self.columns_)} columns, and a density needs all of them"
            raise FitError(message, hint="components: none keeps all")
        return float(-np.log(self.unit_).sum())

    def explain(self) -> Explanation:
        """The scree plot and the loadings."""
        names = [column.name for column in self.columns_]
        return component_findings(self._axes(), names, self._kept())

    def _kept(self) -> int:
        """The number of components that the fitted step keeps."""
        most = self.count(self.columns_)
        if self.choose == "elbow":
            return elbow(self.variances_) or most
        return most if self.share is None else min(most, max(1, count_for_share(self.variances_, self.share)))

    def _axes(self) -> Axes:
        return Axes(self.middle_, self.unit_, self.directions_, self.variances_)
