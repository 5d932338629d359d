"""Mahalanobis: a row is as odd as it is far from the mean, in units of how the training rows spread that way.

Formula:
    s(x) = D(x) = √((x − μ)ᵀ Σ⁻¹ (x − μ)), μ and Σ being the (weighted) mean and covariance of the training rows,
    Σ divided by Σ w_i − ddof.

Assumes:
    Good rows lie in one elliptic cloud. In m columns D² of good rows is then about χ² with m degrees of freedom.
    Global anomalies are seen, local ones are not, and training rows that are far out themselves widen Σ.

Cost:
    n·p² + p³ to fit, p² per predicted row.

Choices:
    The score is D, and D² stands beside its χ² probability in what the model says of itself; the notes print
    squared distances beside a formula with a root. ``ddof`` is 0, the maximum-likelihood Σ. Columns and
    directions that do not vary over the training rows are left out, with a warning; they are found on the
    correlation matrix, so that units decide nothing.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.models.anomaly.gaussian_anomaly import GaussianDetector, full_gaussian
from mlcli.tasks.anomaly import Detector, ScreenedRows


@register("mahalanobis", reference="Mahalanobis 1936, On the generalized distance in statistics")
class Mahalanobis(GaussianDetector, Detector):
    """The distance from the mean, in standard deviations of its direction."""

    ddof: int = param(0, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Take the mean and the covariance."""
        gaussian = full_gaussian(data, self.ddof)
        self.mean_, self.axes_ = gaussian.mean, gaussian.axes

    def score_rows(self, table: Table) -> Array:
        """D of each row."""
        return np.sqrt(self.squared_distances(table))

    def limit_at(self, p: float) -> float:
        """D where χ² of D² has such a tail."""
        from scipy.special import chdtri

        return float(np.sqrt(chdtri(self.axes_.shape[1], p)))
