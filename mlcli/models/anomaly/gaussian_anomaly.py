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
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import moments, quotient
from mlcli.core.names import listed
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.covariances import covariance_table
from mlcli.tasks.anomaly import Detector, ScreenedRows

# One Gaussian for all rows: its mean, and the axes along which a row is measured in standard deviations.

PROBABILITIES = (0.5, 0.05, 0.01, 0.001)


@dataclass(frozen=True, eq=False)
class GaussianAxes:
    """D²(x) is the squared length of (x − mean) ``axes``; ``log_volume`` is the logarithm of |Σ|."""

    mean: Array
    axes: Array
    log_volume: float


def mean_and_deviation(data: ScreenedRows, ddof: int) -> tuple[Array, Array]:
    """The mean and the standard deviation of each column, 0 for one that does not vary (which is warned of)."""
    if data.weights.sum() <= ddof:
        raise FitError(f"{ddof + 1} training rows are needed where variances are divided by the rows less {ddof}")
    found = moments(data.table.numbers, data.weights, ddof)
    deviation = np.sqrt(found.variance)
    constant = [c.name for c, size in zip(data.table.number_columns, deviation, strict=True) if size == 0]
    if len(constant) == len(deviation):
        raise FitError("no column varies over the training rows, so no row can stand out from them")
    if constant:
        message = f"columns with one value in all training rows are left out: {listed(constant)}"
        warnings.warn(message, MlcliWarning, stacklevel=3)
    return found.mean, deviation


def diagonal_gaussian(data: ScreenedRows, ddof: int) -> GaussianAxes:
    """Every column varies by itself: Σ is diagonal."""
    mean, deviation = mean_and_deviation(data, ddof)
    axes = np.diag(quotient(np.ones_like(deviation), deviation))
    varies = deviation > 0
    return GaussianAxes(mean, np.ascontiguousarray(axes[:, varies]), float(2 * np.log(deviation[varies]).sum()))


def full_gaussian(data: ScreenedRows, ddof: int) -> GaussianAxes:
    """Columns vary together; directions in which no training row varies are left out, with a warning.

    The axes come from the correlation matrix, so that the unit of a column decides nothing.
    """
    mean, deviation = mean_and_deviation(data, ddof)
    varies = deviation > 0
    z = (data.table.numbers - mean)[:, varies] / deviation[varies]
    values, vectors = np.linalg.eigh(z.T @ (z * data.weights[:, None]) / (data.weights.sum() - ddof))
    # an eigenvalue of the correlation matrix below this share of the largest is rounding: no row varies that way
    kept = values > 1e-12 * values[-1]
    if not kept.all():
        message = (
            f"columns depend on each other: {(~kept).sum()} of {len(kept)} directions have no spread, left out"
        )
        warnings.warn(message, MlcliWarning, stacklevel=3)
    axes = np.zeros((len(mean), int(kept.sum())))
    axes[varies] = vectors[:, kept] / np.sqrt(values[kept]) / deviation[varies][:, None]
    log_volume = np.log(values[kept]).sum() + 2 * np.log(deviation[varies]).sum()
    return GaussianAxes(mean, axes, float(log_volume))


def deviations_table(
    columns: Sequence[Column], table: Table, mean: Array, deviation: Array, note: str = ""
) -> findings.Table:
    """How far each cell of a row lies from the mean of its column, in standard deviations."""
    z = quotient(table.numbers[0] - mean, deviation)
    lines = zip(
        (column.name for column in columns),
        *(x.tolist() for x in (table.numbers[0], mean, deviation, z)),
        strict=True,
    )
    header = ("column", "cell", "mean", "standard deviation", "z")
    return findings.Table("Deviations from the means", header, tuple(lines), note=note)


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
        apart = table.numbers - self.mean_
        added = apart * (apart @ self.axes_ @ self.axes_.T)
        return np.asarray(np.sign(apart) * np.maximum(added, 0.0))

    def covariance_matrix(self) -> Array:
        """Σ, in which columns that are left out have no spread; empty where directions are: none knows it."""
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
        usual = [self.mean_, np.sqrt(np.diag(covariance))][: 2 if covariance.size else 1]
        title = " and ".join(("Mean", "standard deviation")[: len(usual)]) + " of each column"
        header = ("column", "mean", "standard deviation")[: 1 + len(usual)]
        lines = tuple(zip(names, *(one.tolist() for one in usual), strict=True))
        limits = [(share, float(chdtri(freedom, share))) for share in PROBABILITIES]
        rows = tuple((math.sqrt(squared), squared, share) for share, squared in limits)
        note = f"D² of good rows is about χ² with {freedom} degrees of freedom, if they are Gaussian."
        return (
            findings.Table(title, header, lines),
            *(covariance_table("Covariance", names, {"": covariance}) if np.triu(covariance, 1).any() else ()),
            findings.Table("Mahalanobis distances of good rows", ("D", "D²", "share beyond"), rows, note=note),
        )

    def explain_answer(self, table: Table) -> findings.Explanation:
        """How far each cell is from its mean, and the row from the mean of all columns."""
        from scipy.special import chdtrc

        covariance, squared = self.covariance_matrix(), float(self.squared_distances(table)[0])
        beyond = float(chdtrc(self.axes_.shape[1], squared))
        lines = ((math.sqrt(squared), squared, beyond),)
        deviations = np.sqrt(np.diag(covariance))
        return (
            *((deviations_table(self.columns_, table, self.mean_, deviations),) if covariance.size else ()),
            findings.Table("Mahalanobis distance of the row", ("D", "D²", "share of good rows beyond"), lines),
        )


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
        from scipy.special import chdtri

        freedom = self.axes_.shape[1]
        return float((freedom * math.log(2 * math.pi) + self.log_volume_ + chdtri(freedom, p)) / 2)
