"""Normal distributions: types of covariances, densities and random rows.

A full covariance is a matrix (p × p), a diagonal or spherical one the variances of the columns (p). Each is kept
at or above a floor, variances far smaller than any that matter: otherwise a component on a single row would have
an infinite density. The floored covariance is the likeliest of those allowed, so the log-likelihood of EM never
falls.

A covariance is used by its root R (directions × columns, RᵀR = Σ), so that μ + zR with standard normal z is a row,
or by its whitener W (columns × directions, WᵀΣW = 1), so that |(x − μ)W|² is the squared distance. Directions in
which rows do not vary are left out, and densities do not depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError
from mlcli.core.tables import Array, Codes
from mlcli.engines.posteriors import log_sum

LOG_TAU = float(np.log(2 * np.pi))
NEAR = 1e-3
"""A covariance within this share of the floor is on it: EM ends a little above."""


class Full:
    """Columns may vary together in any way: a matrix."""

    def free_parameters(self, columns: int) -> int:
        """The free parameters of one covariance, a symmetric matrix."""
        return columns * (columns + 1) // 2

    def shape(self, columns: int) -> tuple[int, ...]:
        """The shape of one covariance."""
        return columns, columns

    def scatter(self, deviations: Array, weights: Array) -> Array:
        """The weighted sum of squares and products."""
        return np.asarray((deviations * weights[:, None]).T @ deviations)

    def square(self, shift: Array) -> Array:
        """The scatter of a single row of weight 1."""
        return np.outer(shift, shift)

    def likeliest(self, scatter: Array, floor: Array) -> Array:
        """The likeliest covariance at or above the floor; ``scatter`` is divided by its weight.

        With the floor as unit, eigenvalues below 1 are raised to 1.
        """
        if not floor.all() or _is_definite(scatter - np.diag(floor)):
            return scatter
        unit = np.sqrt(floor)
        values, vectors = np.linalg.eigh(scatter / np.outer(unit, unit))
        return np.asarray((vectors * np.maximum(values, 1.0)) @ vectors.T * np.outer(unit, unit))

    def lies_on(self, floor: Array, covariance: Array) -> bool:
        """Whether the covariance is as narrow as the floor in some direction."""
        return not _is_definite(covariance - np.diag(floor) * (1 + NEAR))

    def whitener(self, covariance: Array) -> tuple[Array, float]:
        """The matrix that makes deviations uncorrelated with variance 1, and its log determinant."""
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            hint = "raise 'floor', or leave out columns that follow from others"
            raise FitError("a covariance is singular: its columns follow from each other", hint=hint) from None
        return np.linalg.inv(factor).T, -float(np.log(np.diag(factor)).sum())

    def squared_lengths(self, deviations: Array, whitener: Array) -> Array:
        """The squared Mahalanobis distance of each row."""
        whitened = deviations @ whitener
        return np.asarray(np.einsum("ij,ij->i", whitened, whitened))

    def root(self, whitener: Array) -> Array:
        """The matrix that turns standard normal rows (on its left) into rows of this covariance."""
        return np.asarray(np.linalg.inv(whitener))

    def deviations(self, covariance: Array) -> Array:
        """The standard deviation of each column."""
        return np.sqrt(np.diag(covariance))


class Diagonal:
    """Columns vary independently, each with its variance; the methods are those of ``Full``."""

    def free_parameters(self, columns: int) -> int:
        """A variance for each column."""
        return columns

    def shape(self, columns: int) -> tuple[int, ...]:
        """A variance for each column."""
        return (columns,)

    def scatter(self, deviations: Array, weights: Array) -> Array:
        """The weighted sums of squares."""
        return np.asarray(weights @ (deviations * deviations))

    def square(self, shift: Array) -> Array:
        """The squares."""
        return shift * shift

    def likeliest(self, scatter: Array, floor: Array) -> Array:
        """The variance of each column."""
        return np.maximum(scatter, floor)

    def lies_on(self, floor: Array, covariance: Array) -> bool:
        """Whether some variance is hardly above the floor."""
        return bool((covariance <= floor * (1 + NEAR)).any())

    def whitener(self, covariance: Array) -> tuple[Array, float]:
        """One over the standard deviations."""
        if not (covariance > 0).all():
            raise FitError("a component has no spread in some column", hint="raise 'floor'")
        return 1.0 / np.sqrt(covariance), -0.5 * float(np.log(covariance).sum())

    def squared_lengths(self, deviations: Array, whitener: Array) -> Array:
        """The squared lengths of scaled rows."""
        return np.asarray((deviations * deviations) @ (whitener * whitener))

    def root(self, whitener: Array) -> Array:
        """The standard deviations."""
        return np.diag(1.0 / whitener)

    def deviations(self, covariance: Array) -> Array:
        """The roots of the variances."""
        return np.sqrt(covariance)


class Spherical(Diagonal):
    """Columns vary independently and alike: the same variance for each."""

    def free_parameters(self, columns: int) -> int:
        """One variance."""
        return 1

    def likeliest(self, scatter: Array, floor: Array) -> Array:
        """The mean of the variances, for every column."""
        return np.full_like(scatter, max(scatter.mean(), floor.mean())) if len(scatter) else scatter

    def lies_on(self, floor: Array, covariance: Array) -> bool:
        """Whether the variance is hardly above the floor."""
        return bool(covariance[0] <= floor.mean() * (1 + NEAR))


CovarianceType = Full | Diagonal
COVARIANCE_TYPES: dict[str, CovarianceType] = {"full": Full(), "diagonal": Diagonal(), "spherical": Spherical()}


def _is_definite(matrix: Array) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


@dataclass(frozen=True, eq=False)
class Normal:
    """A covariance by its root and its whitener, and the logarithm of the root of its determinant."""

    root: Array
    whitener: Array
    log_spread: float

    @property
    def covariance(self) -> Array:
        """The matrix itself."""
        return self.root.T @ self.root

    @property
    def log_height(self) -> float:
        """The logarithm of the density at the mean."""
        return -self.log_spread - 0.5 * len(self.root) * LOG_TAU


def of_covariance(covariance: Array) -> Normal:
    """A normal distribution from its covariance, by the eigenvectors of the correlations."""
    unit = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    varies = unit > 0
    divisor = np.where(varies, unit, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(divisor, divisor))
    kept = values > 1e-8  # directions in which the columns hardly vary are left out
    values, vectors = values[kept], vectors[:, kept]
    root = np.sqrt(values)[:, None] * vectors.T * unit
    log_spread = 0.5 * float(np.log(values).sum()) + float(np.log(unit[varies]).sum())
    return Normal(root, vectors / np.sqrt(values) / divisor[:, None], log_spread)


def of_whitener(whitener: Array, unit: Array) -> Normal:
    """A normal distribution from its whitener; ``unit`` is how far columns vary, 0 for those that take no part."""
    varies = unit > 0
    u, values, v = np.linalg.svd(unit[:, None] * whitener, full_matrices=False)
    kept = values > 0
    root = (v[kept].T / values[kept]) @ u[:, kept].T * unit
    return Normal(root, whitener, float(np.log(unit[varies]).sum() - np.log(values[kept]).sum()))


def log_joint(X: Array, log_shares: Array, means: Array, normals: Sequence[Normal]) -> Array:
    """The logarithms of π_k N(x; μ_k, Σ_k) (k × rows); -infinity for shares of 0."""
    joint = np.full((len(means), len(X)), -np.inf)
    for k in np.flatnonzero(np.isfinite(log_shares)).tolist():
        whitened = (X - means[k]) @ normals[k].whitener
        joint[k] = log_shares[k] + normals[k].log_height - 0.5 * np.einsum("ij,ij->i", whitened, whitened)
    return joint


def log_density(X: Array, log_shares: Array, means: Array, normals: Sequence[Normal]) -> Array:
    """The logarithm of Σ_k π_k N(x; μ_k, Σ_k) of each row."""
    return log_sum(log_joint(X, log_shares, means, normals))


def covariance_table(
    title: str, names: Sequence[str], covariances: dict[str, Array], of: str = "", note: str = ""
) -> findings.Explanation:
    """The matrices one below the other, each line labelled; no table for more than eight columns."""
    keys = (of,) if of else ()
    lines = tuple(
        (*(label,) * len(keys), name, *line)
        for label, covariance in covariances.items()
        for name, line in zip(names, covariance.tolist(), strict=True)
    )
    if not 0 < len(names) <= 8:
        return ()
    return (findings.Table(title, (*keys, "column", *names), lines, note=note),)


def drawn(
    n: int, shares: Array, means: Array, roots: Sequence[Array], rng: np.random.Generator
) -> tuple[Codes, Array]:
    """Random rows, and the component that each is from."""
    component = rng.choice(len(shares), n, p=shares / shares.sum()).astype(np.int32)
    X = means[component]
    for k, root in enumerate(roots):
        rows = np.flatnonzero(component == k)
        X[rows] += rng.standard_normal((len(rows), len(root))) @ root
    return component, X
