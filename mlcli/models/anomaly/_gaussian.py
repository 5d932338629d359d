"""One Gaussian for all rows: its mean, and the axes along which a row is measured in standard deviations."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.findings import Explanation, Table
from mlcli.core.moments import moments
from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.tasks.anomaly import ScreenedRows

DEPENDENT = 1e-12
"""An eigenvalue of the correlation matrix below this share of the largest is rounding: no row varies that way."""
PROBABILITIES = (0.5, 0.05, 0.01, 0.001)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """D²(x) is the squared length of (x − mean) ``axes``; ``log_volume`` is the logarithm of |Σ|."""

    mean: Array
    axes: Array
    log_volume: float


def centre_and_spread(data: ScreenedRows, ddof: int) -> tuple[Array, Array]:
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


def independent(data: ScreenedRows, ddof: int) -> Gaussian:
    """Every column varies by itself: Σ is diagonal."""
    mean, deviation = centre_and_spread(data, ddof)
    axes = np.diag(np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0))
    varies = deviation > 0
    return Gaussian(mean, np.ascontiguousarray(axes[:, varies]), float(2 * np.log(deviation[varies]).sum()))


def full(data: ScreenedRows, ddof: int) -> Gaussian:
    """Columns vary together; directions in which no training row varies are left out, with a warning.

    The axes come from the correlation matrix, so that the unit of a column decides nothing.
    """
    mean, deviation = centre_and_spread(data, ddof)
    varies = deviation > 0
    z = (data.table.numbers - mean)[:, varies] / deviation[varies]
    values, vectors = np.linalg.eigh(z.T @ (z * data.weights[:, None]) / (data.weights.sum() - ddof))
    kept = values > DEPENDENT * values[-1]
    if not kept.all():
        message = (
            f"columns depend on each other: {(~kept).sum()} of {len(kept)} directions have no spread, left out"
        )
        warnings.warn(message, MlcliWarning, stacklevel=3)
    axes = np.zeros((len(mean), int(kept.sum())))
    axes[varies] = vectors[:, kept] / np.sqrt(values[kept]) / deviation[varies][:, None]
    log_volume = np.log(values[kept]).sum() + 2 * np.log(deviation[varies]).sum()
    return Gaussian(mean, axes, float(log_volume))


def squared_distances(numbers: Array, mean: Array, axes: Array) -> Array:
    """D² of each row."""
    return np.asarray((((numbers - mean) @ axes) ** 2).sum(axis=1))


def parts_of_distances(numbers: Array, mean: Array, axes: Array) -> Array:
    """What each column adds to D², with the sign of its deviation; a column that takes off adds nothing."""
    apart = numbers - mean
    added = apart * (apart @ axes @ axes.T)
    return np.asarray(np.sign(apart) * np.maximum(added, 0.0))


def check_gaussian(columns: int, mean: Array, axes: Array) -> None:
    """Refuse (ValueError) a mean and axes that do not belong to so many columns."""
    if mean.shape != (columns,) or axes.ndim != 2 or len(axes) != columns or axes.shape[1] > columns:
        raise ValueError("the mean and the axes of the Gaussian do not fit the columns")


def usual_and_odd(columns: tuple[Column, ...], mean: Array, axes: Array) -> Explanation:
    """The middle of the rows, and how far out a good row lies with which probability."""
    from scipy.stats import chi2

    freedom = axes.shape[1]
    middle = tuple((column.name, float(value)) for column, value in zip(columns, mean, strict=True))
    limits = [(share, float(chi2.isf(share, freedom))) for share in PROBABILITIES]
    rows = tuple((math.sqrt(squared), squared, share) for share, squared in limits)
    note = f"D² of good rows is about χ² with {freedom} degrees of freedom, if they are Gaussian."
    return (
        Table("The middle of the rows", ("column", "mean"), middle),
        Table("How far out good rows lie", ("D", "D²", "share beyond"), rows, note=note),
    )
