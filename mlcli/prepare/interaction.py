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
            one, other = (columns[place] for place in combination)
            made = Column(f"{one.name}*{other.name}", missing=one.missing or other.missing)
            yield made, partial(product, combination)

    def explain(self) -> Explanation:
        """How many products there are."""
        count = len(numeric(self.columns_))
        return (Lines("Products of two columns", (f"{count * (count - 1) // 2} of {count} columns",)),)
