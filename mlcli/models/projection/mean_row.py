"""Mean row: shows every row as the mean of the training rows, whatever it looks like.

Formula:
    x̃ = μ = Σᵢ wᵢ xᵢ / Σᵢ wᵢ, a projection to no column at all.

Assumes:
    Nothing. Its reconstruction error is the variance of the columns; a projection has to lower it.

Cost:
    One pass over the numbers.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import ROUNDING, findings
from mlcli.core.moments import moments
from mlcli.core.params import learned
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.tasks.projection import Projector
from mlcli.tasks.unsupervised import UnlabelledRows


@register("mean-row", reference="Jolliffe 2002, Principal Component Analysis, the case of no component")
class MeanRow(Projector):
    """The baseline of projections."""

    mean_: Array = learned("columns")
    deviation_: Array = learned("columns")

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Learn the mean and the standard deviation of each column."""
        of_columns = moments(data.table.numbers, data.weights)
        self.mean_, self.deviation_ = of_columns.mean, np.sqrt(of_columns.variance)

    def project(self, table: Table) -> Array:
        """No column."""
        return np.empty((len(table), 0))

    def reconstruct(self, table: Table) -> Array:
        """The mean row, for every row."""
        return np.tile(self.mean_, (len(table), 1))

    def middle(self) -> Array:
        """The mean row."""
        return self.mean_

    def explain(self) -> findings.Explanation:
        """The mean row; a mean that is rounding error beside the deviation is 0."""
        means = np.where(np.abs(self.mean_) > ROUNDING * self.deviation_, self.mean_, 0.0)
        names = (column.name for column in self.columns_)
        rows = tuple(zip(names, means.tolist(), self.deviation_.tolist(), strict=True))
        return (findings.Table("The mean row", ("column", "mean", "standard deviation"), rows),)
