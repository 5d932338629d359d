"""Show sensitive: lets later steps and the model see sensitive columns, which are otherwise hidden.

Formula:
    Sensitive columns are features like any other.

Assumes:
    The column may be used where the model is deployed: many countries forbid decisions based on it.

Cost:
    None.

Choices:
    Without this step a step `drop` is inserted before every model that is not made for sensitive columns.
    `columns` chooses the sensitive columns to show; the others are removed. A step that names a sensitive column
    shows it, too. Hiding a column does not make predictions fair: other columns may reveal it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import listed
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.prepare._columns import ByColumn, ComputeCells, unchanged


@register("show-sensitive", reference="Dwork et al. 2012, Fairness through awareness")
class ShowSensitive(ByColumn):
    """Sensitive columns as features."""

    shows_sensitive: ClassVar[bool] = True

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """The same column without its mark."""
        yield replace(column, sensitive=False), unchanged

    def explain(self) -> Explanation:
        """What is shown."""
        shown = [column.name for column in self.columns_ if column.sensitive]
        return (Lines(f"{len(shown)} sensitive columns are seen", (listed(shown, 30) or "there are none",)),)
