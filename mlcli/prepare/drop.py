"""Drop: leaves columns out.

Formula:
    The chosen columns are removed.

Assumes:
    That they are of no use, or that a method must not see them: a sensitive column, say, or one that is known only
    after the fact.

Cost:
    None.

Choices:
    `columns` chooses the columns, by name, kind or pattern; by default all are removed. To remove a column from
    the whole experiment, give it the role `ignore` in the sidecar.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import counted, listed
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.prepare._columns import ByColumn, ComputeCells


@register(
    "drop", reference="Guyon & Elisseeff 2003, Variable and feature selection", inserted_for="hidden columns"
)
class Drop(ByColumn):
    """Columns that are left out."""

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """Nothing is left of a column that it is for."""
        return iter(())

    def explain(self) -> Explanation:
        """What is left out."""
        names = [column.name for column in self.columns_]
        verb = "is" if len(names) == 1 else "are"
        return (Lines(f"{counted(len(names), 'column')} {verb} left out", (listed(names, 30),)),)
