"""Polynomial: adds powers and products of numeric columns, so that a linear method can draw curves.

Formula:
    All x_1^{d_1} · ... · x_p^{d_p} with 1 ≤ Σ d_j ≤ `degree`; with `interactions` only those whose d_j are 0 or 1.

Assumes:
    That the target bends smoothly. Columns are best put on one scale before, since powers drive scales apart.

Cost:
    (p + D choose D) − 1 columns of p numeric ones for degree D.

Choices:
    There is no constant column: methods have an intercept of their own. The columns themselves keep their places,
    and products stand behind them, by degree. Levels stay as they are; a product of an empty cell is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.findings import Explanation, Lines
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table

MOST_COLUMNS = 20_000


@register("polynomial", reference="Gergonne 1815; Hastie, Tibshirani & Friedman 2009, chapter 5")
class Polynomial(Step):
    """Powers and products of columns."""

    degree: int = param(2, "how many factors a product has at most", ge=1, le=10, tune=(1, 4))
    interactions: bool = param(False, "whether only products of different columns are added")

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn: which products there are follows from the columns."""

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns, then the products."""
        numeric = [column for column in columns if not column.coded]
        made = (self._column([numeric[place] for place in places]) for places in self._products(len(numeric)))
        return (*columns, *made)

    def transform(self, table: Table) -> Table:
        """The table with the products."""
        cells, columns = np.ascontiguousarray(table.numbers.T), table.number_columns
        products = self._products(len(columns))
        known: dict[tuple[int, ...], Array] = {(place,): cells[place] for place in range(len(columns))}
        for places in products:
            known[places] = known[places[:-1]] * cells[places[-1]]
        made = [(self._column([columns[place] for place in places]), known[places]) for places in products]
        return Table.of([*table.parts(), *made], len(table))

    def _products(self, count: int) -> list[tuple[int, ...]]:
        """The factors of each product, by degree."""
        degrees = range(2, self.degree + 1)
        many = sum(comb(count if self.interactions else count + degree - 1, degree) for degree in degrees)
        if many > MOST_COLUMNS:
            what = f"polynomial of degree {self.degree} makes {many:,} products of {count} columns"
            raise UsageError(what, hint="choose a lower degree, or fewer columns")
        choose = combinations if self.interactions else combinations_with_replacement
        return [one for degree in degrees for one in choose(range(count), degree)]

    @staticmethod
    def _column(factors: Sequence[Column]) -> Column:
        powers = Counter(column.name for column in factors)
        name = "*".join(one if power == 1 else f"{one}^{power}" for one, power in powers.items())
        return Column(name, missing=any(column.missing for column in factors))

    def explain(self) -> Explanation:
        """How many columns there are now."""
        numeric = sum(not column.coded for column in self.columns_)
        added = len(self._products(numeric))
        return (Lines("Products of columns", (f"{added} products of up to {self.degree} of {numeric} columns",)),)
