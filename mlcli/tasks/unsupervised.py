"""What kinds of task without a target share: rows whose labels models never see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np

from mlcli.core.model import A, M, Model, Task
from mlcli.core.rows import RowsOfTable, extras_of
from mlcli.core.schema import Schema
from mlcli.core.tables import Codes, Table

UNKNOWN = -1
"""The label of a row without one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UnlabelledRows(RowsOfTable):
    """Rows with labels that are used for scores only: codes into ``classes``, -1 if unknown."""

    by_row = (*RowsOfTable.by_row, "labels")

    labels: Codes
    classes: tuple[str, ...] = ()

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> Self:
        """Every row of a dataset; a target with levels gives the labels, any other target is ignored."""
        target = schema.the("target")
        labelled = target is not None and target.coded
        labels = table.cells(target.name) if labelled and target else np.full(len(table), UNKNOWN)
        return cls(
            table=table.select(column.name for column in cls.columns_of(schema)),
            rows=np.arange(len(table)),
            target=target.name if target else "",
            labels=labels.astype(np.int32),
            classes=target.levels if labelled and target else (),
            **extras_of(table, schema),
        )

    def unlabelled(self) -> Self:
        """The same rows with every label unknown: what a fit may see."""
        return replace(self, labels=np.full(len(self), UNKNOWN, dtype=np.int32), classes=(), target="")


U = TypeVar("U", bound=UnlabelledRows)


class UnsupervisedTask(Task[M, U, A]):
    """A kind of task whose models never see labels."""

    def training_view(self, model: Model, rows: U) -> U:
        """The rows without their labels."""
        return super().training_view(model, rows).unlabelled()
