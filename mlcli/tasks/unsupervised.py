"""What kinds of task without labels share: rows whose labels only judge, models that never see them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from mlcli.core.model import Model
from mlcli.core.rows import RowsOfTable, extras_of
from mlcli.core.schema import Schema
from mlcli.core.tables import Codes, Table
from mlcli.core.task import A, M, Task

UNKNOWN = -1
"""The label of a row that has none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UnlabelledRows(RowsOfTable):
    """Rows with labels beside them that no ``fit`` ever sees: codes into ``classes``, -1 where unknown."""

    by_row = (*RowsOfTable.by_row, "labels")

    labels: Codes
    classes: tuple[str, ...] = ()

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> Self:
        """Every row of a dataset; a target of levels gives the labels, any other target is only left out."""
        target = schema.the("target")
        known = target is not None and target.coded
        labels = table.cells(target.name) if known and target else np.full(len(table), UNKNOWN)
        return cls(
            table=table.select(column.name for column in cls.columns_of(schema)),
            rows=np.arange(len(table)),
            target=target.name if target else "",
            labels=labels.astype(np.int32),
            classes=target.levels if known and target else (),
            **extras_of(table, schema),
        )

    def unlabelled(self) -> Self:
        """What a ``fit`` may see: the same rows, every label unknown."""
        return replace(self, labels=np.full(len(self), UNKNOWN, dtype=np.int32), classes=(), target="")


U = TypeVar("U", bound=UnlabelledRows)


class UnsupervisedTask(Task[M, U, A]):
    """A kind of task whose models never see labels."""

    def training_view(self, model: Model, rows: U) -> U:
        """The rows without their labels."""
        return super().training_view(model, rows).unlabelled()
