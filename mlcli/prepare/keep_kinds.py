"""Keep kinds: keeps the columns of some kinds, such as numbers, and leaves the others out.

Formula:
    Columns whose kind is named stay.

Assumes:
    The other columns are useless, or better removed than converted.

Cost:
    None.

Choices:
    By default columns that a method cannot take are converted (`impute`, `one-hot`, `ordinal`); this step removes
    them instead. With `columns` only these may be removed.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import listed
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.schema import COLUMN_KINDS, Column
from mlcli.prepare._columns import ByColumn, ComputeCells, unchanged


@register("keep-kinds", reference="Stevens 1946, On the theory of scales of measurement")
class KeepKinds(ByColumn):
    """Columns of some kinds."""

    keep: tuple[str, ...] = param(("numeric",), "the kinds of columns that stay", choices=COLUMN_KINDS)

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """The same column, if it is of one of the kinds."""
        if column.kind in self.keep:
            yield column, unchanged

    def explain(self) -> Explanation:
        """What stays."""
        kept = [column.name for column in self.columns_after(self.columns_)]
        return (Lines(f"{len(kept)} of {len(self.columns_)} columns stay", (listed(kept, 30),)),)
