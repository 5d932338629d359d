"""Z-score: a row is as odd as its oddest cell, in standard deviations from the mean of its column.

Formula:
    s(x) = max_j |x_j − μ_j| / σ_j, with μ_j = Σ w_i x_ij / Σ w_i and σ_j² = Σ w_i (x_ij − μ_j)² / (Σ w_i − ddof).

Assumes:
    Each column has one hump, about as a Gaussian has: then 0.3 % of the cells of a column lie beyond 3. An odd
    combination of ordinary cells is not seen.

Cost:
    One pass over the rows to fit, p per predicted row.

Choices:
    ``ddof`` is 0, as where the notes score with z; 1 divides by N − 1. A column with one value in all training
    rows has no spread to measure by and is left out, with a warning.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.models.anomaly.gaussian_anomaly import deviations_table, mean_and_deviation
from mlcli.tasks.anomaly import Detector, ScreenedRows


@register("z-score", reference="Iglewicz & Hoaglin 1993, How to detect and handle outliers")
class ZScore(Detector, RowExplainer):
    """Looks at one column at a time."""

    ddof: int = param(0, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)

    mean_: Array = learned("columns")
    deviation_: Array = learned("columns")

    accepts = Accepts(weights=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Take the mean and the standard deviation of each column."""
        self.mean_, self.deviation_ = mean_and_deviation(data, self.ddof)

    def score_rows(self, table: Table) -> Array:
        """The largest distance from a mean, in standard deviations."""
        return np.asarray(np.abs(self._z(table)).max(axis=1))

    def own_limit(self) -> tuple[float, str]:
        """Three standard deviations."""
        return 3.0, "three standard deviations"

    def limit_at(self, p: float) -> float:
        """What the largest of so many independent Gaussian z exceeds with a probability."""
        columns = max(1, int((self.deviation_ > 0).sum()))
        return -NormalDist().inv_cdf(float(-np.expm1(np.log1p(-p) / columns) / 2))

    def deviations(self, table: Table) -> Array:
        """z² with the sign of z."""
        z = self._z(table)
        return np.asarray(z * np.abs(z))

    def _z(self, table: Table) -> Array:
        varies = self.deviation_ > 0
        return np.asarray((table.numbers - self.mean_) / np.where(varies, self.deviation_, 1.0) * varies)

    def explain(self) -> findings.Explanation:
        """The usual range of each column."""
        rows = tuple(
            (column.name, float(mean), float(deviation), float(mean - 3 * deviation), float(mean + 3 * deviation))
            for column, mean, deviation in zip(self.columns_, self.mean_, self.deviation_, strict=True)
        )
        header = ("column", "mean", "standard deviation", "z = -3 at", "z = 3 at")
        return (findings.Table("Mean and standard deviation of each column", header=header, rows=rows),)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The z of each cell, of which the largest is the score."""
        return (deviations_table(self.columns_, table, self.mean_, self.deviation_),)
