"""What a method that learns from sums sees of its training rows: weight, mean and scatter, by class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.moments import Spread
from mlcli.core.tables import Array, Rows
from mlcli.engines.entries import Entries, Place, from_origin
from mlcli.engines.sums import Sums
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows


@dataclass(frozen=True)
class Layout:
    """Where the columns of a model come from."""

    features: Rows
    """The entry of each."""
    numbers: Rows
    """Those that are numbers."""
    coded: tuple[Rows, ...]
    """For each column of levels, those that indicate them."""

    @classmethod
    def of(cls, places: Sequence[Place]) -> Layout:
        """Of columns and their entries."""
        numbers: list[Rows] = []
        coded: list[Rows] = []
        count, columns = 0, np.arange(sum(len(place.entries) for place in places))
        for place in places:
            here = columns[count : (count := count + len(place.entries))]
            (coded if place.column.coded else numbers).append(here)
        features = np.concatenate([np.empty(0, np.intp), *(place.entries for place in places)])
        return cls(features.astype(np.intp), np.concatenate([np.empty(0, np.intp), *numbers]), tuple(coded))


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
    layout = Layout.of(entries.places)
    spread = entries.spreads(data.y.astype(np.intp), len(data.classes))
    origin = np.append(entries.origin, np.zeros(entries.width - len(entries.origin)))
    return ColumnSums(data.class_totals, spread.at(layout.features), origin[layout.features], layout)


def sums_of_classes(data: LabelledRows) -> TrainingSums:
    """Of each class of rows, whose columns are full numbers."""
    numbers, origin = from_origin(data.table.numbers)
    rows = (np.flatnonzero(data.y == k) for k in range(len(data.classes)))
    return _of(Sums.stacked([Sums.of(numbers, data.weight, of_class) for of_class in rows]), origin)


def sums_of_values(data: ValuedRows) -> TrainingSums:
    """Of rows with a value each, whose columns are full numbers."""
    numbers, origin = from_origin(data.table.numbers)
    sums = Sums.stacked([Sums.of(numbers, data.weight, target=data.y)])
    return _of(sums, np.append(origin, 0.0))


def _of(sums: Sums, origin: Array) -> TrainingSums:
    everything = np.arange(len(origin))
    cells = Spread(np.broadcast_to(sums.weight[:, None], sums.mean.shape), sums.mean, sums.squares)
    return TrainingSums(
        weight=sums.weight,
        cells=cells,
        origin=origin,
        layout=Layout(everything, everything, ()),
        scatter_of=lambda some: some(sums.scatter),
        constant=np.empty((0, len(origin))),
    )
