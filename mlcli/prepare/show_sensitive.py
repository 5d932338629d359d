"""Show sensitive: lets what follows see sensitive columns, which are otherwise hidden from it.

Formula:
    Sensitive columns are features like any other.

Assumes:
    That the column may be used where the model is: in many places the law forbids to decide by it.

Cost:
    None.

Choices:
    Without this step a step `drop` is put before every model that is not made for sensitive columns. `columns`
    says which of them are shown; the others are then left out. A step that names a sensitive column shows it, too.
    Hiding a column does not make answers fair: others may tell the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core.findings import Explanation, Lines
from mlcli.core.names import listed
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Table


@register("show-sensitive", reference="Dwork et al. 2012, Fairness through awareness")
class ShowSensitive(Step):
    """Sensitive columns as features."""

    shows_sensitive: ClassVar[bool] = True

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The same without their mark."""
        return tuple(replace(column, sensitive=False) for column in columns)

    def transform(self, table: Table) -> Table:
        """The same cells."""
        return replace(table, columns=self.columns_after(table.columns))

    def explain(self) -> Explanation:
        """What is shown."""
        shown = [column.name for column in self.columns_ if column.sensitive]
        return (Lines(f"{len(shown)} sensitive columns are seen", (listed(shown, 30) or "there are none",)),)
