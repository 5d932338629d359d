"""Weight, mean and scatter of rows: the statistics that suffice for least squares and normal classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mlcli.core.moments import WeightedMoments, from_origin, less_row
from mlcli.core.tables import Array, Rows, blocks_of
from mlcli.tasks.supervised import LabelledRows, ValuedRows

CELLS = 2**16
"""The cells in a block."""
FIRST_ROWS = 64
"""Their mean is subtracted from all rows, to keep digits."""


class Sums(NamedTuple):
    """The weight of rows, the mean of each column and the scatter Σ w (z − mean)(z − mean)ᵀ."""

    weight: Array
    mean: Array
    scatter: Array

    @classmethod
    def of(
        cls, columns: Array, weights: Array | None = None, rows: Rows | None = None, target: Array | None = None
    ) -> Sums:
        """The sums of some rows without missing cells; a target is one more column, the last."""
        head = slice(0, FIRST_ROWS) if rows is None else rows[:FIRST_ROWS]
        first = columns[head] if target is None else np.column_stack([columns[head], target[head]])
        if not len(first):
            return cls(np.zeros(()), np.zeros(first.shape[1]), np.zeros((first.shape[1],) * 2))
        near = np.where((first == first[0]).all(axis=0), first[0], first.mean(axis=0))
        total, sums, products = _about(near, columns, weights, rows, target)
        if (sums**2 > 0.8 * total * products.diagonal()).any():  # most of the squares comes from a mean far off
            near = near + sums / total
            total, sums, products = _about(near, columns, weights, rows, target)
        drift = sums / total if total > 0 else sums
        return cls(np.array(total), near + drift, products - total * np.multiply.outer(drift, drift))


def _about(
    near: Array, columns: Array, weights: Array | None, rows: Rows | None, target: Array | None
) -> tuple[float, Array, Array]:
    """Weight, sums and sums of products of rows less ``near``, a row close to the mean, to keep digits."""
    width, total, first, products = columns.shape[1], 0.0, np.zeros(len(near)), np.zeros((len(near), len(near)))
    size = max(CELLS // max(1, len(near)), 4 * len(near))
    for block in blocks_of(len(columns if rows is None else rows), 1, size):
        here = block if rows is None else rows[block]
        cells = less_row(columns[here], near[:width])
        weight = np.ones(len(cells)) if weights is None else weights[here]
        weighted = cells if weights is None else cells * np.sqrt(weight)[:, None]
        total += float(weight.sum())
        first[:width] += weight @ cells
        products[:width, :width] += weighted.T @ weighted
        if target is not None:
            values = target[here] - near[width]
            first[width] += weight @ values
            products[width, :width] += (weight * values) @ cells
            products[width, width] += (weight * values) @ values
    products[:width, width:] = products[width:, :width].T
    return total, first, products


@dataclass(frozen=True, eq=False)
class TrainingSums:
    """The sums of each class of training rows; rows with values are one class, with the target as last column."""

    weight: Array
    """Of each class."""
    mean: Array
    """Of each class, less ``origin`` (classes × columns)."""
    scatter: Array
    """Of each class about its own mean (classes × columns²)."""
    origin: Array
    """Columns are measured from here, to keep their digits."""

    @classmethod
    def stacked(cls, by_class: Sequence[Sums], origin: Array) -> TrainingSums:
        """From the sums of each class."""
        weight, mean, scatter = (np.array(part) for part in zip(*by_class, strict=True))
        return cls(weight, mean, scatter, origin)

    @cached_property
    def squares(self) -> Array:
        """The sum of squares of each column about the mean of its class (classes × columns)."""
        return np.asarray(np.einsum("kii->ki", self.scatter))

    @cached_property
    def overall(self) -> WeightedMoments:
        """Weight, mean and squares of each column in all classes together."""
        return WeightedMoments(
            np.broadcast_to(self.weight[:, None], self.mean.shape), self.mean, self.squares
        ).together()

    @cached_property
    def within(self) -> Array:
        """The scatter of all classes, each about its own mean (columns²)."""
        return np.asarray(self.scatter.sum(axis=0))


def sums_of_classes(data: LabelledRows) -> TrainingSums:
    """Of each class of rows, whose columns are full numbers."""
    numbers, origin = from_origin(data.table.numbers)
    rows = (np.flatnonzero(data.y == k) for k in range(len(data.classes)))
    return TrainingSums.stacked([Sums.of(numbers, data.weight, of_class) for of_class in rows], origin)


def sums_of_values(data: ValuedRows) -> TrainingSums:
    """Of rows with a value each, whose columns are full numbers."""
    numbers, origin = from_origin(data.table.numbers)
    return TrainingSums.stacked([Sums.of(numbers, data.weight, target=data.y)], np.append(origin, 0.0))
