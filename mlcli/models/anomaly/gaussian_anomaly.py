"""Gaussian anomaly: a row is as odd as it is improbable under one Gaussian fitted to the training rows.

Formula:
    s(x) = −log p(x) = ½ (m log 2π + log |Σ| + D²(x)), D²(x) = (x − μ)ᵀ Σ⁻¹ (x − μ), with m columns, μ = Σ w_i
    x_i / Σ w_i and Σ = Σ w_i (x_i − μ)(x_i − μ)ᵀ / (Σ w_i − ddof). Independent: Σ has only its diagonal, so that
    p(x) is the product of one Gaussian for each column.

Assumes:
    Good rows lie in one elliptic cloud (independent: one whose axes are those of the columns). log(x + k) helps
    columns with a long tail. ``full`` sees odd combinations of ordinary cells, and needs many more rows than
    columns.

Cost:
    n·p to fit and p per row asked; full n·p² + p³, and p² per row.

Choices:
    ``ddof`` is 1, as the notes divide by N − 1. The notes flag p(x) ≤ ε and call it Pr(x is good); it is a
    density, and here logarithms are compared: `decide: {threshold: 3.912}` is ε = e^−3.912 = 0.02. A column with
    one value in all training rows is left out, and so is a direction in which no training row varies (a column
    that is the sum of others), both with a warning. Such directions are found on the correlation matrix, so that
    units decide nothing.
"""

from __future__ import annotations

import math

import numpy as np

from mlcli.core import findings
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.models.anomaly._gaussian import GaussianDetector, diagonal_gaussian, full_gaussian
from mlcli.tasks.anomaly import Detector, ScreenedRows

COVARIANCES = {"independent": diagonal_gaussian, "full": full_gaussian}


@register("gaussian-anomaly", reference="Bishop 1994, Novelty detection and neural network validation")
class GaussianAnomaly(GaussianDetector, Detector):
    """Minus the logarithm of a density."""

    covariance: str = param("independent", "whether columns vary together", choices=COVARIANCES)
    ddof: int = param(1, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)

    log_volume_: float = learned()

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Take the mean and the covariance."""
        found = COVARIANCES[self.covariance](data, self.ddof)
        self.mean_, self.axes_, self.log_volume_ = found.mean, found.axes, found.log_volume

    def score_rows(self, table: Table) -> Array:
        """Minus the log density of each row."""
        at_the_mean = self.axes_.shape[1] * math.log(2 * math.pi) + self.log_volume_
        return np.asarray((at_the_mean + self.squared_distances(table)) / 2)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The density of the row, and the one from which on rows are flagged."""
        known = {
            "p(x) of the row": float(self.score_rows(table)[0]),
            "ε: rows with p(x) ≤ ε are flagged": self.threshold_,
        }
        with np.errstate(over="ignore"):
            lines = tuple(
                (what, float(np.exp(-score)), -score) for what, score in known.items() if score is not None
            )
        density = findings.Table("Density", ("what", "density", "logarithm"), lines)
        return *super().explain_answer(table), density

    def limit_at(self, p: float) -> float:
        """Minus the log density where χ² of D² has such a tail."""
        from scipy.stats import chi2

        freedom = self.axes_.shape[1]
        return float((freedom * math.log(2 * math.pi) + self.log_volume_ + chi2.isf(p, freedom)) / 2)
