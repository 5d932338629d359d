"""One-hot: turns each nominal, ordinal or boolean column into 0/1 columns, one for each level.

Formula:
    The column `outlook=sunny` is 1 where outlook is sunny, otherwise 0.

Assumes:
    Nothing of the order of levels.

Cost:
    rows × levels.

Choices:
    One-hot encoding is also called dummy encoding where a level is left out.
    A column with two levels becomes one 0/1 column, that of its second level (`drop: two-level`); `first` leaves
    out the first level of every column, as regression without a penalty needs; `none` keeps them all. An empty
    cell, or a level that is not declared, is 0 in all of them. Columns come from the declared levels, so that all
    splits have the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import LeaveOneOutTable
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Cells, Codes, Table
from mlcli.prepare._columns import ByColumn, ComputeCells, unchanged

FIRST_KEPT: dict[str, Callable[[int], int]] = {
    "two-level": lambda levels: 1 if levels == 2 else 0,
    "first": lambda levels: 1,
    "none": lambda levels: 0,
}
"""The first level that gets a column, by the number of levels."""


@register(
    "one-hot",
    reference="Suits 1957, Use of dummy variables in regression equations",
    inserted_for="nominal levels",
)
class OneHot(ByColumn):
    """Levels as 0/1 columns."""

    follows_scaling = True

    drop: str = param("two-level", "where the first level gets no column", choices=FIRST_KEPT)

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """A numeric column for each level that is kept."""
        for code, made in self._after(column):
            yield made, partial(np.equal, code) if column.coded else unchanged

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The level whose number is largest; one without a column has what is left of 1."""
        parts = []
        for column in self.columns_:
            cells = [(code, table.cells(after.name)) for code, after in self._after(column)]
            parts.append((column, _largest(column, cells, len(table)) if column.coded else cells[0][1]))
        return Table.of(parts, len(table))

    def without_each_row(self, seen: LeaveOneOutTable) -> LeaveOneOutTable:
        """The same 0/1 columns whichever row is left out; where every level has one, the first is redundant."""
        numbers = iter(zip(seen.standardised, seen.redundant, strict=True))
        flags = [
            (False, code == 0) if column.coded else next(numbers)
            for column in seen.table.columns
            for code, _ in self._after(column)
        ]
        standardised, redundant = np.array(flags, bool).reshape(-1, 2).T
        return replace(seen, table=self.transform(seen.table), standardised=standardised, redundant=redundant)

    def _after(self, column: Column) -> Iterator[tuple[int, Column]]:
        """The new columns, each with the code that it is 1 for; a numeric column stays as it is."""
        if not column.coded:
            yield 0, column
            return
        for code in range(FIRST_KEPT[self.drop](len(column.levels)), len(column.levels)):
            yield code, Column(f"{column.name}={column.levels[code]}", context=column.context)

    def explain(self) -> findings.Explanation:
        """The columns that each column became."""
        rows = tuple(
            (column.name, ", ".join(after.name for _, after in self._after(column)))
            for column in self.columns_
            if column.coded
        )
        return (findings.Table("Levels as 0/1 columns", ("column", "became"), rows),) if rows else ()


def _largest(column: Column, cells: Sequence[tuple[int, Cells]], rows: int) -> Codes:
    """The code of the level with the largest number in each row."""
    shares = np.zeros((rows, len(column.levels)))
    for code, numbers in cells:
        shares[:, code] = numbers
    if len(cells) < len(column.levels):
        shares[:, 0] = 1.0 - shares[:, 1:].sum(axis=1)
    return np.asarray(shares.argmax(axis=1), np.int32)
