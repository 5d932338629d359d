"""Discriminants without each row in turn: the row is taken away from the mean and the scatter of its class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.held_out import HeldOut
from mlcli.core.tables import Array, Flags
from mlcli.models.discriminants._bells import Bells
from mlcli.models.discriminants._held_out import (
    ALONE,
    SURELY_KEPT,
    Method,
    Scores,
    Task,
    Taught,
    log_priors_without_each,
    refusing_unsettled,
)
from mlcli.models.discriminants._spectra import linear_by_spectra
from mlcli.models.discriminants._whitening import units_of
from mlcli.tasks.classification import LabelledRows

CLOSEST = 1e-3
"""A row that leaves less than this share of the scatter in some direction is fitted without."""
FLAT = 1e-11
"""Rows that leave the directions that are kept by no more than this (in units of spread) lie in them."""
ROUTE = "rows taken away from their class"


@dataclass(frozen=True, eq=False)
class Away:
    """Of every row: what its class has without it, and how far it lies from the mean of its class with it."""

    inside: Array
    """Whitened rows, from the mean of all."""
    means: Array
    own: Array
    """The way from the mean of its class."""
    step: Array
    """The mean without it is the mean with it less so much of ``own``."""
    factor: Array
    """The scatter without it is the scatter with it less so much of ``own`` times itself."""
    alone: Flags
    """Whether it is all that its class has."""
    log_priors: Array

    @classmethod
    def of(cls, data: LabelledRows, taught: Taught, made: Array, method: Method) -> Away:
        """All rows at once."""
        sums, transform, y = taught.sums, taught.whitening.transform, data.y
        inside = (made - sums.centre) @ transform
        means = (sums.mean - sums.centre) @ transform
        rest = sums.weight[y] - data.weights
        alone = rest <= ALONE * sums.weight[y]
        rest = np.where(alone, 1.0, rest)
        factor = data.weights * sums.weight[y] / rest
        priors = log_priors_without_each(data, sums.weight, method)
        return cls(inside, means, inside - means[y], data.weights / rest, factor, alone, priors)


def is_flat(taught: Taught, made: Array, ddof: int) -> bool:
    """Whether all rows lie in the directions that are kept, so that the others mean nothing in any units."""
    sums, transform = taught.sums, taught.whitening.transform
    units = units_of(sums, ddof)
    varying = np.isfinite(units)
    if transform.shape[1] == varying.sum():
        return True
    basis = np.linalg.qr(transform[varying] * units[varying, None])[0]
    scaled = (made - sums.centre)[:, varying] / units[varying]
    return bool(np.abs(scaled - scaled @ basis @ basis.T).max(initial=0.0) <= FLAT)


def linear_without_each(task: Task, taught: Taught, method: Method) -> HeldOut:
    """Sherman-Morrison: W⁻¹ without the row is W⁻¹ + c W⁻¹d dᵀW⁻¹ / (1 − c dᵀW⁻¹d)."""
    data, made = task.data, taught.made(task.columns)
    if not is_flat(taught, made, method.ddof):
        return linear_by_spectra(task, taught, method)
    away = Away.of(data, taught, made, method)
    freedom, y, each = taught.sums.freedom(method.ddof), data.y, np.arange(len(data))
    length, along = squares(away.own), np.einsum("ij,ij->i", away.own, away.inside)
    free = 1 - away.factor * length / freedom
    less = freedom - data.weights
    refused = away.alone | (free < CLOSEST) | (free * taught.whitening.least < SURELY_KEPT) | (less <= 0)
    free = np.where(refused, 1.0, free)
    toward = away.inside @ away.means.T
    of_own = away.own @ away.means.T
    sizes = np.tile(squares(away.means), (len(y), 1))
    # the mean of the row's own class moves away from it
    sizes[each, y] += away.step * (away.step * length - 2 * of_own[each, y])
    toward[each, y] -= away.step * along
    of_own[each, y] -= away.step * length
    gain = (away.factor / freedom / free)[:, None] * of_own
    values = toward - 0.5 * sizes + gain * (along[:, None] - 0.5 * of_own)
    values = values * (less / freedom)[:, None] + away.log_priors
    size = np.sqrt(squares(away.inside) * sizes.max(axis=1)) + sizes.max(axis=1)
    return refusing_unsettled(Scores(values, size), free * taught.whitening.least, refused, ROUTE)


def quadratic_without_each(
    task: Task, taught: Taught, method: Method, bells: Bells, floor: float
) -> HeldOut | None:
    """Only the row's own class changes: its mean, its inverse by Sherman-Morrison, and its determinant."""
    data, made = task.data, taught.made(task.columns)
    sums, y, each = taught.sums, data.y, np.arange(len(data))
    least = bells.least_of(sums)
    if not is_flat(taught, made, method.ddof):
        return None
    away = Away.of(data, taught, made, method)
    squared = -2 * (bells.log_densities(made @ taught.whitening.transform) + bells.log_spreads)
    freedom = (sums.weight - method.ddof)[y]
    less, own = freedom - data.weights, squared[each, y]
    free = 1 - away.factor * own / freedom
    low = free * least < max(SURELY_KEPT * CLOSEST, 2 * floor)
    refused = away.alone | (free < CLOSEST) | low | (less <= 0)
    free, less = np.where(refused, 1.0, free), np.where(less > 0, less, 1.0)
    squared[each, y] = own / free * (1 + away.step) ** 2 * less / freedom
    spreads = np.tile(bells.log_spreads, (len(y), 1))
    spreads[each, y] += 0.5 * (np.log(free) + taught.whitening.transform.shape[1] * np.log(freedom / less))
    values = away.log_priors - 0.5 * squared - spreads
    return refusing_unsettled(Scores(values, squared.max(axis=1)), free * least, refused, ROUTE)


def squares(vectors: Array) -> Array:
    """The squared length of each row."""
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))
