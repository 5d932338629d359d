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

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import did_you_mean, listed
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.prepare._columns import Combine, Combining


@register("ratio", reference="Kronmal 1993, Spurious correlation and the fallacy of the ratio standard")
class Ratio(Combining):
    """Ratios of columns."""

    by: str | None = param(None, "the column that others are divided by; none: every two, first by second")
    zero: float = param(0.0, "what a ratio is where the denominator is 0")

    def seen_of(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns that it is for, and the one that they are divided by."""
        seen = super().seen_of(columns)
        return tuple(column for column in columns if column in seen or column.name == self.by)

    def combined(self, columns: Sequence[Column]) -> Iterator[tuple[Column, Combine]]:
        """A ratio for each pair."""
        for place, other in self._pairs(columns):
            above, below = columns[place], columns[other]
            made = Column(f"{above.name}/{below.name}", missing=above.missing or below.missing)
            yield made, partial(self._ratio, place, other)

    def _pairs(self, numeric: Sequence[Column]) -> list[tuple[int, int]]:
        names = [column.name for column in numeric]
        if self.by is None:
            return list(combinations(range(len(names)), 2))
        if names and self.by not in names:
            what = f"ratio: there is no numeric column '{self.by}' to divide by"
            raise UsageError(what, hint=did_you_mean(self.by, names, "columns"))
        return [(index, names.index(self.by)) for index, name in enumerate(names) if name != self.by]

    def _ratio(self, index: int, other: int, cells: Array) -> Array:
        above, below = cells[index], cells[other]
        none = below == 0
        return np.where(none, np.where(np.isnan(above), np.nan, self.zero), above / np.where(none, 1.0, below))

    def explain(self) -> Explanation:
        """The ratios."""
        added = self.columns_after(self.columns_)[len(self.columns_) :]
        return (Lines(f"{len(added)} ratios", (listed([column.name for column in added], 30),)),)
