"""Class weights: weights training rows so that all classes have the same total weight.

Formula:
    w_i ← w_i · W / (K · W_{k(i)}), with W_k the summed weight of class k and W that of all rows: every class then
    sums to W / K.

Assumes:
    An error in a rare class costs more than one in a frequent class, in proportion to the frequencies.
    Probabilities are then calibrated for equally frequent classes.

Cost:
    One pass.

Choices:
    Only training rows get weights, never test rows. `by` balances groups, or the levels of a column (such as a
    sensitive one), instead of classes. A model that does not accept weights is refused: use `sample-rows` to
    repeat rows instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation, Table
from mlcli.core.names import did_you_mean
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.prepare._columns import RowStep
from mlcli.tasks.supervised import LabelledRows, SupervisedRows


@register("class-weights", reference="King & Zeng 2001, Logistic regression in rare events data")
class ClassWeights(RowStep):
    """Give rows of rare classes more weight."""

    gives_weights: ClassVar[bool] = True

    by: str = param("class", "what is balanced: class, group, or the name of a column of levels")

    factors_: Array = learned()
    """The factor of the weights of each class, group or level."""

    def changed(self, data: SupervisedRows, rng: np.random.Generator) -> SupervisedRows:
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


def strata_of(data: SupervisedRows, by: str) -> Codes:
    """The class, group or level of each row, as numbers from 0 without gaps."""
    if by == "class":
        if not isinstance(data, LabelledRows):
            raise FitError(f"'{data.target}' has values, no classes to balance by", hint="by: group, or a column")
        codes = data.y
    elif by == "group":
        if data.groups is None:
            raise FitError("no column has the role of group", hint="by: class, or the name of a column of levels")
        codes = data.groups
    else:
        tables = [table for table in (data.context, data.table) if table is not None]
        columns = {column.name: table for table in tables for column in table.code_columns}
        if by not in columns:
            hint = did_you_mean(by, ("class", "group", *columns), "rows can be balanced by")
            raise FitError(f"there is no column of levels '{by}'", hint=hint)
        codes = columns[by].cells(by).astype(np.int32)
    return np.unique(codes, return_inverse=True)[1].astype(np.int32)
