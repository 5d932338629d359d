"""Interaction: adds the product of every two numeric columns that it sees.

Formula:
    x_i · x_j for i < j.

Assumes:
    The effect of one column depends on another. Name two `columns` to get their product only.

Cost:
    p (p − 1) / 2 columns of p.

Choices:
    The columns are kept, and the products follow them. For powers and products of more factors use the step
    `polynomial`. Columns of levels stay as they are; for products with levels use `one-hot` before this step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

from mlcli.core.findings import Explanation, Lines
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.prepare._columns import CombineCells, Combining, numeric
from mlcli.prepare.polynomial import product


@register("interaction", reference="Cox 1984, Interaction")
class Interaction(Combining):
    """Products of two columns."""

    def new_columns(self, columns: Sequence[Column]) -> Iterator[tuple[Column, CombineCells]]:
        """The product of every two."""
        for combination in combinations(range(len(columns)), 2):
            first, second = (columns[index] for index in combination)
            column = Column(f"{first.name}*{second.name}", missing=first.missing or second.missing)
            yield column, partial(product, combination)

    def explain(self) -> Explanation:
        """How many products there are."""
        count = len(numeric(self.columns_))
        return (Lines("Products of two columns", (f"{count * (count - 1) // 2} of {count} columns",)),)
