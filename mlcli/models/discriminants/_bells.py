"""A normal distribution for each class, in the coordinates in which the covariance they share is the identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.tables import Array, Flags
from mlcli.models.discriminants._classes import ClassSums
from mlcli.models.discriminants._triangles import WIDE, Upper, whitening_triangle

WIDE_ENOUGH = 1e-5
"""A class that varies so much in every direction needs no spectrum."""


@dataclass(frozen=True, eq=False)
class Bells:
    """``means`` K × r, ``whiteners`` K × r × r, ``log_spreads`` the logarithm of the root of each determinant."""

    means: Array
    whiteners: Array
    log_spreads: Array
    least: Array
    """The smallest variance of each class in any direction, before any was raised; of many columns, a bound."""
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
    freedom, shared = sums.weight - ddof, np.eye(transform.shape[1])
    none = freedom <= 0
    own = _in_other_coordinates(sums.scatter, transform) / np.where(none, 1.0, freedom)[:, None, None]
    own[none] = shared
    mixed = (1 - shrinkage) * own + shrinkage * shared if shrinkage else own
    whiteners, spreads, least = (_by_triangles(mixed, floor) if _wide(transform) else None) or _by_spectra(
        mixed, floor
    )
    return Bells(sums.mean @ transform, whiteners, spreads, least, none & sums.present)


def _wide(transform: Array) -> bool:
    return len(transform.T) >= WIDE


def _in_other_coordinates(scatters: Array, transform: Array) -> Array:
    if not _wide(transform):
        return np.asarray(transform.T @ scatters @ transform)
    upper = Upper.of(transform)
    return np.array([upper.after(upper.after(scatter).T) for scatter in scatters])


Whiteners = tuple[Array, Array, Array]
"""What makes each covariance the identity, the logarithm of the root of its determinant, its least variance."""


def _by_spectra(covariances: Array, floor: float) -> Whiteners:
    variances, directions = np.linalg.eigh(covariances)
    least = variances.min(axis=1, initial=1.0)
    variances = np.maximum(variances, floor)
    variances[variances <= 0] = 1.0
    return directions / np.sqrt(variances)[:, None, :], 0.5 * np.log(variances).sum(axis=1), least


def _by_triangles(covariances: Array, floor: float) -> Whiteners | None:
    """The same for many columns; None where some class may vary too little in some direction."""
    found = [whitening_triangle(covariance, max(floor, WIDE_ENOUGH)) for covariance in covariances]
    whole = [one for one in found if one is not None]
    if len(whole) < len(found):
        return None
    whiteners = np.array([whitener for whitener, _ in whole])
    spreads = -np.log(np.einsum("kjj->kj", whiteners)).sum(axis=1)
    return whiteners, spreads, np.array([least for _, least in whole])


def refuse_singular(method: str, bells: Bells, floor: float, classes: Sequence[str]) -> None:
    """Refuse a class that has no spread in some direction, if nothing is put in its place."""
    flat = [label for label, least in zip(classes, bells.least, strict=True) if least <= 1e-12]
    if flat and floor == 0:
        raise FitError(
            f"{method}: the covariance of class {' and '.join(flat[:3])} is singular",
            hint="raise 'shrinkage' or 'floor', or use lda, whose classes share one covariance",
        )
