"""What a method that learns from sums sees of its training rows: weight, mean and scatter, by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.moments import Spread
from mlcli.core.tables import Array, Rows
from mlcli.engines.entries import Entries, Place, entries_of, from_origin
from mlcli.engines.sums import Sums
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows


@dataclass(frozen=True)
class Layout:
    """What the columns of a model are."""

    numbers: Rows
    """Those that are numbers."""
    coded: tuple[Rows, ...] = ()
    """For each column of levels, those that indicate them."""

    @classmethod
    def of(cls, places: Sequence[Place]) -> Layout:
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
    layout: Layout

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
    return ColumnSums(data.class_totals, cells, entries.origin_of(features), Layout.of(entries.places))


def sums_of_classes(data: LabelledRows) -> TrainingSums:
    """Of each class of rows, whose columns are full numbers."""
    numbers, origin = from_origin(data.table.numbers)
    rows = (np.flatnonzero(data.y == k) for k in range(len(data.classes)))
    return _of([Sums.of(numbers, data.weight, of_class) for of_class in rows], origin)


def sums_of_values(data: ValuedRows) -> TrainingSums:
    """Of rows with a value each, whose columns are full numbers."""
    numbers, origin = from_origin(data.table.numbers)
    return _of([Sums.of(numbers, data.weight, target=data.y)], np.append(origin, 0.0))


def _of(by_class: Sequence[Sums], origin: Array) -> TrainingSums:
    sums = Sums.stacked(by_class)
    cells = Spread(np.broadcast_to(sums.weight[:, None], sums.mean.shape), sums.mean, sums.squares)
    layout, constant = Layout(np.arange(len(origin))), np.empty((0, len(origin)))
    return TrainingSums(sums.weight, cells, origin, layout, lambda chosen: chosen(sums.scatter), constant)
