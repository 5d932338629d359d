"""Polynomial: adds powers and products of numeric columns, so that a linear method can draw curves.

Formula:
    All x_1^{d_1} · ... · x_p^{d_p} with 1 ≤ Σ d_j ≤ `degree`; with `interactions` only those whose d_j are 0 or 1.

Assumes:
    A smooth relation with the target. Put columns on one scale first, since powers increase differences of scale.

Cost:
    (p + D choose D) − 1 columns of p numeric ones for degree D.

Choices:
    There is no constant column: methods have their own intercept. The columns are kept, and the products follow
    them by degree. Columns of levels stay as they are; a product with a missing value is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.findings import Explanation, Lines
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.prepare._columns import CombineCells, Combining, numeric


@register("polynomial", reference="Gergonne 1815; Hastie, Tibshirani & Friedman 2009, chapter 5")
class Polynomial(Combining):
    """Powers and products of columns."""

    degree: int = param(2, "how many factors a product has at most", ge=1, le=10, tune=(1, 4))
    interactions: bool = param(False, "whether only products of different columns are added")

    def new_columns(self, columns: Sequence[Column]) -> Iterator[tuple[Column, CombineCells]]:
        """The products, by degree."""
        for indices in self._products(len(columns)):
            factors = [columns[index] for index in indices]
            powers = Counter(column.name for column in factors)
            name = "*".join(base if power == 1 else f"{base}^{power}" for base, power in powers.items())
            yield Column(name, missing=any(column.missing for column in factors)), partial(product, indices)

    def _products(self, count: int) -> list[tuple[int, ...]]:
        """The factors of each product, by degree."""
        degrees = range(2, self.degree + 1)
        number = sum(comb(count if self.interactions else count + degree - 1, degree) for degree in degrees)
        if number > 20_000:
            message = f"polynomial of degree {self.degree} makes {number:,} products of {count} columns"
            raise UsageError(message, hint="choose a lower degree, or fewer columns")
        choose = combinations if self.interactions else combinations_with_replacement
        return [indices for degree in degrees for indices in choose(range(count), degree)]

    def explain(self) -> Explanation:
        """The number of products."""
        count = len(numeric(self.columns_))
        added = len(self._products(count))
        return (Lines("Products of columns", (f"{added} products of up to {self.degree} of {count} columns",)),)


def product(indices: Sequence[int], cells: Array) -> Array:
    """The product of some columns (columns × rows)."""
    return np.asarray(reduce(np.multiply, (cells[index] for index in indices)))
