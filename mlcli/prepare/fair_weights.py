"""Fair weights: weights training rows so that the class does not depend on the group (reweighing).

Formula:
    w_i ← w_i · P(A = a_i) · P(Y = y_i) / P(A = a_i, Y = y_i), all by summed weights: the frequency expected if
    group and class were independent, over the observed frequency.

Assumes:
    The classes of the training rows are unfair to groups, and no other difference between rows justifies them. A
    model that can infer the group from other columns may still treat groups differently.

Cost:
    One pass.

Choices:
    `by` names the columns that define the groups; by default all sensitive columns do. The total weight of each
    group and of each class stays the same. Test rows keep their weights. A model that does not accept weights is
    refused: use `fair-sample` instead. Without sensitive columns every factor is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mlcli.core.findings import Explanation, Table
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import Groups, sensitive_groups
from mlcli.core.tables import Array
from mlcli.prepare._columns import RowStep
from mlcli.tasks.supervised import LabelledRows


@dataclass(frozen=True, eq=False)
class GroupsAndClasses:
    """The groups, and the weight of each group in each class if both were independent (groups × classes)."""

    groups: Groups
    expected: Array


@dataclass(kw_only=True, eq=False)
class ByGroupAndClass(RowStep):
    """Change training rows as if group and class were independent."""

    kinds: ClassVar[tuple[str, ...]] = ("classification",)
    title: ClassVar[str]

    by: tuple[str, ...] | None = param(
        None, "the columns that define the groups; none: all sensitive ones", if_given=True
    )

    labels_: tuple[str, ...] = learned()
    classes_: tuple[str, ...] = learned()
    factors_: Array = learned()
    """Expected over observed weight (groups × classes)."""

    def counted(self, data: LabelledRows) -> GroupsAndClasses:
        """The groups with their expected weights; learns the factors."""
        groups = sensitive_groups((data.context, data.table), self.by, len(data))
        observed = np.zeros((len(groups.labels), len(data.classes)))
        np.add.at(observed, (groups.codes, data.y), data.weights)
        expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
        self.labels_, self.classes_ = groups.labels, data.classes
        self.factors_ = np.where(observed > 0, expected / np.where(observed > 0, observed, 1.0), 1.0)
        return GroupsAndClasses(groups, expected)

    def explain(self) -> Explanation:
        """The factor of each group in each class."""
        if self.factors_ is None:
            return ()
        rows = tuple((label, *line) for label, line in zip(self.labels_, self.factors_.tolist(), strict=True))
        note = "of training rows only; above 1: the rows were too few"
        return (Table(self.title, ("group", *self.classes_), rows, note=note),)


@register("fair-weights", reference="Kamiran & Calders 2012, Data preprocessing techniques")
class FairWeights(ByGroupAndClass):
    """Weight rows as if group and class were independent."""

    gives_weights: ClassVar[bool] = True
    title: ClassVar[str] = "Weights by group and class"

    def changed(self, data: LabelledRows, rng: np.random.Generator) -> LabelledRows:  # type: ignore[override]
        """The same rows with other weights."""
        weights = self.counted(data)
        return replace(data, weight=data.weights * self.factors_[weights.groups.codes, data.y])
