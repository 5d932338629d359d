"""Weights and samples by groups of rows: classes, or cells of sensitive columns and the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation, Table
from mlcli.core.groups import Groups, sensitive_groups
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.step import RowStep
from mlcli.core.tables import Array, Codes
from mlcli.tasks.classification import LabelledRows

CLASS, GROUP = "class", "group"


def strata_of(data: Any, by: str) -> Codes:
    """The stratum of each row: numbers from 0, none of them without a row."""
    return np.unique(_codes(data, by), return_inverse=True)[1].astype(np.int32)


def _codes(data: Any, by: str) -> Codes:
    if by == CLASS:
        if not isinstance(data, LabelledRows):
            raise FitError(f"'{data.target}' has values, no classes to balance by", hint="by: group, or a column")
        return data.y
    if by == GROUP:
        if data.groups is None:
            raise FitError("no column has the role of group", hint="by: class, or the name of a column of levels")
        groups: Codes = data.groups
        return groups
    known = [one for one in (data.context, data.table) if one is not None]
    columns = {column.name: table for table in known for column in table.code_columns}
    if by not in columns:
        hint = did_you_mean(by, (CLASS, GROUP, *columns), "rows can be balanced by")
        raise FitError(f"there is no column of levels '{by}'", hint=hint)
    return np.asarray(columns[by].cells(by), np.int32)


@dataclass(frozen=True, eq=False)
class Cells:
    """The weight of the rows of each group (lines) in each class, as it is and as it would be."""

    groups: Groups
    observed: Array
    expected: Array

    @classmethod
    def of(cls, data: Any, by: tuple[str, ...] | None) -> Cells:
        """Those of training rows, in the groups of some columns, or of all that are sensitive."""
        groups = sensitive_groups((data.context, data.table), by, len(data))
        shape = len(groups.labels), len(data.classes)
        observed = np.zeros(shape)
        np.add.at(observed, (groups.codes, data.y), data.weights)
        return cls(groups, observed, np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum())

    @property
    def factors(self) -> Array:
        """Expected over observed; 1 where there is no row."""
        return np.where(self.observed > 0, self.expected / np.where(self.observed > 0, self.observed, 1.0), 1.0)


@dataclass(kw_only=True, eq=False)
class ByCells(RowStep):
    """Rows as if group and class were independent."""

    kinds: ClassVar[tuple[str, ...]] = ("classification",)
    title: ClassVar[str]

    by: tuple[str, ...] | None = param(
        None, "the columns that make groups together; none: all sensitive ones", if_given=True
    )

    labels_: tuple[str, ...] = learned()
    classes_: tuple[str, ...] = learned()
    factors_: Array = learned()
    """How many times as much the rows count, or as many there are (groups × classes)."""

    def cells_of(self, data: Any) -> Cells:
        """The cells of training rows, which are noted."""
        cells = Cells.of(data, self.by)
        self.labels_, self.classes_, self.factors_ = cells.groups.labels, data.classes, cells.factors
        return cells

    def explain(self) -> Explanation:
        """The factor of each group in each class."""
        if self.factors_ is None:
            return ()
        rows = tuple((label, *line) for label, line in zip(self.labels_, self.factors_.tolist(), strict=True))
        note = "of training rows only; above 1: the rows were too few"
        return (Table(self.title, ("group", *self.classes_), rows, note=note),)
