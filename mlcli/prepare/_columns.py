"""Base classes of steps: convert or combine columns, rescale numbers, project rows, change the training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError
from mlcli.core.model import Step
from mlcli.core.rows import R, RowsOfTable
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Cells, Table
from mlcli.tasks.supervised import SupervisedRows

ComputeCells = Callable[[Cells], Cells]
"""Computes the cells of a new column from those of the column that it replaces."""
CombineCells = Callable[[Array], Array]
"""Computes the cells of a new column from those of all numeric columns (columns × rows)."""


def unchanged(cells: Cells) -> Cells:
    """The same cells."""
    return cells


@dataclass(kw_only=True, eq=False)
class ByColumn(Step):
    """A step that converts columns one by one: each is kept, removed, or replaced by one or more new columns."""

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """The columns that replace a column, each with the function that computes its cells."""
        raise TypeError(f"{type(self).__name__} does not define derive")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The new columns, each in the position of the column that it replaces."""
        return tuple(new for column in columns for new, _ in self.derive(column))

    def transform(self, table: Table) -> Table:
        """The table with its columns converted."""
        parts = ((new, compute(cells)) for column, cells in table.parts() for new, compute in self.derive(column))
        return Table.of(parts, len(table))


@dataclass(kw_only=True, eq=False)
class Combining(Step):
    """A step that keeps all columns and appends new ones, each computed from several numeric columns."""

    def new_columns(self, columns: Sequence[Column]) -> Iterator[tuple[Column, CombineCells]]:
        """The new columns for these numeric columns, each with the function that computes its cells."""
        raise TypeError(f"{type(self).__name__} does not define new_columns")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns, then the new ones."""
        return (*columns, *(new for new, _ in self.new_columns(numeric(columns))))

    def transform(self, table: Table) -> Table:
        """The table with the new columns."""
        cells = np.ascontiguousarray(table.numbers.T)
        added = ((column, combine(cells)) for column, combine in self.new_columns(table.number_columns))
        return Table.of([*table.parts(), *added], len(table))


@dataclass(kw_only=True, eq=False)
class Rescaling(Step):
    """(x − origin) / unit in each numeric column, 0 where the unit is 0; missing values stay missing."""

    scales: ClassVar[bool] = True

    def scale(self) -> tuple[Array, Array]:
        """The origin and the unit of each numeric column."""
        raise TypeError(f"{type(self).__name__} does not define scale")

    def transform(self, table: Table) -> Table:
        """The table with rescaled numbers."""
        origin, unit = self.scale()
        varies = unit > 0
        # Multiplying by False makes cells of constant columns 0 and keeps NaN.
        return replace(table, numbers=(table.numbers - origin) / np.where(varies, unit, 1.0) * varies)

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The table in its original units; a constant column gets its one value."""
        origin, unit = self.scale()
        return replace(table, columns=self.columns_, numbers=table.numbers * unit + origin)

    def log_stretch(self) -> float:
        """Minus the sum of the log units of all columns that vary."""
        _, unit = self.scale()
        return float(-np.log(unit[unit > 0]).sum())


@dataclass(kw_only=True, eq=False)
class Projection(Step):
    """A step that replaces all columns by the coordinates of the rows in a new space."""

    noun: ClassVar[str] = "component"
    """The name of the new columns, which a number follows."""

    accepts = Accepts(weights=True)

    def count(self, columns: tuple[Column, ...]) -> int:
        """How many new columns there are for these input columns."""
        result: int = getattr(self, f"{self.noun}s")
        return result

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The new columns."""
        return self._numbered_columns(self.count(columns))

    def _numbered_columns(self, count: int) -> tuple[Column, ...]:
        return tuple(Column(f"{self.noun}_{index}") for index in range(1, count + 1))

    def log_stretch(self) -> float:
        """Refused: a density of the new columns says nothing about a density of the old ones."""
        message = f"{self.id} replaces the columns, so that a density of its output is not a density of its input"
        raise FitError(message, hint="leave the step out")

    def project(self, table: Table) -> Array:
        """The coordinates of each row (rows × new columns)."""
        raise TypeError(f"{type(self).__name__} does not define project")

    def transform(self, table: Table) -> Table:
        """The table with coordinates instead of columns."""
        coordinates = self.project(table)
        return Table(self._numbered_columns(coordinates.shape[1]), coordinates, table.codes)


@dataclass(kw_only=True, eq=False)
class RowStep(Step):
    """A step that changes the training rows or their weights; rows to be predicted stay as they are."""

    for_columns: ClassVar[bool] = False
    """Whether it changes some columns of the rows, so that ``columns`` may choose them."""
    changes_rows: ClassVar[bool] = True
    follows_scaling: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")

    def conflicts(self) -> list[str]:
        """Refuse ``columns`` for a step that changes whole rows."""
        if self.columns is not None and not self.for_columns:
            return ["it changes whole rows, so it takes no 'columns'"]
        return []

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def transform(self, table: Table) -> Table:
        """The table as it is."""
        return table

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The table as it is."""
        return table

    def training_rows(self, data: R, rng: np.random.Generator) -> R:
        """The changed rows; rows of weight 0 are left out."""
        # ``kinds`` guarantees that the rows have a target.
        return cast(R, self.changed(cast(SupervisedRows, data.counted()), rng))

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
        """The rows to learn from, with the weights to learn with."""
        raise TypeError(f"{type(self).__name__} does not define changed")


def numeric(columns: Sequence[Column]) -> list[Column]:
    """The numeric columns."""
    return [column for column in columns if not column.coded]


def table_by_column(
    title: str, header: tuple[str, ...], columns: Sequence[Column], *learned: Array, note: str = ""
) -> findings.Explanation:
    """A table with a line for each numeric column: its name, then its learned values."""
    lines = np.column_stack(learned).tolist()
    rows = tuple((column.name, *line) for column, line in zip(numeric(columns), lines, strict=True))
    return (findings.Table(title, ("column", *header), rows, note=note),) if rows else ()
