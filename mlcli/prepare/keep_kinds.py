"""Keep kinds: keeps the columns of some kinds, such as numbers, and leaves the others out.

Formula:
    Columns whose kind is named stay.

Assumes:
    That the others are of no use, or that a method cannot take them and they should rather go than be converted.

Cost:
    None.

Choices:
    What a method cannot take is converted unasked (`impute`, `one-hot`, `ordinal`): this step is the other way.
    With `columns` only these are looked at.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import listed
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import COLUMN_KINDS, Column
from mlcli.core.step import Step
from mlcli.core.tables import Table


@register("keep-kinds", reference="Stevens 1946, On the theory of scales of measurement")
class KeepKinds(Step):
    """Columns of some kinds."""

    keep: tuple[str, ...] = param(("numeric",), "the kinds of columns that stay", choices=COLUMN_KINDS)

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Those of the kinds."""
        return tuple(column for column in columns if column.kind in self.keep)

    def transform(self, table: Table) -> Table:
        """The columns of the kinds."""
        return table.select(column.name for column in self.columns_after(table.columns))

    def explain(self) -> Explanation:
        """What stays."""
        kept = [column.name for column in self.columns_after(self.columns_)]
        return (Lines(f"{len(kept)} of {len(self.columns_)} columns stay", (listed(kept, 30),)),)
