"""Least squares, ridged or not, from one pass over the rows: sums of columns that are told from a place near them.

Sums alone give the slopes to ten digits where columns are far from collinear; else the rows are asked again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.containers import ValuedRows
from mlcli.core.tables import Array
from mlcli.models.linear._design import CONSTANT
from mlcli.models.linear._from_sums import Plane, inverse_of
from mlcli.models.linear._standard import blocks

FEWEST_PER_COLUMN = 5
"""With fewer rows per column there is nothing to save."""
LOOKED_AT = 16
FAR = 9.0
"""A place farther than 3 deviations from the mean of some column costs digits."""
NEAR_NOTHING = 4.0
"""Columns within so many variances of 0, as their first rows have it, are taken as they are."""


@dataclass(frozen=True, eq=False)
class SimplePlane(Plane):
    """A plane, and the inverse (XᵀX + l2·I)⁻¹ it was found by."""

    inverse: Array
    place: Array | None
    """Where columns are told from; 0 if None."""


def plane_in_one_pass(data: ValuedRows, l2: float) -> SimplePlane | None:
    """The plane nearest to rows of weight, with an intercept; None where one pass does not tell it."""
    numbers, y = data.table.numbers, data.y
    if len(y) < FEWEST_PER_COLUMN * (numbers.shape[1] + 1) or not numbers.shape[1]:
        return None
    place, near_y = _place_near(numbers), float(y[:LOOKED_AT].mean())
    told = _sums(numbers, place, y - near_y, data.weight)
    total, means = told.total, told.first / told.total
    gram = told.products - total * np.outer(means, means)
    toward = told.toward - told.level * means
    variances, centre = gram.diagonal() / total, means if place is None else place + means
    if (variances <= CONSTANT * (centre**2 + variances)).any() or (means**2 > FAR * variances).any():
        return None
    gram.reshape(-1)[:: len(means) + 1] += l2
    inverse = inverse_of(gram)
    if inverse is None:
        return None
    return SimplePlane(inverse @ toward, centre, near_y + told.level / total, inverse, place)


def corrected(plane: SimplePlane, data: ValuedRows) -> tuple[SimplePlane, float]:
    """A plane of least squares after one correction by its residuals, and their weighted squares then."""
    plane = _correction(plane, data, _residuals(plane, data))
    left = _residuals(plane, data)
    return plane, float(left @ left if data.weight is None else data.weight * left @ left)


def _place_near(numbers: Array) -> Array | None:
    """A row near all rows, by the first ones; None where columns are near 0."""
    some = numbers[:LOOKED_AT]
    near = some.mean(axis=0)
    return None if (near**2 <= NEAR_NOTHING * some.var(axis=0)).all() else near


@dataclass(frozen=True, eq=False)
class _Told:
    """Sums over rows: of weights, of columns, of their products, of columns times target, and of the target."""

    total: float
    first: Array
    products: Array
    toward: Array
    level: float


def _sums(numbers: Array, place: Array | None, y: Array, weight: Array | None) -> _Told:
    width = numbers.shape[1]
    first, toward, products = np.zeros(width), np.zeros(width), np.zeros((width, width))
    weights = np.ones(len(y)) if weight is None else weight
    root, weighted = (None, y) if weight is None else (np.sqrt(weight)[:, None], y * weight)
    for rows, cells in _told_from(place, numbers):
        first += weights[rows] @ cells
        toward += weighted[rows] @ cells
        rooted = cells if root is None else cells * root[rows]
        products += rooted.T @ rooted
    return _Told(float(weights.sum()), first, products, toward, float(weighted.sum()))


def _residuals(plane: SimplePlane, data: ValuedRows) -> Array:
    """What the plane leaves of the target of each row."""
    offset = plane.level - _from_place(plane) @ plane.slopes
    left = data.y - offset
    for rows, cells in _told_from(plane.place, data.table.numbers):
        left[rows] -= cells @ plane.slopes
    return left


def _correction(plane: SimplePlane, data: ValuedRows, left: Array) -> SimplePlane:
    """The plane after one step by what it left."""
    weighted = left if data.weight is None else left * data.weight
    toward, level = -weighted.sum() * _from_place(plane), weighted.sum() / data.weights.sum()
    for rows, cells in _told_from(plane.place, data.table.numbers):
        toward += weighted[rows] @ cells
    return replace(plane, slopes=plane.slopes + plane.inverse @ toward, level=plane.level + float(level))


def _from_place(plane: SimplePlane) -> Array:
    return plane.centre if plane.place is None else plane.centre - plane.place


def _told_from(place: Array | None, numbers: Array) -> Iterator[tuple[slice, Array]]:
    """The rows in blocks, their columns told from a place."""
    for rows, block in blocks(numbers):
        yield rows, block if place is None else less_row(block, place)
