"""Tasks with a target: what they share, classification, and regression.

A classifier predicts probabilities of classes, a regressor a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core import DECIMALS
from mlcli.core.answers import Answers, ClassAnswers
from mlcli.core.model import A, M, Model, Task, refuse_impossible, refuse_no_probabilities
from mlcli.core.moments import entropy, refuse_extreme_target, refuse_extremes, refuse_unlearnable
from mlcli.core.params import learned
from mlcli.core.rows import RowsOfTable, SplitInfo, common_fields, target_of
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import MISSING_CODE, Array, Cells, Codes, Flags, Rows, Table


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


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelAnswers(ClassAnswers):
    """True and predicted class codes, and class probabilities if the model gives them."""

    predicted: Codes
    probabilities: Array | None = None


@dataclass(kw_only=True, eq=False)
class Classifier(Model):
    """Predicts classes. A method implements ``fit`` and ``predict_proba``."""

    supervised: ClassVar[bool] = True

    classes_: tuple[str, ...] = learned()
    class_totals_: Array = learned()

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Learn from rows with a class each."""
        super().fit(data, rng)

    @property
    def gives_probabilities(self) -> bool:
        """Whether its probabilities express confidence, and not only the predicted class."""
        return True

    def predict_proba(self, table: Table) -> Array:
        """The probabilities of the classes (n × K), in the order of ``classes_``."""
        raise TypeError(f"{type(self).__name__} does not say how it predicts classes")

    def drawn(self, cells: Iterable[Cells], classes: Codes) -> Table:
        """Drawn rows as a table: the cells of each column, then the class."""
        target = Column(self.target_, "nominal", self.classes_)
        return Table.of([*zip(self.columns_, cells, strict=True), (target, classes)], len(classes))

    def decide(self, probabilities: Array) -> Codes:
        """The most probable class; ties go to the class with most training rows, then to the first."""
        return self.decide_among(probabilities, self.class_totals_[None, :])

    def decide_among(self, probabilities: Array, class_totals: Array) -> Codes:
        """The same with the class totals of the training rows (1 × K), or other totals for each row (n × K)."""
        if len(class_totals) == 1:
            order = _most_first(class_totals)[0]
            first = first_of_the_largest(probabilities.T[order].T)
            return np.asarray(order.astype(np.int32).take(first))
        decided, tied = _largest(probabilities)
        order = _most_first(class_totals[tied])
        first = first_of_the_largest(np.take_along_axis(probabilities[tied], order, axis=1))
        decided[tied] = np.take_along_axis(order, first[:, None], axis=1)[:, 0]
        return decided


class Classification(SupervisedTask[Classifier, "LabelledRows", LabelAnswers]):
    """Predict which class a row belongs to."""

    base = Classifier

    def learn(self, model: Classifier, rows: LabelledRows, rng: np.random.Generator) -> None:
        """Fit a model that knows the classes and their weights."""
        model.classes_, model.class_totals_ = rows.classes, rows.class_totals
        super().learn(model, rows, rng)

    def predict_rows(self, model: Classifier, rows: LabelledRows) -> LabelAnswers:
        """Classes by the model's probabilities."""
        return self.answers_with(model, rows, model.predict_proba(rows.table))

    def answers_with(self, model: Classifier, rows: LabelledRows, predictions: Array) -> LabelAnswers:
        """Classes by given probabilities."""
        refuse_no_probabilities(model, predictions, (len(rows), len(rows.classes)))
        return _answers(rows, model.decide(predictions), predictions if model.gives_probabilities else None)

    def leave_one_out_answers(self, model: Classifier, rows: LabelledRows, predictions: Array) -> LabelAnswers:
        """Classes by their probabilities; the class totals of the other rows break ties."""
        totals = rows.class_totals - rows.outputs
        return _answers(rows, model.decide_among(predictions, totals), predictions)

    def outputs_of(self, model: Classifier, table: Table) -> Array:
        """The probability of each class."""
        return model.predict_proba(table)

    def output_names(self, model: Classifier) -> tuple[str, ...]:
        """The probability of each class, by name."""
        return tuple(f"p({name})" for name in model.classes_)

    def answered_output(self, model: Classifier, outputs: Array) -> int:
        """The class that the model decides on, which a threshold may make another than the most probable."""
        return int(model.decide(outputs[None, :])[0])

    def losses(self, model: Classifier, rows: LabelledRows, outputs: Array) -> Array:
        """1 if the class that a model decides on by these probabilities is wrong, else 0."""
        return np.asarray(model.decide(outputs) != rows.y, np.float64)


CLASSIFICATION = Classification()


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledRows(SupervisedRows):
    """Rows with a class each: ``y`` are codes into ``classes``, -1 in unlabelled rows."""

    kind = "classification"
    task: ClassVar[AnySupervisedTask] = CLASSIFICATION

    y: Codes
    classes: tuple[str, ...]

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> LabelledRows:
        """The rows of a dataset; those with an empty target are unlabelled."""
        target = target_of(schema)
        y = table.cells(target).astype(np.int32)
        column = next(column for column in table.columns if column.name == target)
        known = np.ones(len(y), bool)
        every = LabelledRows(**common_fields(table, schema, known), y=y, classes=column.levels)
        return every.with_known(y >= 0)

    def with_hidden_target(self) -> LabelledRows:
        """The same rows with their classes unknown."""
        return self.with_target(np.full(len(self), MISSING_CODE, np.int32))

    def disagreement(self, predicted: Codes) -> Array:
        """The vote entropy −Σ V/C ln V/C, if V of C members (columns) vote for a class."""
        return entropy(np.eye(len(self.classes))[predicted].mean(axis=1))

    @cached_property
    def outputs(self) -> Array:
        """Indicators of the class (n × K); their mean over rows is the share of each class."""
        return np.eye(len(self.classes))[self.y]

    @cached_property
    def class_totals(self) -> Array:
        """The summed weight of each class."""
        return np.bincount(self.y, weights=self.weight, minlength=len(self.classes)).astype(np.float64)

    def split_info(self) -> SplitInfo:
        """Classes are the strata."""
        return replace(super().split_info(), strata=self.y)


def _answers(rows: LabelledRows, predicted: Codes, shares: Array | None) -> LabelAnswers:
    return LabelAnswers(
        header=rows.header(), truth=rows.y, classes=rows.classes, predicted=predicted, probabilities=shares
    )


def first_of_the_largest(shares: Array) -> Rows:
    """The first column of each row that equals the largest up to rounding."""
    columns = np.ascontiguousarray(shares.T)
    bound = columns.max(axis=0, initial=0.0) * (1 - 10.0**-DECIMALS)
    first: Rows = np.zeros(len(shares), np.intp)
    none_yet = np.ones(len(shares), bool)
    for column in columns[:-1]:
        none_yet &= column < bound
        first += none_yet
    return first


def _largest(shares: Array) -> tuple[Codes, Rows]:
    """The largest column of each row, and the rows with ties up to rounding."""
    columns = np.ascontiguousarray(shares.T)
    largest = columns >= columns.max(axis=0, initial=0.0) * (1 - 10.0**-DECIMALS)
    return largest.argmax(axis=0).astype(np.int32), np.flatnonzero(np.count_nonzero(largest, axis=0) != 1)


def _most_first(class_totals: Array) -> Rows:
    """The classes (last axis) from most to fewest training rows; ties in their order."""
    largest = class_totals.max(axis=-1, keepdims=True)
    order: Rows = np.argsort(-np.round(class_totals / largest, DECIMALS), axis=-1, kind="stable")
    return order


@dataclass(frozen=True, eq=False, kw_only=True)
class ValueAnswers(Answers):
    """True and predicted numbers."""

    truth: Array
    predicted: Array


@dataclass(kw_only=True, eq=False)
class Regressor(Model):
    """Predicts a number. A method implements ``fit`` and ``predict_values``."""

    supervised: ClassVar[bool] = True

    def fit(self, data: ValuedRows, rng: np.random.Generator) -> None:
        """Learn from rows with a number each."""
        super().fit(data, rng)

    def predict_values(self, table: Table) -> Array:
        """The prediction for each row."""
        raise TypeError(f"{type(self).__name__} does not say how it predicts values")


class Regression(SupervisedTask[Regressor, "ValuedRows", ValueAnswers]):
    """Predict a number."""

    base = Regressor

    def training_view(self, model: Model, rows: ValuedRows) -> ValuedRows:
        """Rows whose value is known and can be squared."""
        rows = super().training_view(model, rows)
        refuse_extreme_target(rows.target, rows.y, rows.weights)
        return rows

    def predict_rows(self, model: Regressor, rows: ValuedRows) -> ValueAnswers:
        """The model's values."""
        return self.answers_with(model, rows, model.predict_values(rows.table))

    def answers_with(self, model: Regressor, rows: ValuedRows, predictions: Array) -> ValueAnswers:
        """Given values."""
        refuse_impossible(model, predictions, (len(rows),))
        return ValueAnswers(header=rows.header(), truth=rows.y, predicted=predictions)

    def leave_one_out_answers(self, model: Regressor, rows: ValuedRows, predictions: Array) -> ValueAnswers:
        """Values."""
        return ValueAnswers(header=rows.header(), truth=rows.y, predicted=predictions)

    def outputs_of(self, model: Regressor, table: Table) -> Array:
        """The value, in one column."""
        return np.asarray(model.predict_values(table)[:, None])

    def output_names(self, model: Regressor) -> tuple[str, ...]:
        """The name of the target."""
        return (model.target_ or "value",)

    def losses(self, model: Regressor, rows: ValuedRows, outputs: Array) -> Array:
        """The squared error."""
        return np.asarray((outputs[:, 0] - rows.y) ** 2)


REGRESSION = Regression()


@dataclass(frozen=True, eq=False, kw_only=True)
class ValuedRows(SupervisedRows):
    """Rows with a number ``y`` each, NaN in unlabelled rows."""

    kind = "regression"
    task: ClassVar[AnySupervisedTask] = REGRESSION

    y: Array

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> ValuedRows:
        """The rows of a dataset; those with an empty target are unlabelled."""
        y = table.cells(target_of(schema)).astype(np.float64)
        known = np.ones(len(y), bool)
        return cls(**common_fields(table, schema, known), y=y).with_known(~np.isnan(y))

    def with_hidden_target(self) -> ValuedRows:
        """The same rows with their values unknown."""
        return self.with_target(np.full(len(self), np.nan))

    def disagreement(self, predicted: Array) -> Array:
        """The standard deviation of the predictions of the members (columns)."""
        return np.asarray(predicted.std(axis=1))

    @cached_property
    def outputs(self) -> Array:
        """The values (n × 1)."""
        return self.y[:, None]
