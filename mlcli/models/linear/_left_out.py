"""Least squares without each row in turn: by leverages, or by downdated sums where steps learn from the others."""

from __future__ import annotations

import numpy as np

from mlcli.core.held_out import HeldOut
from mlcli.core.tables import Array, Flags
from mlcli.engines.expansion import NONE, UNSCALED, Recipe, prepared
from mlcli.engines.sums import Sums
from mlcli.models.linear._from_sums import Basis, inverse_of
from mlcli.models.linear._rescaled import without_each

CLOSEST = 1e-4
"""A row whose leverage is nearer to 1 than this decides the plane alone where it lies: it is fitted without."""
LOST = 1e-6
"""What must be left of a column's scatter when a row is taken away, to keep ten digits."""
LEAST_PIVOT = 1e-5
"""What must be left of the variance of a column, as a share, when the columns before it are known."""


def one_by_one(basis: Basis, recipe: Recipe, weights: Array, l2: float) -> HeldOut | None:
    """The answer to every row by the plane nearest to all others."""
    (sums,) = basis.sums
    found = prepared(recipe, sums)
    if found is None or (l2 == 0 and (found.constant & (recipe.whole != NONE)).any()):
        return None
    recipe = recipe.without(found.constant)
    # Least squares does not depend on units, so leaving a row out changes the plane through its leverage only.
    learns_from_others = recipe.has_gap.any() or (l2 > 0 and (recipe.ddof != UNSCALED).any())
    way = downdated if learns_from_others else _by_leverage
    return way(recipe, basis.columns, weights, sums, l2)


def _by_leverage(recipe: Recipe, columns: Array, weights: Array, sums: Sums, l2: float) -> HeldOut | None:
    """ŷ without the row is y − e / (1 − h), h the leverage of the row (Allen 1974)."""
    kept = [*recipe.main, columns.shape[1] - 1]
    centred = columns[:, kept] - sums.mean[kept]
    gram = sums.scatter[np.ix_(kept, kept)]
    inverse = inverse_of(gram[:-1, :-1] + l2 * np.eye(len(kept) - 1))
    if inverse is None:
        return None
    X, y = centred[:, :-1], centred[:, -1]
    pulled = X @ inverse
    leverage = weights * (1 / sums.weight + np.einsum("ij,ij->i", pulled, X))
    residual = y - X @ (inverse @ gram[:-1, -1])
    free = 1 - leverage
    refused = free < CLOSEST
    answers = columns[:, -1] - residual / np.where(refused, 1.0, free)
    return HeldOut(answers, refused, "leverages")


def downdated(recipe: Recipe, columns: Array, weights: Array, sums: Sums, l2: float) -> HeldOut:
    """Each row by what is left of the sums without it: where units change little at once, else plane by plane."""
    answers, sure = np.zeros(len(columns)), np.zeros(len(columns), bool)
    if not recipe.has_gap.any():
        answers, sure = without_each(recipe, columns, weights, sums, l2)
    refused, rows = np.zeros(len(columns), bool), np.flatnonzero(~sure)
    if len(rows):
        answers[rows], refused[rows] = _plane_by_plane(recipe, columns[rows], weights[rows], sums, l2)
    return HeldOut(answers, refused, "downdated sums")


def _plane_by_plane(recipe: Recipe, columns: Array, weights: Array, sums: Sums, l2: float) -> tuple[Array, Flags]:
    """The answer to each row by a system of its own, and which rows are refused."""
    from mlcli.kernels.left_out import planes_without_each

    answers, refused = np.zeros(len(columns)), np.zeros(len(columns), bool)
    sizes = [len(levels) for levels in recipe.sources]
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    levels = np.array([level for one in recipe.sources for level in one], np.intp)
    planes_without_each(
        np.ascontiguousarray(columns), weights, sums.weight, sums.mean, sums.scatter,
        recipe.main, recipe.gap, recipe.has_gap, recipe.fills, recipe.ddof, begins, levels,
        l2, LOST, LEAST_PIVOT, answers, refused,
    )  # fmt: skip
    return answers, refused
