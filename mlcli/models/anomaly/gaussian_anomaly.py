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
    n·p to fit and p per predicted row; full n·p² + p³, and p² per row.

Choices:
    ``ddof`` is 1, as the notes divide by N − 1. The notes flag p(x) ≤ ε and call it Pr(x is good); it is a
    density, and here logarithms are compared: `decide: {threshold: 3.912}` is ε = e^−3.912 = 0.02. A column with
    one value in all training rows is left out, and so is a direction in which no training row varies (a column
    that is the sum of others), both with a warning. Such directions are found on the correlation matrix, so that
    units decide nothing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import ROUNDING, findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import moments, quotient
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Table
from mlcli.engines.covariances import covariance_table
from mlcli.tasks.anomaly import Detector, ScreenedRows


@dataclass(frozen=True, eq=False)
class GaussianAxes:
    """D²(x) is the squared length of (x − mean) ``axes``; ``log_volume`` is the logarithm of |Σ|."""

    mean: Array
    axes: Array
    log_volume: float


def mean_and_deviation(data: ScreenedRows, ddof: int) -> tuple[Array, Array]:
    """The mean and the standard deviation of each column, 0 for one that does not vary (with a warning)."""
    if data.weights.sum() <= ddof:
        raise FitError(f"{ddof + 1} training rows are needed where variances are divided by the rows less {ddof}")
    spread = moments(data.table.numbers, data.weights, ddof)
    deviation = np.sqrt(spread.variance)
    constant = [c.name for c, size in zip(data.table.number_columns, deviation, strict=True) if size == 0]
    if len(constant) == len(deviation):
        raise FitError("no column varies over the training rows, so no row can stand out from them")
    if constant:
        message = f"columns with one value in all training rows are left out: {listed(constant)}"
        warnings.warn(message, MlcliWarning, stacklevel=3)
    return spread.mean, deviation


def diagonal_gaussian(data: ScreenedRows, ddof: int) -> GaussianAxes:
    """Every column varies by itself: Σ is diagonal."""
    mean, deviation = mean_and_deviation(data, ddof)
    varies = deviation > 0
    axes = np.diag(quotient(np.ones_like(deviation), deviation))[:, varies]
    return GaussianAxes(mean, np.ascontiguousarray(axes), float(2 * np.log(deviation[varies]).sum()))


def full_gaussian(data: ScreenedRows, ddof: int) -> GaussianAxes:
    """Columns vary together; directions in which no training row varies are left out, with a warning.

    The axes come from the correlation matrix, so that the unit of a column decides nothing.
    """
    mean, deviation = mean_and_deviation(data, ddof)
    varies = deviation > 0
    z = (data.table.numbers - mean)[:, varies] / deviation[varies]
    values, vectors = np.linalg.eigh(z.T @ (z * data.weights[:, None]) / (data.weights.sum() - ddof))
    kept = values > ROUNDING * values[-1]
    if not kept.all():
        message = (
            f"columns depend on each other: {(~kept).sum()} of {len(kept)} directions have no spread, left out"
        )
        warnings.warn(message, MlcliWarning, stacklevel=3)
    axes = np.zeros((len(mean), int(kept.sum())))
    axes[varies] = vectors[:, kept] / np.sqrt(values[kept]) / deviation[varies][:, None]
    log_volume = np.log(values[kept]).sum() + 2 * np.log(deviation[varies]).sum()
    return GaussianAxes(mean, axes, float(log_volume))


def deviations_table(columns: Sequence[Column], table: Table, mean: Array, deviation: Array) -> findings.Table:
    """How far each cell of a row lies from the mean of its column, in standard deviations."""
    cells = table.numbers[0]
    numbers = np.column_stack([cells, mean, deviation, quotient(cells - mean, deviation)]).tolist()
    rows = tuple((column.name, *line) for column, line in zip(columns, numbers, strict=True))
    header = ("column", "cell", "mean", "standard deviation", "z")
    return findings.Table("Deviations from the means", header, rows)


@dataclass(kw_only=True, eq=False)
class GaussianDetector(Detector, RowExplainer):
    """Measures how far out a row lies by a single Gaussian for all rows."""

    mean_: Array = learned("columns")
    axes_: Array = learned("columns", "axes")

    accepts = Accepts(weights=True)

    def squared_distances(self, table: Table) -> Array:
        """D² of each row."""
        return np.asarray((((table.numbers - self.mean_) @ self.axes_) ** 2).sum(axis=1))

    def deviations(self, table: Table) -> Array:
        """What each column adds to D², with the sign of its deviation; a column that takes off adds nothing."""
        difference = table.numbers - self.mean_
        added = difference * (difference @ self.axes_ @ self.axes_.T)
        return np.asarray(np.sign(difference) * np.maximum(added, 0.0))

    def covariance_matrix(self) -> Array:
        """Σ, in which columns that are left out have no spread; empty (0 × 0) if directions are left out."""
        size = np.linalg.norm(self.axes_, axis=1)
        if np.count_nonzero(size) > self.axes_.shape[1]:
            return np.zeros((0, 0))
        unit = np.where(size > 0, size, 1.0)
        axes = self.axes_ / unit[:, None]
        return np.asarray(np.linalg.pinv(axes @ axes.T, hermitian=True) / np.outer(unit, unit))

    def explain(self) -> findings.Explanation:
        """The mean of the rows, how they spread, and how far out a good row lies with which probability."""
        from scipy.special import chdtri

        freedom, names, covariance = self.axes_.shape[1], [c.name for c in self.columns_], self.covariance_matrix()
        if covariance.size:
            deviations = np.sqrt(np.diag(covariance)).tolist()
            usual = findings.Table(
                "Mean and standard deviation of each column",
                ("column", "mean", "standard deviation"),
                tuple(zip(names, self.mean_.tolist(), deviations, strict=True)),
            )
        else:
            rows = tuple(zip(names, self.mean_.tolist(), strict=True))
            usual = findings.Table("Mean of each column", ("column", "mean"), rows)
        correlated = np.triu(covariance, 1).any()
        limits = [(share, float(chdtri(freedom, share))) for share in (0.5, 0.05, 0.01, 0.001)]
        distances = findings.Table(
            "Mahalanobis distances of good rows",
            ("D", "D²", "share beyond"),
            tuple((math.sqrt(squared), squared, share) for share, squared in limits),
            note=f"D² of good rows is about χ² with {freedom} degrees of freedom, if they are Gaussian.",
        )
        tables = covariance_table("Covariance", names, {"": covariance}) if correlated else ()
        return usual, *tables, distances

    def explain_answer(self, table: Table) -> findings.Explanation:
        """How far each cell is from its mean, and the row from the mean of all columns."""
        from scipy.special import chdtrc

        covariance, squared = self.covariance_matrix(), float(self.squared_distances(table)[0])
        beyond = float(chdtrc(self.axes_.shape[1], squared))
        distance = findings.Table(
            "Mahalanobis distance of the row",
            ("D", "D²", "share of good rows beyond"),
            ((math.sqrt(squared), squared, beyond),),
        )
        if not covariance.size:
            return (distance,)
        deviations = np.sqrt(np.diag(covariance))
        return deviations_table(self.columns_, table, self.mean_, deviations), distance


@register("gaussian-anomaly", reference="Bishop 1994, Novelty detection and neural network validation")
class GaussianAnomaly(GaussianDetector, Detector):
    """Minus the logarithm of a density."""

    covariance: str = param("independent", "whether columns vary together", choices=("independent", "full"))
    ddof: int = param(1, "delta degrees of freedom: variances are divided by N less this", ge=0, le=1)

    log_volume_: float = learned()

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Take the mean and the covariance."""
        gaussian = (full_gaussian if self.covariance == "full" else diagonal_gaussian)(data, self.ddof)
        self.mean_, self.axes_, self.log_volume_ = gaussian.mean, gaussian.axes, gaussian.log_volume

    def score_rows(self, table: Table) -> Array:
        """Minus the log density of each row."""
        at_the_mean = self.axes_.shape[1] * math.log(2 * math.pi) + self.log_volume_
        return np.asarray((at_the_mean + self.squared_distances(table)) / 2)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The density of the row, and the one from which on rows are flagged."""
        scores = {
            "p(x) of the row": float(self.score_rows(table)[0]),
            "ε: rows with p(x) ≤ ε are flagged": self.threshold_,
        }
        with np.errstate(over="ignore"):
            lines = tuple(
                (what, float(np.exp(-score)), -score) for what, score in scores.items() if score is not None
            )
        density = findings.Table("Density", ("what", "density", "logarithm"), lines)
        return *super().explain_answer(table), density

    def limit_at(self, p: float) -> float:
        """Minus the log density where χ² of D² has such a tail."""
        from scipy.special import chdtri

        freedom = self.axes_.shape[1]
        return float((freedom * math.log(2 * math.pi) + self.log_volume_ + chdtri(freedom, p)) / 2)
