"""Ridge from one pass over the rows: sums of columns that are told from a row near them.

Sums alone give the slopes to ten digits where columns are far from collinear; else the rows are asked again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.blocks import less_row
from mlcli.core.containers import ValuedRows
from mlcli.core.tables import Array
from mlcli.models.linear._design import CONSTANT
from mlcli.models.linear._from_sums import inverse_of

FEWEST_PER_COLUMN = 5
"""With fewer rows per column there is nothing to save."""
LOOKED_AT = 16
FAR = 9.0
"""A place farther than 3 deviations from the mean of some column costs digits."""


@dataclass(frozen=True, eq=False)
class SimplePlane:
    """A linear function: its slopes, and its level at a centre."""

    slopes: Array
    centre: Array
    level: float


def plane_in_one_pass(data: ValuedRows, l2: float) -> SimplePlane | None:
    """The plane nearest to training rows, with an intercept; None where one pass does not tell it."""
    data = data if data.weight is None else data.counted()
    numbers, y = data.table.numbers, data.y
    if len(y) < FEWEST_PER_COLUMN * (numbers.shape[1] + 1) or not numbers.shape[1]:
        return None
    near, near_y = numbers[:LOOKED_AT].mean(axis=0), float(y[:LOOKED_AT].mean())
    told = _sums(less_row(numbers, near), y - near_y, data.weight)
    total, means = told.total, told.first / told.total
    gram = told.products - total * np.outer(means, means)
    toward = told.toward - told.level * means
    variances = gram.diagonal() / total
    sizes = np.hypot(near, np.sqrt(np.maximum(variances, 0.0)))
    if (variances <= CONSTANT * sizes**2).any() or (means**2 > FAR * variances).any():
        return None
    inverse = inverse_of(gram + l2 * np.eye(len(near)))
    if inverse is None:
        return None
    return SimplePlane(inverse @ toward, near + means, near_y + told.level / total)


@dataclass(frozen=True, eq=False)
class _Told:
    """Sums over rows: of weights, of columns, of their products, of columns times target, and of the target."""

    total: float
    first: Array
    products: Array
    toward: Array
    level: float


def _sums(columns: Array, y: Array, weight: Array | None) -> _Told:
    if weight is None:
        ones = np.ones(len(y))
        return _Told(float(len(y)), ones @ columns, columns.T @ columns, y @ columns, float(y.sum()))
    first, toward, level = weight @ columns, (weight * y) @ columns, float(weight @ y)
    columns *= np.sqrt(weight)[:, None]
    return _Told(float(weight.sum()), first, columns.T @ columns, toward, level)
