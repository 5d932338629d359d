"""Class weights: weighs training rows so that every class counts alike, however many rows it has.

Formula:
    w_i ← w_i · W / (K · W_{k(i)}), with W_k the summed weight of the rows of class k and W that of all: every
    class then sums to W / K.

Assumes:
    That an error in a rare class costs more than one in a frequent class, in proportion. Probabilities are then
    those of a world in which classes are equally frequent.

Cost:
    One pass.

Choices:
    Only the rows that are learned from are weighed, never those that are judged. `by` balances groups, or the
    levels of a column (a sensitive one, say), instead of classes. A model that takes every row alike is refused:
    `sample-rows` can repeat rows for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation, Table
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.prepare._row_step import RowStep
from mlcli.tasks.classification import LabelledRows

CLASS, GROUP = "class", "group"


@register("class-weights", reference="King & Zeng 2001, Logistic regression in rare events data")
class ClassWeights(RowStep):
    """Rows of rare classes count more."""

    gives_weights: ClassVar[bool] = True

    by: str = param("class", "what is balanced: class, group, or the name of a column of levels")

    factors_: Array = learned()
    """What the weights of each class, group or level are multiplied by."""

    def changed(self, data: Any, rng: np.random.Generator) -> Any:
        """The same rows with other weights."""
        strata = strata_of(data, self.by)
        totals = np.bincount(strata, data.weights)
        self.factors_ = totals.sum() / (len(totals) * totals)
        return replace(data, weight=data.weights * self.factors_[strata])

    def explain(self) -> Explanation:
        """The smallest and the largest factor."""
        if self.factors_ is None:
            return ()
        row = (len(self.factors_), float(self.factors_.min()), float(self.factors_.max()))
        header = ("balanced", "smallest factor", "largest factor")
        return (Table(f"Weights by {self.by}", header, (row,), note="of training rows only"),)


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
