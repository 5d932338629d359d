"""What a model learns from: rows with what is known of them; containers own how rows are taken and split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from mlcli.core.errors import DataError, FitError
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import MISSING_CODE, Array, Codes, Flags, Rows, Table


@dataclass(frozen=True, eq=False)
class Strata:
    """All that a protocol may know: how many rows, and what to stratify by or keep together."""

    rows: int
    strata: Codes | None = None
    groups: Codes | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsOfTable:
    """Rows of a table with optional weights and groups, and the number each row has in its file."""

    kind: ClassVar[str]

    table: Table
    rows: Rows
    target: str = ""
    weight: Array | None = None
    groups: Codes | None = None

    @classmethod
    def columns_of(cls, schema: Schema) -> tuple[Column, ...]:
        """The columns of a dataset that its models see."""
        return schema.features()

    def __len__(self) -> int:
        return len(self.table)

    def take(self, rows: Rows | slice) -> Self:
        """Some of the rows, in the order given."""
        return replace(
            self,
            table=self.table.take(rows),
            rows=self.rows[rows],
            weight=None if self.weight is None else self.weight[rows],
            groups=None if self.groups is None else self.groups[rows],
            **self._taken(rows),
        )

    def _taken(self, rows: Rows | slice) -> dict[str, Any]:
        return {}

    def to_learn_from(self) -> Self:
        """The rows that a model which is to be kept learns from."""
        return self

    def counted(self) -> Self:
        """The rows whose weight is not 0; the others count as no rows at all."""
        if self.weight is None and len(self):
            return self
        counts = np.flatnonzero(self.weights)
        if len(counts) == 0:
            raise FitError("every training row has weight 0")
        return self if len(counts) == len(self) else self.take(counts)

    def with_table(self, table: Table) -> Self:
        """The same rows behind another table (a step has changed the columns)."""
        return replace(self, table=table)

    def transformed(self, change: Callable[[Table], Table]) -> Self:
        """The same rows as a step has changed them."""
        return self.with_table(change(self.table))

    @cached_property
    def weights(self) -> Array:
        """The weight of each row, 1 where none is given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def strata(self) -> Strata:
        """What protocols see of these rows."""
        return Strata(len(self), None, self.groups)


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledRows(RowsOfTable):
    """Rows with a class each: ``y`` are codes into ``classes``.

    ``unlabelled`` are more rows, of which every class is -1: only a model that accepts such rows learns from them.
    """

    kind = "classification"

    y: Codes
    classes: tuple[str, ...]
    unlabelled: LabelledRows | None = None

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> LabelledRows:
        """The labelled rows of a dataset, with those whose target is empty as unlabelled rows beside them."""
        target = _target(schema)
        y = table.cells(target).astype(np.int32)
        column = next(column for column in table.columns if column.name == target)
        labelled, *unlabelled = (
            LabelledRows(**_common(table, schema, some), y=y[some], classes=column.levels)
            for some in ((y >= 0, y < 0) if (y < 0).any() else (y >= 0,))
        )
        return labelled.beside(*unlabelled) if unlabelled else labelled

    def _taken(self, rows: Rows | slice) -> dict[str, Any]:
        return {"y": self.y[rows]}

    def hiding(self, train: Rows, hidden: Rows) -> Self:
        """Some of the rows to learn from, and others whose class is hidden beside them."""
        others = self.take(hidden).alone()
        return self.take(train).beside(others.with_classes(np.full(len(others), MISSING_CODE, np.int32)))

    def beside(self, others: LabelledRows) -> Self:
        """The same rows with more unlabelled ones beside them."""
        if not len(others):
            return self
        known = self.unlabelled
        return replace(self, unlabelled=others if known is None else known.joined(others))

    def alone(self) -> Self:
        """The same rows without unlabelled ones beside them."""
        return self if self.unlabelled is None else replace(self, unlabelled=None)

    def with_classes(self, y: Codes) -> Self:
        """The same rows with other classes."""
        return replace(self, y=y)

    def joined(self, others: LabelledRows) -> Self:
        """These rows, then others of the same columns; groups are of no use to a model."""
        weight = None if self.weight is None else np.concatenate([self.weight, others.weights])
        return replace(
            self,
            table=self.table.joined(others.table),
            rows=np.concatenate([self.rows, others.rows]),
            y=np.concatenate([self.y, others.y]),
            weight=weight,
            groups=None,
        )

    def transformed(self, change: Callable[[Table], Table]) -> Self:
        """The same rows, and those beside them, as a step has changed them."""
        beside = None if self.unlabelled is None else self.unlabelled.transformed(change)
        return replace(self.with_table(change(self.table)), unlabelled=beside)

    @cached_property
    def outputs(self) -> Array:
        """Indicators (n × K) of the class: their mean over rows is the share of each class."""
        return np.eye(len(self.classes))[self.y]

    @cached_property
    def class_totals(self) -> Array:
        """The summed weight of each class."""
        return np.bincount(self.y, weights=self.weight, minlength=len(self.classes)).astype(np.float64)

    def strata(self) -> Strata:
        """Classes are the strata."""
        return Strata(len(self), self.y, self.groups)


@dataclass(frozen=True, eq=False, kw_only=True)
class ValuedRows(RowsOfTable):
    """Rows with a number each: ``y`` is what regression predicts."""

    kind = "regression"

    y: Array

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> ValuedRows:
        """The valued rows of a dataset; rows whose target is empty are left out."""
        y = table.cells(_target(schema)).astype(np.float64)
        return cls(**_common(table, schema, ~np.isnan(y)), y=y[~np.isnan(y)])

    def _taken(self, rows: Rows | slice) -> dict[str, Any]:
        return {"y": self.y[rows]}

    @cached_property
    def outputs(self) -> Array:
        """Values (n × 1): their mean over rows is the mean of the target."""
        return self.y[:, None]


SupervisedRows = LabelledRows | ValuedRows


def _target(schema: Schema) -> str:
    column = schema.the("target")
    if column is None:
        raise DataError("the dataset has no target column", hint="name one with --target, or in the sidecar")
    return column.name


def extras_of(table: Table, schema: Schema) -> dict[str, Any]:
    """The weights and groups of the rows, where columns have these roles."""
    weight, group = schema.the("weight"), schema.the("group")
    return {
        "weight": None if weight is None else table.cells(weight.name).astype(np.float64),
        "groups": None if group is None else _group_codes(table.cells(group.name)),
    }


def _common(table: Table, schema: Schema, keep: Flags) -> dict[str, Any]:
    rows = np.flatnonzero(keep)
    kept = table if len(rows) == len(table) else table.take(rows)
    return {
        "table": kept.select(column.name for column in schema.features()),
        "rows": rows,
        "target": _target(schema),
        **extras_of(kept, schema),
    }


def _group_codes(cells: np.ndarray[Any, Any]) -> Codes:
    return np.unique(cells, return_inverse=True)[1].astype(np.int32)
