"""Mahalanobis: a row is as odd as it is far from the mean, in units of how the training rows spread that way.

Formula:
    s(x) = D(x) = √((x − μ)ᵀ Σ⁻¹ (x − μ)), μ and Σ being the (weighted) mean and covariance of the training rows,
    Σ divided by Σ w_i − ddof.

Assumes:
    Good rows lie in one elliptic cloud. In m columns D² of good rows is then about χ² with m degrees of freedom.
    Global anomalies are seen, local ones are not, and training rows that are far out themselves widen Σ.

Cost:
    n·p² + p³ to fit, p² per row asked.

Choices:
    The score is D, and D² stands beside its χ² probability in what the model says of itself; the notes print
    squared distances beside a formula with a root. ``ddof`` is 0, the maximum-likelihood Σ. Columns and
    directions that do not vary over the training rows are left out, with a warning; they are found on the
    correlation matrix, so that units decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.models.anomaly._gaussian import (
    check_gaussian,
    full,
    parts_of_distances,
    squared_distances,
    usual_and_odd,
)
from mlcli.tasks.anomaly import Detector, ScreenedRows


@register("mahalanobis", reference="Mahalanobis 1936, On the generalized distance in statistics")
@dataclass(kw_only=True, eq=False)
class Mahalanobis(Detector):
    """The distance from the mean, in standard deviations of its direction."""

    ddof: int = param(0, "what is taken off the number of rows that variances are divided by", ge=0, le=1)

    mean_: Array = learned()
    axes_: Array = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers, in any unit."""
        return Accepts(weights=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Take the mean and the covariance."""
        found = full(data, self.ddof)
        self.mean_, self.axes_ = found.mean, found.axes

    def score_rows(self, table: Table) -> Array:
        """D of each row."""
        return np.sqrt(squared_distances(table.numbers, self.mean_, self.axes_))

    def deviations(self, table: Table) -> Array:
        """What each column adds to D²."""
        return parts_of_distances(table.numbers, self.mean_, self.axes_)

    def explain(self) -> Explanation:
        """What is usual, and which distance is how improbable."""
        return usual_and_odd(self.columns_, self.mean_, self.axes_)

    def check_learned(self) -> None:
        """Mean and axes belong to the columns."""
        super().check_learned()
        check_gaussian(len(self.columns_), self.mean_, self.axes_)
