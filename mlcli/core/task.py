"""Kinds of task: how a model of a kind learns from rows, and how its predictions become answers.

There is one task object for each kind, and rows carry that of their kind (``rows.task``). A pipeline or an
ensemble therefore never asks which kind it works on, and a model may serve several kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.errors import ImpossibleAnswerError
from mlcli.core.limits import refuse_unlearnable
from mlcli.core.model import Model, Step
from mlcli.core.rows import R
from mlcli.core.tables import Array, Flags, Rows, Table

M = TypeVar("M", bound=Model)
A = TypeVar("A", bound=Answers)


class Task(Generic[M, R, A]):
    """One kind of task: its models learn from rows ``R`` and give answers ``A``."""

    base: type[M]
    """The base class of the models of this kind."""

    @property
    def noun(self) -> str:
        """What messages call a model of this kind, such as classifier."""
        return self.base.__name__.lower()

    def training_view(self, model: Model, rows: R) -> R:
        """The part of training rows that a model may see; rows that nothing can be learned from are refused.

        The model may be a pipeline, or the model behind its steps.
        """
        refuse_unlearnable(rows)
        return rows

    def rows_to_keep(self, model: M, rows: R) -> R:
        """The rows of a dataset that a model learns from when it is trained to be kept."""
        return rows.to_learn_from()

    def learn(self, model: M, rows: R, rng: np.random.Generator) -> None:
        """Fit a model to prepared rows."""
        model.columns_, model.target_ = rows.table.columns, rows.target
        model.fit(rows, rng)

    def annotate(self, model: M, prepared: R, given: R, steps: tuple[Step, ...]) -> None:
        """Store on a fitted model what the kind of task needs later.

        ``prepared`` are its training rows behind the steps, ``given`` the same rows in front of them.
        """

    def predict_rows(self, model: M, rows: R) -> A:
        """The answers of a fitted model about prepared rows."""
        raise NotImplementedError

    def predict_parts(
        self, model: M, predict: Callable[[Rows], A], parts: Mapping[str, Rows], train: Rows
    ) -> dict[str, A]:
        """The answers about each part of a split that is scored, by name.

        ``predict`` gives the answers about some rows.
        """
        return {part: predict(rows) for part, rows in parts.items()}

    def set_threshold(self, model: M, predict: Callable[[R], A], learned: R, rows: R) -> None:
        """Choose what is left to choose before a fitted model is kept.

        ``learned`` are the rows of the dataset that it has learned from, ``rows`` all of them.
        """

    def outputs_of(self, model: M, table: Table) -> Array:
        """The predictions as numbers (n × outputs), for kinds whose answers are numbers of single rows."""
        raise TypeError("answers of this kind of task are not numbers of single rows")

    def output_names(self, model: M) -> tuple[str, ...]:
        """The names of these numbers; none if answers are not numbers of single rows."""
        return ()

    def answered_output(self, model: M, outputs: Array) -> int:
        """The index of the output that is the answer, among the outputs of one row."""
        return int(outputs.argmax())

    def answers_with(self, model: M, rows: R, predictions: Array) -> A:
        """Answers made from probabilities or values, for kinds that have such predictions."""
        raise TypeError("answers of this kind of task do not follow from probabilities or values")

    def leave_one_out_answers(self, model: M, rows: R, predictions: Array) -> A:
        """Answers about all rows, each predicted by all others."""
        raise TypeError("this kind of task has no leave-one-out without fits")


AnyTask = Task[Any, Any, Any]


def refuse_impossible(model: Model, values: Array, shape: tuple[int, ...]) -> None:
    """Refuse predictions that are not finite numbers in an array of this shape."""
    values = np.asarray(values)
    if values.shape != shape or values.dtype.kind not in "fiu":
        what = f"an array of shape {values.shape} and type {values.dtype}"
        raise ImpossibleAnswerError(f"{model.name} answered {what}, where numbers of shape {shape} were asked for")
    if not np.isfinite(values).all():
        bad = np.asarray(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
        raise _impossible(model, "something that is not a number", bad)


def refuse_no_probabilities(model: Model, values: Array, shape: tuple[int, ...]) -> None:
    """Refuse predictions that are not probabilities of rows × classes."""
    refuse_impossible(model, values, shape)
    tolerance = 1e-6
    bad = (values < -tolerance).any(axis=1) | (np.abs(values.sum(axis=1) - 1) > tolerance)
    if bad.any():
        raise _impossible(model, "probabilities that are negative or do not sum to 1", bad)


def _impossible(model: Model, what: str, bad: Flags) -> ImpossibleAnswerError:
    first = f", first for row {int(bad.argmax()) + 1} of them" * (len(bad) > 1)
    return ImpossibleAnswerError(f"{model.name} answered {what} for {int(bad.sum())} of {len(bad)} rows{first}")
