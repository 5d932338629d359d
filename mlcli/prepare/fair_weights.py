"""Fair weights: weighs training rows so that the class does not depend on the group (reweighing).

Formula:
    w_i ← w_i · P(A = a_i) · P(Y = y_i) / P(A = a_i, Y = y_i), all by summed weights: what was to be expected if
    group and class were independent, over what was observed.

Assumes:
    That the classes of the training rows are unfair to groups, and that rows differ in nothing else that would
    justify it. A model that learns by weights from columns that tell the group may still be unlike.

Cost:
    One pass.

Choices:
    `by` names the columns that make groups together; without it all sensitive columns do. Each group keeps its
    weight, and so does each class. Rows that are judged keep theirs. A model that takes every row alike is
    refused: `fair-sample` draws rows for it. Where no column is sensitive, every factor is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mlcli.core.findings import Explanation, Table
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import Groups, sensitive_groups
from mlcli.core.tables import Array
from mlcli.prepare._row_step import RowStep


@dataclass(frozen=True, eq=False)
class GroupsAndClasses:
    """The weight of the rows of each group (lines) in each class, as it is and as it would be."""

    groups: Groups
    observed: Array
    expected: Array

    @classmethod
    def of(cls, data: Any, by: tuple[str, ...] | None) -> GroupsAndClasses:
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
class ByGroupAndClass(RowStep):
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

    def counted(self, data: Any) -> GroupsAndClasses:
        """The weights of training rows, which are noted."""
        weights = GroupsAndClasses.of(data, self.by)
        self.labels_, self.classes_, self.factors_ = weights.groups.labels, data.classes, weights.factors
        return weights

    def explain(self) -> Explanation:
        """The factor of each group in each class."""
        if self.factors_ is None:
            return ()
        rows = tuple((label, *line) for label, line in zip(self.labels_, self.factors_.tolist(), strict=True))
        note = "of training rows only; above 1: the rows were too few"
        return (Table(self.title, ("group", *self.classes_), rows, note=note),)


@register("fair-weights", reference="Kamiran & Calders 2012, Data preprocessing techniques")
class FairWeights(ByGroupAndClass):
    """Rows count as if group and class were independent."""

    gives_weights: ClassVar[bool] = True
    title: ClassVar[str] = "Weights by group and class"

    def changed(self, data: Any, rng: np.random.Generator) -> Any:
        """The same rows with other weights."""
        weights = self.counted(data)
        return replace(data, weight=data.weights * self.factors_[weights.groups.codes, data.y])
