"""Base classes of steps: change or combine columns, rescale numbers, project rows, change the training rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError
from mlcli.core.rows import R, RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.tasks.supervised import SupervisedRows

Cells = NDArray[Any]
Make = Callable[[Cells], Cells]
"""From the cells of a column to those of one that it becomes."""
Combine = Callable[[Array], Array]
"""From the cells of all numeric columns (columns × rows) to those of one that is made of some of them."""


def as_they_are(cells: Cells) -> Cells:
    """The same cells."""
    return cells


@dataclass(kw_only=True, eq=False)
class ByColumn(Step):
    """Each column becomes one, or several, or none, or stays as it is."""

    def after(self, column: Column) -> Iterator[tuple[Column, Make]]:
        """The columns that a column becomes, each with what makes its cells."""
        raise TypeError(f"{type(self).__name__} does not say what becomes of a column")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """All that columns become, in their places."""
        return tuple(after for column in columns for after, _ in self.after(column))

    def transform(self, table: Table) -> Table:
        """The table with what its columns become."""
        made = ((after, make(cells)) for column, cells in table.parts() for after, make in self.after(column))
        return Table.of(made, len(table))


@dataclass(kw_only=True, eq=False)
class Combining(Step):
    """The columns in their places, and behind them new ones that are each made of several numeric columns."""

    def combined(self, columns: Sequence[Column]) -> Iterator[tuple[Column, Combine]]:
        """The new columns, each with what makes its cells, of the numeric columns."""
        raise TypeError(f"{type(self).__name__} does not say what it makes of columns")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns, then the new ones."""
        return (*columns, *(made for made, _ in self.combined(numeric(columns))))

    def transform(self, table: Table) -> Table:
        """The table with the new columns."""
        cells = np.ascontiguousarray(table.numbers.T)
        made = ((column, combine(cells)) for column, combine in self.combined(table.number_columns))
        return Table.of([*table.parts(), *made], len(table))


@dataclass(kw_only=True, eq=False)
class Rescaling(Step):
    """(x − origin) / unit in each numeric column, 0 where the unit is 0; empty cells stay empty."""

    scales: ClassVar[bool] = True

    def scale(self) -> tuple[Array, Array]:
        """The origin and the unit of each numeric column."""
        raise TypeError(f"{type(self).__name__} does not say what it measures by")

    def transform(self, table: Table) -> Table:
        """The table with numbers on one scale."""
        origin, unit = self.scale()
        varies = unit > 0
        # A cell times 0 is 0, and an empty one stays empty.
        return replace(table, numbers=(table.numbers - origin) / np.where(varies, unit, 1.0) * varies)

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The table in the units of the file; a column without a unit has its one value."""
        origin, unit = self.scale()
        return replace(table, columns=self.columns_, numbers=table.numbers * unit + origin)

    def log_stretch(self) -> float:
        """Every column that varies is divided by its unit."""
        _, unit = self.scale()
        return float(-np.log(unit[unit > 0]).sum())


@dataclass(kw_only=True, eq=False)
class Projection(Step):
    """Rows by their place along a few new columns."""

    noun: ClassVar[str] = "component"
    """What the new columns are called, before their number."""

    accepts = Accepts(weights=True)

    def count(self, columns: tuple[Column, ...]) -> int:
        """How many there are, of so many columns."""
        result: int = getattr(self, f"{self.noun}s")
        return result

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The new columns."""
        return self._named(self.count(columns))

    def _named(self, count: int) -> tuple[Column, ...]:
        return tuple(Column(f"{self.noun}_{index}") for index in range(1, count + 1))

    def log_stretch(self) -> float:
        """There is no such number: the new columns have volumes of their own."""
        what = f"{self.id} replaces the columns, and a density of what it makes is none of theirs"
        raise FitError(what, hint="leave the step out")

    def places(self, table: Table) -> Array:
        """The place of each row (rows × new columns)."""
        raise TypeError(f"{type(self).__name__} does not say where rows are placed")

    def transform(self, table: Table) -> Table:
        """The places instead of the columns."""
        places = self.places(table)
        return Table(self._named(places.shape[1]), places, table.codes)


@dataclass(kw_only=True, eq=False)
class RowStep(Step):
    """A step that changes the training rows or their weights; rows to be predicted stay as they are."""

    for_columns: ClassVar[bool] = False
    """Whether it changes some columns of the rows, so that ``columns`` may choose them."""
    changes_rows: ClassVar[bool] = True
    follows_scaling: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")

    def conflicts(self) -> list[str]:
        """Columns for a step that changes whole rows."""
        misplaced = self.columns is not None and not self.for_columns
        return ["it is done to whole rows, so that it takes no 'columns'"] if misplaced else []

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def transform(self, table: Table) -> Table:
        """The table as it is."""
        return table

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The table as it is."""
        return table

    def training_rows(self, data: R, rng: np.random.Generator) -> R:
        """The changed rows; those of weight 0 are left out."""
        changed: Any = self.changed(cast(Any, data.counted()), rng)
        return cast(R, changed)

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
        """Other rows, or other weights, to learn from."""
        raise TypeError(f"{type(self).__name__} does not say how it changes rows")


def numeric(columns: Sequence[Column]) -> list[Column]:
    """The columns of numbers."""
    return [column for column in columns if not column.coded]


def table_by_column(
    title: str, header: tuple[str, ...], columns: Sequence[Column], *learned: Array, note: str = ""
) -> findings.Explanation:
    """A line for each numeric column: its name, then what was learned of it."""
    lines = np.column_stack(learned).tolist()
    rows = tuple((column.name, *line) for column, line in zip(numeric(columns), lines, strict=True))
    return (findings.Table(title, ("column", *header), rows, note=note),) if rows else ()
