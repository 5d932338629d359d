"""Weight, mean and scatter of sets of rows: merged, never subtracted, so that no digits are lost.

``TrainingSums`` are what a method that learns from sums sees of its training rows, by class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from mlcli.core.moments import Spread, less_row
from mlcli.core.rooms import blocks_of
from mlcli.core.tables import Array, Rows
from mlcli.engines.entries import ColumnEntries, Entries, entries_of, from_origin
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows

CELLS = 2**16
"""How many cells are gone through at once."""
PER_COLUMN = 4
"""So many rows for each column are worth the sum of their products."""
LOOKED_AT = 64
CLOSE = 0.8
"""Squares about the mean are at least a fifth of those about a place that is taken to be near it."""


Known = TypeVar("Known", "Sums", Spread)
"""What is known of sets of rows, and merges to what is known of them together."""


class Sums(NamedTuple):
    """All that least squares and normal distributions need to know of rows; leading axes are sets of rows."""

    weight: Array
    mean: Array
    scatter: Array
    """Σ w (z − mean)(z − mean)ᵀ."""

    @classmethod
    def of(
        cls, columns: Array, weights: Array | None = None, rows: Rows | None = None, target: Array | None = None
    ) -> Sums:
        """The sums of some rows, none of whose cells is empty; a target is one more column, the last."""
        some = slice(0, LOOKED_AT) if rows is None else rows[:LOOKED_AT]
        first = columns[some] if target is None else np.column_stack([columns[some], target[some]])
        if not len(first):
            return cls(np.zeros(()), np.zeros(first.shape[1]), np.zeros((first.shape[1],) * 2))
        near = np.where((first == first[0]).all(axis=0), first[0], first.mean(axis=0))
        total, sums, products = _about(near, columns, weights, rows, target)
        if (sums**2 > CLOSE * total * products.diagonal()).any():
            near = near + sums / total
            total, sums, products = _about(near, columns, weights, rows, target)
        drift = sums / total if total > 0 else sums
        return cls(np.array(total), near + drift, products - total * np.multiply.outer(drift, drift))

    @classmethod
    def stacked(cls, sums: Sequence[Sums]) -> Sums:
        """Several sets along one more axis, the first."""
        return cls(*map(np.array, zip(*sums, strict=True)))

    @property
    def squares(self) -> Array:
        """The scatter of single columns."""
        return np.asarray(np.einsum("...ii->...i", self.scatter))

    def merged(self, other: Sums) -> Sums:
        """The sums of these rows and those (Chan, Golub & LeVeque 1979)."""
        weight = self.weight + other.weight
        share = other.weight / np.where(weight > 0, weight, 1.0)
        apart = other.mean - self.mean
        between = (self.weight * share)[..., None, None] * (apart[..., :, None] * apart[..., None, :])
        return Sums(weight, self.mean + share[..., None] * apart, self.scatter + other.scatter + between)


def all_but_one(parts: Sequence[Known], always: Known) -> list[Known]:
    """For each part, what is known of all others together, and of what always counts."""
    before = [always]
    for part in parts[:-1]:
        before.append(before[-1].merged(part))
    found, after = before[-1:], parts[-1]
    for left, part in zip(before[-2::-1], parts[-2::-1], strict=True):
        found.append(left.merged(after))
        after = after.merged(part)
    return found[::-1]


def _about(
    near: Array, columns: Array, weights: Array | None, rows: Rows | None, target: Array | None
) -> tuple[float, Array, Array]:
    """Weight, sums and sums of products of rows less one near their mean, which costs products no digits."""
    width, total, first, products = columns.shape[1], 0.0, np.zeros(len(near)), np.zeros((len(near), len(near)))
    size = max(CELLS // max(1, len(near)), PER_COLUMN * len(near))
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


@dataclass(frozen=True)
class ColumnLayout:
    """What the columns of a model are."""

    numbers: Rows
    """Those that are numbers."""
    coded: tuple[Rows, ...] = ()
    """For each column of levels, those that indicate them."""

    @classmethod
    def of(cls, places: Sequence[ColumnEntries]) -> ColumnLayout:
        """Of columns, an entry of which is one of the model's."""
        numbers = [not place.column.coded for place in places for _ in place.entries]
        starts = np.cumsum([0, *(len(place.entries) for place in places)])
        coded = [
            start + np.arange(len(place.entries))
            for start, place in zip(starts, places, strict=False)
            if place.column.coded
        ]
        return cls(np.flatnonzero(numbers), tuple(coded))


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Weight, mean and squares of single columns by class; leading axes are sets of training rows."""

    weight: Array
    """... × classes."""
    cells: Spread
    """Of what is not empty (... × classes × columns)."""
    origin: Array
    """Columns are measured from here (... × columns), to keep their digits."""
    layout: ColumnLayout

    @cached_property
    def overall(self) -> Spread:
        """Of all classes together (... × columns)."""
        return self.cells.together(axis=-2)


@dataclass(frozen=True, eq=False)
class TrainingSums(ColumnSums):
    """The same, and the scatter of two columns. Rows with values are one class, and the target the last column."""

    scatter_of: Callable[[Callable[[Array], Array]], Array]
    """The scatter of columns (... × k × columns²) from what is chosen of that of entries by class."""
    constant: Array
    """Columns times such shares add up to a constant, by their making (... × m × columns)."""

    @property
    def mean(self) -> Array:
        """The mean of each class (... × classes × columns)."""
        return self.cells.mean

    @cached_property
    def scatter(self) -> Array:
        """Σ w (z − mean)(z − mean)ᵀ of each class (... × classes × columns²)."""
        return self.scatter_of(lambda scatters: scatters)

    @cached_property
    def within(self) -> Array:
        """The same of all classes, each about its own mean (... × columns²)."""
        return np.asarray(self.scatter_of(lambda scatters: scatters.sum(axis=-3, keepdims=True))[..., 0, :, :])


def column_sums(data: LabelledRows) -> ColumnSums:
    """Of each class of rows, whatever their columns."""
    entries = Entries.of(data.table, data.weights)
    features = entries_of(entries.places)
    cells = entries.spreads(data.y.astype(np.intp), len(data.classes)).at(features)
    return ColumnSums(data.class_totals, cells, entries.origin_of(features), ColumnLayout.of(entries.places))


def sums_of_classes(data: LabelledRows) -> TrainingSums:
    """Of each class of rows, whose columns are full numbers."""
    numbers, origin = from_origin(data.table.numbers)
    rows = (np.flatnonzero(data.y == k) for k in range(len(data.classes)))
    return _training_sums([Sums.of(numbers, data.weight, of_class) for of_class in rows], origin)


def sums_of_values(data: ValuedRows) -> TrainingSums:
    """Of rows with a value each, whose columns are full numbers."""
    numbers, origin = from_origin(data.table.numbers)
    return _training_sums([Sums.of(numbers, data.weight, target=data.y)], np.append(origin, 0.0))


def _training_sums(by_class: Sequence[Sums], origin: Array) -> TrainingSums:
    sums = Sums.stacked(by_class)
    cells = Spread(np.broadcast_to(sums.weight[:, None], sums.mean.shape), sums.mean, sums.squares)
    layout, constant = ColumnLayout(np.arange(len(origin))), np.empty((0, len(origin)))
    return TrainingSums(sums.weight, cells, origin, layout, lambda chosen: chosen(sums.scatter), constant)
