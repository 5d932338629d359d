"""Least squares, ridged or not, from one pass over the rows: sums of columns that are told from a place near them.

Sums alone give the slopes to ten digits where columns are far from collinear; else the rows are asked again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.tables import Array
from mlcli.models.linear._design import CONSTANT
from mlcli.models.linear._from_sums import Plane, inverse_of
from mlcli.models.linear._standard import BLOCK, blocks
from mlcli.tasks.regression import ValuedRows

FEWEST_PER_COLUMN = 5
"""With fewer rows per column there is nothing to save."""
LOOKED_AT = 16
FAR = 9.0
"""A place farther than 3 deviations from the mean of some column costs digits."""
NEAR_NOTHING = 4.0
"""Columns within so many variances of 0, as their first rows have it, are taken as they are."""


@dataclass(frozen=True, eq=False)
class Near:
    """Columns told from a place near them, 0 if None."""

    numbers: Array
    place: Array | None

    @classmethod
    def of(cls, numbers: Array) -> Self:
        """The place is among the first rows, or 0 where columns are near it."""
        some = numbers[:LOOKED_AT]
        mean = some.mean(axis=0)
        near_nothing = (mean**2 <= NEAR_NOTHING * some.var(axis=0)).all()
        return cls(numbers, None if near_nothing else mean)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """The rows in blocks; a single one is told once."""
        return iter(self._only) if self.numbers.size <= BLOCK else self._told()

    @cached_property
    def _only(self) -> Sequence[tuple[slice, Array]]:
        return list(self._told())

    def _told(self) -> Iterator[tuple[slice, Array]]:
        for rows, block in blocks(self.numbers):
            yield rows, block if self.place is None else less_row(block, self.place)


@dataclass(frozen=True, eq=False)
class SimplePlane(Plane):
    """A plane, and the inverse (XᵀX + l2·I)⁻¹ it was found by."""

    inverse: Array
    near: Near

    @property
    def from_place(self) -> Array:
        """The centre as columns are told."""
        return self.centre if self.near.place is None else self.centre - self.near.place


def plane_in_one_pass(data: ValuedRows, l2: float) -> SimplePlane | None:
    """The plane nearest to rows of weight, with an intercept; None where one pass does not tell it."""
    numbers, y = data.table.numbers, data.y
    if len(y) < FEWEST_PER_COLUMN * (numbers.shape[1] + 1) or not numbers.shape[1]:
        return None
    near, near_y = Near.of(numbers), float(y[:LOOKED_AT].mean())
    told = _sums(near, y - near_y, data.weight)
    total, means = told.total, told.first / told.total
    gram = told.products - total * np.outer(means, means)
    toward = told.toward - told.level * means
    variances, centre = gram.diagonal() / total, means if near.place is None else near.place + means
    if (variances <= CONSTANT * (centre**2 + variances)).any() or (means**2 > FAR * variances).any():
        return None
    gram.reshape(-1)[:: len(means) + 1] += l2
    inverse = inverse_of(gram)
    if inverse is None:
        return None
    return SimplePlane(inverse @ toward, centre, near_y + told.level / total, inverse, near)


def corrected(plane: SimplePlane, data: ValuedRows) -> tuple[SimplePlane, float]:
    """A plane of least squares after one correction by its residuals, and their weighted squares then."""
    left, toward = _residuals(plane, data)
    total = float(left.sum() if data.weight is None else data.weight @ left)
    slopes = plane.slopes + plane.inverse @ (toward - total * plane.from_place)
    plane = replace(plane, slopes=slopes, level=plane.level + total / float(data.weights.sum()))
    left, _ = _residuals(plane, data)
    return plane, float(left @ left if data.weight is None else data.weight * left @ left)


@dataclass(frozen=True, eq=False)
class _Told:
    """Sums over rows: of weights, of columns, of their products, of columns times target, and of the target."""

    total: float
    first: Array
    products: Array
    toward: Array
    level: float


def _sums(near: Near, y: Array, weight: Array | None) -> _Told:
    width = near.numbers.shape[1]
    first, toward, products = np.zeros(width), np.zeros(width), np.zeros((width, width))
    weights = np.ones(len(y)) if weight is None else weight
    root, weighted = (None, y) if weight is None else (np.sqrt(weight)[:, None], y * weight)
    for rows, cells in near.blocks():
        first += weights[rows] @ cells
        toward += weighted[rows] @ cells
        rooted = cells if root is None else cells * root[rows]
        products += rooted.T @ rooted
    return _Told(float(weights.sum()), first, products, toward, float(weighted.sum()))


def _residuals(plane: SimplePlane, data: ValuedRows) -> tuple[Array, Array]:
    """What the plane leaves of the target of each row, and its weighted sum with each column told from a place."""
    offset = plane.level - plane.from_place @ plane.slopes
    left, toward = data.y - offset, np.zeros(len(plane.slopes))
    for rows, cells in plane.near.blocks():
        left[rows] -= cells @ plane.slopes
        toward += (left[rows] if data.weight is None else left[rows] * data.weight[rows]) @ cells
    return left, toward
