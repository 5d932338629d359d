"""Normal distributions side by side, each with a mean and a covariance: their density, and rows drawn from them.

A covariance is known by its root R (directions × columns, RᵀR = Σ), so that μ + zR with standard normal z is a
row, or by its whitener W (columns × directions, WᵀΣW = 1), so that |(x − μ)W|² is the squared distance. In
directions that a covariance leaves out rows do not vary, and a density says nothing of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes
from mlcli.engines.em import LOG_TAU, log_sum

LEAST_VARIANCE = 1e-8
"""A direction with less than this share of the variance of the columns is left out."""


@dataclass(frozen=True, eq=False)
class Normal:
    """A covariance by its root and its whitener, and the logarithm of the root of its determinant."""

    root: Array
    whitener: Array
    log_spread: float

    @property
    def log_height(self) -> float:
        """The logarithm of the density at the mean."""
        return -self.log_spread - 0.5 * len(self.root) * LOG_TAU


def of_covariance(covariance: Array) -> Normal:
    """By its spectrum, in columns of unit variance."""
    unit = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    varies = unit > 0
    one = np.where(varies, unit, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(one, one))
    kept = values > LEAST_VARIANCE
    values, vectors = values[kept], vectors[:, kept]
    root = np.sqrt(values)[:, None] * vectors.T * unit
    log_spread = 0.5 * float(np.log(values).sum()) + float(np.log(unit[varies]).sum())
    return Normal(root, vectors / np.sqrt(values) / one[:, None], log_spread)


def of_whitener(whitener: Array, unit: Array) -> Normal:
    """By what makes it the identity; ``unit`` is how far columns vary, 0 for those that take no part."""
    varies = unit > 0
    u, values, v = np.linalg.svd(unit[:, None] * whitener, full_matrices=False)
    kept = values > 0
    root = (v[kept].T / values[kept]) @ u[:, kept].T * unit
    return Normal(root, whitener, float(np.log(unit[varies]).sum() - np.log(values[kept]).sum()))


def log_density(X: Array, log_shares: Array, means: Array, normals: Sequence[Normal]) -> Array:
    """The logarithm of Σ_k π_k N(x; μ_k, Σ_k) of each row; shares of 0 count nothing."""
    joint = np.full((len(means), len(X)), -np.inf)
    for k in np.flatnonzero(np.isfinite(log_shares)).tolist():
        away = (X - means[k]) @ normals[k].whitener
        joint[k] = log_shares[k] + normals[k].log_height - 0.5 * np.einsum("ij,ij->i", away, away)
    return log_sum(joint)


def drawn(
    n: int, shares: Array, means: Array, roots: Sequence[Array], rng: np.random.Generator
) -> tuple[Codes, Array]:
    """So many rows, and which of the distributions each is from."""
    kind = rng.choice(len(shares), n, p=shares / shares.sum()).astype(np.int32)
    X = means[kind]
    for k, root in enumerate(roots):
        mine = np.flatnonzero(kind == k)
        X[mine] += rng.standard_normal((len(mine), len(root))) @ root
    return kind, X
