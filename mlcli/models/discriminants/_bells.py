"""A normal distribution for each class, in the coordinates in which the covariance they share is the identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.tables import Array, Flags
from mlcli.models.discriminants._classes import ClassSums


@dataclass(frozen=True, eq=False)
class Bells:
    """``means`` K × r, ``whiteners`` K × r × r, ``log_spreads`` the logarithm of the root of each determinant."""

    means: Array
    whiteners: Array
    log_spreads: Array
    least: Array
    """The smallest variance of each class in any direction, before any was raised."""
    borrowed: Flags
    """The classes with too few rows for a covariance: they have the shared one."""

    def least_of(self, sums: ClassSums) -> float:
        """The smallest variance of any class that has rows."""
        return float(self.least[sums.present].min(initial=1.0))

    def log_densities(self, inside: Array) -> Array:
        """The log density (n × K) of each class at whitened rows, but for a constant."""
        found = np.empty((len(inside), len(self.means)))
        for k, (mean, whitener) in enumerate(zip(self.means, self.whiteners, strict=True)):
            away = (inside - mean) @ whitener
            found[:, k] = -0.5 * np.einsum("ij,ij->i", away, away) - self.log_spreads[k]
        return found


def bells_of(sums: ClassSums, transform: Array, ddof: int, shrinkage: float, floor: float) -> Bells:
    """The distributions; ``shrinkage`` goes from each class's own covariance (0) to the shared one (1)."""
    size = transform.shape[1]
    freedom = sums.weight - ddof
    borrowed = (freedom <= 0) & sums.present
    whiteners, spreads, least = [], [], []
    for scatter, free in zip(sums.scatter, freedom, strict=True):
        own = transform.T @ scatter @ transform / free if free > 0 else np.eye(size)
        variances, directions = np.linalg.eigh((1 - shrinkage) * own + shrinkage * np.eye(size))
        least.append(float(variances.min(initial=1.0)))
        variances = np.maximum(variances, floor)
        whiteners.append(directions / np.sqrt(np.where(variances > 0, variances, 1.0)))
        spreads.append(0.5 * float(np.log(np.where(variances > 0, variances, 1.0)).sum()))
    means = sums.mean @ transform
    return Bells(means, np.array(whiteners), np.array(spreads), np.array(least), borrowed)


def refuse_singular(method: str, bells: Bells, floor: float, classes: Sequence[str]) -> None:
    """Refuse a class that has no spread in some direction, if nothing is put in its place."""
    flat = [label for label, least in zip(classes, bells.least, strict=True) if least <= 1e-12]
    if flat and floor == 0:
        raise FitError(
            f"{method}: the covariance of class {' and '.join(flat[:3])} is singular",
            hint="raise 'shrinkage' or 'floor', or use lda, whose classes share one covariance",
        )
