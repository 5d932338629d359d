"""Ratio: adds ratios of numeric columns, such as debt by income.

Formula:
    x_i / x_j, for every pair of columns i < j, or of every other column to the one named in `by`.

Assumes:
    Ratios are more informative than amounts, and denominators are rarely near 0.

Cost:
    One pass per ratio.

Choices:
    The columns are kept, and the ratios follow them. If the denominator is 0, the ratio is `zero`. A ratio with a
    missing value is missing. Columns of levels stay as they are.
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
from mlcli.prepare._columns import CombineCells, Combining


@register("ratio", reference="Kronmal 1993, Spurious correlation and the fallacy of the ratio standard")
class Ratio(Combining):
    """Add ratios of columns."""

    by: str | None = param(None, "the denominator of all ratios; none: all pairs, the first divided by the second")
    zero: float = param(0.0, "the ratio if the denominator is 0")

    def seen_of(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The chosen columns and the denominator."""
        chosen = super().seen_of(columns)
        return tuple(column for column in columns if column in chosen or column.name == self.by)

    def new_columns(self, columns: Sequence[Column]) -> Iterator[tuple[Column, CombineCells]]:
        """A column for each ratio."""
        names = [column.name for column in columns]
        if self.by is None:
            pairs = list(combinations(range(len(names)), 2))
        elif names and self.by not in names:
            message = f"ratio: there is no numeric column '{self.by}' to divide by"
            raise UsageError(message, hint=did_you_mean(self.by, names, "columns"))
        else:
            pairs = [(index, names.index(self.by)) for index, name in enumerate(names) if name != self.by]
        for top, bottom in pairs:
            missing = columns[top].missing or columns[bottom].missing
            yield Column(f"{names[top]}/{names[bottom]}", missing=missing), partial(self._ratio, top, bottom)

    def _ratio(self, top: int, bottom: int, cells: Array) -> Array:
        numerator, denominator = cells[top], cells[bottom]
        undefined = denominator == 0
        ratio = numerator / np.where(undefined, 1.0, denominator)
        return np.where(undefined, np.where(np.isnan(numerator), np.nan, self.zero), ratio)

    def explain(self) -> Explanation:
        """The names of the ratios."""
        added = self.columns_after(self.columns_)[len(self.columns_) :]
        return (Lines(f"{len(added)} ratios", (listed([column.name for column in added], 30),)),)
