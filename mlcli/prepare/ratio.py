"""Ratio: adds the ratio of two numeric columns, such as debt by income.

Formula:
    x_i / x_j, for every two columns i < j that it sees, or of every other column to the one named `by`.

Assumes:
    That shares say more than amounts; a denominator that is seldom near 0.

Cost:
    One pass per ratio.

Choices:
    The columns themselves keep their places, and ratios stand behind them. Where the denominator is 0 the ratio is
    `zero`. A ratio with an empty cell is empty. Levels stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import did_you_mean, listed
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table


@register("ratio", reference="Kronmal 1993, Spurious correlation and the fallacy of the ratio standard")
class Ratio(Step):
    """Ratios of columns."""

    by: str | None = param(None, "the column that others are divided by; none: every two, first by second")
    zero: float = param(0.0, "what a ratio is where the denominator is 0")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def seen_of(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns that it is for, and the one that they are divided by."""
        seen = super().seen_of(columns)
        return tuple(column for column in columns if column in seen or column.name == self.by)

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns, then the ratios."""
        numeric = [column for column in columns if not column.coded]
        return (*columns, *(_column(numeric[i], numeric[j]) for i, j in self._pairs(numeric)))

    def transform(self, table: Table) -> Table:
        """The table with the ratios."""
        columns, cells = table.number_columns, table.numbers.T
        made = [(_column(columns[i], columns[j]), self._of(cells[i], cells[j])) for i, j in self._pairs(columns)]
        return Table.of([*table.parts(), *made], len(table))

    def _pairs(self, numeric: Sequence[Column]) -> list[tuple[int, int]]:
        names = [column.name for column in numeric]
        if self.by is None:
            return list(combinations(range(len(names)), 2))
        if names and self.by not in names:
            what = f"ratio: there is no numeric column '{self.by}' to divide by"
            raise UsageError(what, hint=did_you_mean(self.by, names, "columns"))
        return [(place, names.index(self.by)) for place, name in enumerate(names) if name != self.by]

    def _of(self, above: Array, below: Array) -> Array:
        none = below == 0
        return np.where(none, np.where(np.isnan(above), np.nan, self.zero), above / np.where(none, 1.0, below))

    def explain(self) -> Explanation:
        """The ratios."""
        added = self.columns_after(self.columns_)[len(self.columns_) :]
        return (Lines(f"{len(added)} ratios", (listed([column.name for column in added], 30),)),)


def _column(above: Column, below: Column) -> Column:
    return Column(f"{above.name}/{below.name}", missing=above.missing or below.missing)
