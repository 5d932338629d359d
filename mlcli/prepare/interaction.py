"""Interaction: adds the product of every two numeric columns that it sees.

Formula:
    x_i · x_j for i < j.

Assumes:
    That what one column does depends on another. Name two `columns` for their product alone.

Cost:
    p (p − 1) / 2 columns of p.

Choices:
    The columns themselves keep their places, and products stand behind them. Products of more factors, and powers,
    are the step `polynomial`. Levels stay as they are; make 0/1 columns of them before (`one-hot`) for products
    with levels.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Table


@register("interaction", reference="Cox 1984, Interaction")
class Interaction(Step):
    """Products of two columns."""

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns, then the products."""
        numeric = (column for column in columns if not column.coded)
        return (*columns, *(_product(one, other) for one, other in combinations(numeric, 2)))

    def transform(self, table: Table) -> Table:
        """The table with the products."""
        parts = list(zip(table.number_columns, table.numbers.T, strict=True))
        made = [(_product(one, other), a * b) for (one, a), (other, b) in combinations(parts, 2)]
        return Table.of([*table.parts(), *made], len(table))

    def explain(self) -> Explanation:
        """How many products there are."""
        numeric = sum(not column.coded for column in self.columns_)
        return (Lines("Products of two columns", (f"{numeric * (numeric - 1) // 2} of {numeric} columns",)),)


def _product(one: Column, other: Column) -> Column:
    return Column(f"{one.name}*{other.name}", missing=one.missing or other.missing)
