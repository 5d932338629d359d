"""What kinds of task with a target share: their rows, and how their models learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.limits import refuse_extremes, refuse_unlearnable
from mlcli.core.model import Model
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Flags, Rows, Table
from mlcli.core.task import A, M, Task


@dataclass(frozen=True, eq=False, kw_only=True)
class SupervisedRows(RowsOfTable):
    """Rows with a target ``y`` (classes or values), and ``outputs`` whose means are predictions.

    ``unlabelled`` are further rows without a target; only a model that accepts such rows learns from them.
    """

    task: ClassVar[AnySupervisedTask]
    by_row = (*RowsOfTable.by_row, "y")

    y: NDArray[Any]
    unlabelled: Self | None = None

    @property
    def outputs(self) -> Array:
        """The target as numbers (n × outputs), whose mean over some rows predicts them."""
        raise TypeError(f"{type(self).__name__} has no outputs to take means of")

    def with_target(self, y: NDArray[Any]) -> Self:
        """The same rows with another target."""
        return replace(self, y=y)

    def with_hidden_target(self) -> Self:
        """The same rows with their target unknown."""
        raise TypeError(f"{type(self).__name__} does not say how a target is hidden")

    def disagreement(self, predicted: NDArray[Any]) -> Array:
        """How much the members of a committee (columns) disagree about each row."""
        raise TypeError(f"{type(self).__name__} does not say how predictions differ")

    def with_known(self, known: Flags) -> Self:
        """The rows whose target is known, with the other rows as unlabelled ones."""
        if known.all():
            return self
        others = self.take(np.flatnonzero(~known)).with_hidden_target()
        return self.take(np.flatnonzero(known)).beside(others)

    def hiding(self, train: Rows, hidden: Rows) -> Self:
        """Some rows to learn from, with others as unlabelled ones."""
        return self.take(train).beside(self.take(hidden).alone().with_hidden_target())

    def beside(self, others: Self) -> Self:
        """The same rows with more unlabelled ones."""
        if not len(others):
            return self
        unlabelled = others if self.unlabelled is None else self.unlabelled.joined(others)
        return replace(self, unlabelled=unlabelled)

    def alone(self) -> Self:
        """The same rows without unlabelled ones."""
        return self if self.unlabelled is None else replace(self, unlabelled=None)

    def joined(self, others: Self) -> Self:
        """These rows, then others with the same columns; fields that only protocols and scores use are dropped."""
        return replace(
            self,
            table=self.table.joined(others.table),
            rows=np.concatenate([self.rows, others.rows]),
            y=np.concatenate([self.y, others.y]),
            weight=None if self.weight is None else np.concatenate([self.weight, others.weights]),
            groups=None,
            context=None,
            order=None,
            part=None,
            domain=None,
        )

    def transformed(self, change: Callable[[Table], Table]) -> Self:
        """The same rows with a changed table, the unlabelled ones included."""
        unlabelled = None if self.unlabelled is None else self.unlabelled.transformed(change)
        return replace(self.with_table(change(self.table)), unlabelled=unlabelled)


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
