"""Principal components: replaces all columns by their place along the directions in which rows vary most.

Formula:
    z = Bᵀ (x − μ) / σ with the mean and, where `standardise`, the standard deviation of the training rows; the
    columns of B are the first eigenvectors of their covariance.

Assumes:
    That what varies most matters most, and that relations between columns are straight.

Cost:
    The product of both sides of the table and its shorter one to fit, rows × columns × components to apply.

Choices:
    Columns are centred always, and standardised unless `standardise` is false: in columns of different units the
    largest numbers would decide (the notes do both). Gaps are filled, and levels become numbers, in steps inserted
    before it. There are never more components than columns. With a `share` each split keeps as many components as
    its training rows need, and with `choose: elbow` as many as the elbow of the scree plot says, as the method
    `pca` finds it (all where there is none). A direction in which the training rows do not vary is 0 in all rows.
    σ² divides by N unless `ddof` is 1, as that of standardised columns and of the method `pca` does. `by` is that
    of the method `pca`, whose page says when the ways differ.
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
    """Components instead of columns."""

    scales = True

    components: int | None = param(
        2,
        "how many are kept; none: as many as there are columns",
        ge=1,
        tune=Range(1, 10, simpler="low"),
        matters_when={"share": None, "choose": "number"},
    )
    share: float | None = param(
        None,
        "the share of the variance that is kept, in the place of a number of components",
        gt=0,
        le=1,
        matters_when={"choose": "number"},
    )
    choose: str = param(
        "number",
        "what says how many are kept: the number or share, or the elbow of the scree plot",
        choices=("number", "elbow"),
        if_given=True,
    )
    standardise: bool = param(True, "whether every column counts alike, whatever its unit")
    by: str = param(
        "auto", "what is decomposed: the centred rows, their covariance, or what suits them", choices=SOLVERS
    )
    ddof: int = param(0, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)

    middle_: Array = learned("columns")
    unit_: Array = learned("columns")
    directions_: Array = learned("columns", "columns")
    variances_: Array = learned("columns")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the axes."""
        data = data.counted()
        axes = principal_axes(
            data.table.numbers, data.weights, by=self.by, ddof=self.ddof, standardise=self.standardise
        )
        self.middle_, self.unit_ = axes.middle, axes.unit
        self.directions_, self.variances_ = axes.directions, axes.variances

    def count(self, columns: tuple[Column, ...]) -> int:
        """As many as are asked for; by a share or the elbow all that may be kept."""
        every = self.components is None or self.share is not None or self.choose == "elbow"
        return len(columns) if every else min(self.components or 0, len(columns))

    def places(self, table: Table) -> Array:
        """The table along the components."""
        return self._axes().coordinates(table.numbers, self._kept())

    def log_stretch(self) -> float:
        """Turning keeps volumes, but for the units; in fewer columns there is no such volume."""
        kept = self._kept()
        if kept < len(self.columns_):
            what = f"pca leaves {kept} of {len(self.columns_)} columns, and a density of these is none of all"
            raise FitError(what, hint="components: none keeps all")
        return float(-np.log(self.unit_).sum())

    def explain(self) -> Explanation:
        """The scree plot and the loadings."""
        names = [column.name for column in self.columns_]
        return component_findings(self._axes(), names, self._kept())

    def _kept(self) -> int:
        most = self.count(self.columns_)
        if self.choose == "elbow":
            return elbow(self.variances_) or most
        return most if self.share is None else min(most, max(1, count_for_share(self.variances_, self.share)))

    def _axes(self) -> Axes:
        return Axes(self.middle_, self.unit_, self.directions_, self.variances_)
