"""Coordinates in which the covariance that classes share is the identity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.models.discriminants._classes import ClassSums
from mlcli.models.discriminants._triangles import WIDE, whitening_triangle

LEAST_SPREAD = 1e-4
"""A direction in which classes vary less than this share of what columns do is left out, as in scikit-learn."""
SURE = 1e-5
"""From this spread on, sums of squares show a direction as exactly as the rows do."""
SAME = 1e-9
"""Means of classes that are closer than this share of the spread do not differ."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """``transform`` is p × r; ``variances`` are of all directions of columns of variance 1, r of them kept.

    Where ``transform`` is a triangle, they are what no direction has less of.
    """

    transform: Array
    variances: Array
    units: Array
    """Of the columns, infinite where no class varies."""

    @property
    def least(self) -> float:
        """The smallest variance of a direction that is kept."""
        return float(self.variances[self.variances > LEAST_SPREAD**2].min(initial=1.0))


def units_of(sums: ClassSums, ddof: int) -> Array:
    """The deviation of each column within classes; infinite where no class varies."""
    freedom = sums.freedom(ddof)
    variances = np.maximum(sums.shared.diagonal(), 0.0) / (freedom if freedom > 0 else 1.0)
    varies = sums.varies & (variances > 0)
    return np.where(varies, np.sqrt(np.where(varies, variances, 1.0)), np.inf)


def whitening_from(sums: ClassSums, ddof: int) -> Whitening:
    """The whitening by sums alone."""
    units, varying, correlations = _correlations(sums, ddof)
    variances, directions = np.linalg.eigh(correlations)
    return _kept(variances, directions, units, varying)


def _correlations(sums: ClassSums, ddof: int) -> tuple[Array, Rows, Array]:
    """The units, which columns vary, and how these are correlated within classes."""
    units = units_of(sums, ddof)
    varying = np.flatnonzero(np.isfinite(units))
    inside = units[varying]
    shared = sums.shared[varying[:, None], varying]
    return units, varying, shared / sums.freedom(ddof) / np.multiply.outer(inside, inside)


def _by_triangle(sums: ClassSums, ddof: int) -> Whitening | None:
    """The whitening of many columns none of which nearly follows from others."""
    if len(sums.varies) < WIDE:
        return None
    units, varying, correlations = _correlations(sums, ddof)
    found = whitening_triangle(correlations, SURE)
    if found is None:
        return None
    transform = np.zeros((len(units), len(varying)))
    transform[varying] = found[0] / units[varying][:, None]
    return Whitening(transform, np.full(len(varying), found[1]), units)


def whitening_of(
    sums: ClassSums, ddof: int, columns: Callable[[], Array], y: Codes, weight: Array | None
) -> Whitening:
    """The whitening by sums; by the rows themselves if some direction is too narrow for sums to show it."""
    found = _by_triangle(sums, ddof) or whitening_from(sums, ddof)
    if found.least >= SURE:
        return found
    units = found.units
    varying = np.flatnonzero(np.isfinite(units))
    within = (columns()[:, varying] - sums.mean[y][:, varying]) / units[varying]
    if weight is not None:
        within *= np.sqrt(weight)[:, None]
    triangle = np.linalg.qr(within, mode="r")
    _, spreads, directions = np.linalg.svd(triangle, full_matrices=False)
    return _kept(spreads**2 / sums.freedom(ddof), directions.T, units, varying)


def _kept(variances: Array, directions: Array, units: Array, varying: Rows) -> Whitening:
    kept = variances > LEAST_SPREAD**2
    transform = np.zeros((len(units), int(kept.sum())))
    transform[varying] = directions[:, kept] / np.sqrt(variances[kept]) / units[varying][:, None]
    return Whitening(transform, variances, units)


def doubts(sums: ClassSums, whitening: Whitening) -> Iterator[str]:
    """What a person should know of directions that are left out."""
    means = sums.mean[sums.present]
    apart = means.max(axis=0) - means.min(axis=0)
    constant = ~np.isfinite(whitening.units)
    telling = int((constant & (apart > SAME * np.abs(means).max(axis=0))).sum())
    if telling:
        yield (
            f"{telling} column{'s do' if telling > 1 else ' does'} not vary within any class, though the classes "
            "differ there: no covariance can use that, and it is left out"
        )
    varying, found = int((~constant).sum()), whitening.transform.shape[1]
    if found < varying and sums.freedom(1) < varying:
        yield (
            f"{varying} columns vary within classes, and the rows show only {found} directions: what lies outside "
            "them is left out; pca in front, or more rows, would help"
        )
