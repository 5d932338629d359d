"""Steps that put other columns in the place of each column by itself; nothing is learned of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Table

Cells = NDArray[Any]
Make = Callable[[Cells], Cells]
"""From the cells of a column to those of one that it becomes."""


def as_they_are(cells: Cells) -> Cells:
    """The same cells."""
    return cells


@dataclass(kw_only=True, eq=False)
class ByColumn(Step):
    """Each column becomes one, or several, or stays as it is."""

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
