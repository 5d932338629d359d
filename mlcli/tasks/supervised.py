"""What classification and regression share: rows with a target, and others beside them without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from mlcli.core.limits import refuse_extremes, refuse_unlearnable
from mlcli.core.model import Model
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Flags, Rows
from mlcli.core.task import A, M, Task


@dataclass(frozen=True, eq=False, kw_only=True)
class SupervisedRows(RowsOfTable):
    """Rows whose target ``y`` a model learns: classes or values, both with ``outputs`` to take means of.

    ``unlabelled`` are more rows, whose target is hidden: only a model that accepts such rows learns from them.
    """

    task: ClassVar[AnySupervisedTask]
    by_row = (*RowsOfTable.by_row, "y")

    y: Any
    unlabelled: Self | None = None

    @property
    def outputs(self) -> Array:
        """A row of numbers for each row, whose mean says what rows are like."""
        raise TypeError(f"{type(self).__name__} does not say what means are taken of")

    def with_target(self, y: Any) -> Self:
        """The same rows with other targets."""
        return replace(self, y=y)

    def with_hidden_target(self) -> Self:
        """The same rows as if nobody knew their target."""
        raise TypeError(f"{type(self).__name__} does not say how a target is hidden")

    def disagreement(self, predicted: Any) -> Array:
        """How far the members of a committee (columns) are apart in what they predict of each row."""
        raise TypeError(f"{type(self).__name__} does not say how predictions differ")

    def with_known(self, known: Flags) -> Self:
        """The rows whose target is known, the others beside them."""
        if known.all():
            return self
        others = self.take(np.flatnonzero(~known)).with_hidden_target()
        return self.take(np.flatnonzero(known)).beside(others)

    def hiding(self, train: Rows, hidden: Rows) -> Self:
        """Some of the rows to learn from, and others whose target is hidden beside them."""
        return self.take(train).beside(self.take(hidden).alone().with_hidden_target())

    def beside(self, others: Self) -> Self:
        """The same rows with more unlabelled ones beside them."""
        if not len(others):
            return self
        known = self.unlabelled
        return replace(self, unlabelled=others if known is None else known.joined(others))

    def alone(self) -> Self:
        """The same rows without unlabelled ones beside them."""
        return self if self.unlabelled is None else replace(self, unlabelled=None)

    def joined(self, others: Self) -> Self:
        """These rows, then others of the same columns; what only protocols and judges use is left out."""
        weight = None if self.weight is None else np.concatenate([self.weight, others.weights])
        left_out: dict[str, Any] = dict.fromkeys(("groups", "context", "order", "part", "domain"))
        return replace(
            self,
            table=self.table.joined(others.table),
            rows=np.concatenate([self.rows, others.rows]),
            y=np.concatenate([self.y, others.y]),
            weight=weight,
            **left_out,
        )

    def transformed(self, change: Callable[[Any], Any]) -> Self:
        """The same rows, and those beside them, as a step has changed them."""
        beside = None if self.unlabelled is None else self.unlabelled.transformed(change)
        return replace(self.with_table(change(self.table)), unlabelled=beside)


S = TypeVar("S", bound=SupervisedRows)


class SupervisedTask(Task[M, S, A]):
    """A kind of task whose models learn a target."""

    def training_view(self, model: Model, rows: S) -> S:
        """Rows whose target is known; rows without it stay beside them only if the model accepts such rows."""
        refuse_unlearnable(rows)
        rows = rows if model.accepts.unlabelled else rows.alone()
        if rows.unlabelled is not None:
            refuse_extremes(rows.unlabelled.table, rows.unlabelled.weights)
        return rows

    def losses(self, model: M, rows: S, outputs: Array) -> Array:
        """The loss of each row, given the outputs of a model about it."""
        raise TypeError("this kind of task has no loss of single rows")


AnySupervisedTask = SupervisedTask[Any, Any, Any]
