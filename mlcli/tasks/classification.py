"""Classification: rows with a class each, and models that answer a class with probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.answers import Answers
from mlcli.core.held_out import HeldOut, Round, totals_outside
from mlcli.core.information import entropy
from mlcli.core.model import Model, refuse_no_probabilities
from mlcli.core.params import learned
from mlcli.core.rows import Strata, common_fields, target_of
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import MISSING_CODE, Array, Codes, Rows, Table
from mlcli.tasks.supervised import SupervisedRows, admitted_to


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelAnswers(Answers):
    """Classification: true and predicted class codes and, where the model gives them, class probabilities."""

    truth: Codes
    predicted: Codes
    classes: tuple[str, ...]
    probabilities: Array | None = None


DECIMALS = 12
"""Shares that agree to so many decimals are equal: sums of weights round, and 0.1 + 0.2 is 0.3."""


@dataclass(kw_only=True, eq=False)
class Classifier(Model):
    """Answers a class, with probabilities."""

    supervised: ClassVar[bool] = True

    classes_: tuple[str, ...] = learned()
    class_totals_: Array = learned()

    @property
    def gives_probabilities(self) -> bool:
        """Whether its probabilities say how sure it is, rather than only which class it answers."""
        return True

    @staticmethod
    def admitted(model: Any, data: Any) -> Any:
        """Rows whose class is known, and others beside them only for a model that accepts such."""
        return admitted_to(model, data)

    @staticmethod
    def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
        """Let a model learn classes."""
        model.classes_, model.class_totals_ = data.classes, data.class_totals
        Model.learn(model, data, rng)

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The model's classes and probabilities for rows whose truth is known."""
        return Classifier.answers_with(model, data, model.predict_proba(data.table))

    @staticmethod
    def answers_with(model: Any, data: Any, predictions: Array) -> Answers:
        """Classes by their probabilities."""
        refuse_no_probabilities(model, predictions, (len(data), len(data.classes)))
        return _answers(data, model.decide(predictions), predictions if model.gives_probabilities else None)

    @staticmethod
    def outputs_of(model: Any, table: Table) -> Array:
        """A model's probabilities, in the form of the outputs of rows."""
        probabilities: Array = model.predict_proba(table)
        return probabilities

    @staticmethod
    def answered_output(model: Any, outputs: Array) -> int:
        """The class that the model decides on, which a threshold may make another than the most probable."""
        return int(model.decide(outputs[None, :])[0])

    @staticmethod
    def output_names(model: Any) -> tuple[str, ...]:
        """The probability of each class."""
        return tuple(f"p({name})" for name in model.classes_)

    @staticmethod
    def losses(model: Any, data: Any, outputs: Array) -> Array:
        """Whether the class that a model decides on by these probabilities is wrong, of each row."""
        return np.asarray(model.decide(outputs) != data.y, np.float64)

    def predict_proba(self, table: Table) -> Array:
        """Probabilities (n × K), in the order of ``classes_``."""
        raise TypeError(f"{type(self).__name__} does not say how it predicts classes")

    def drawn(self, cells: Iterable[NDArray[Any]], classes: Codes) -> Table:
        """Drawn rows as a table: cells for each of its columns, then their classes."""
        target = Column(self.target_, "nominal", self.classes_)
        return Table.of([*zip(self.columns_, cells, strict=True), (target, classes)], len(classes))

    def decide(self, probabilities: Array) -> Codes:
        """The most probable class; of equals, the one with most training rows, then the first."""
        return self.decide_among(probabilities, self.class_totals_[None, :])

    def decide_among(self, probabilities: Array, class_totals: Array) -> Codes:
        """The same for rows that different training rows answer: their class totals (n or 1 × K)."""
        if len(class_totals) == 1:
            order = _most_first(class_totals)[0]
            first = first_of_the_largest(probabilities.T[order].T)
            return np.asarray(order.astype(np.int32).take(first))
        decided, tied = _largest(probabilities)
        order = _most_first(class_totals[tied])
        first = first_of_the_largest(np.take_along_axis(probabilities[tied], order, axis=1))
        decided[tied] = np.take_along_axis(order, first[:, None], axis=1)[:, 0]
        return decided

    @staticmethod
    def answers_of(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
        """Classes with their probabilities; between equal ones the class totals outside the part decide."""
        counted = data.weights[:, None] * data.outputs
        totals = totals_outside(counted, round_)[np.maximum(round_.part, 0)]
        return _answers(data, model.decide_among(held.answers, totals), held.answers)


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledRows(SupervisedRows):
    """Rows with a class each: ``y`` are codes into ``classes``, -1 in the unlabelled rows beside them."""

    kind = "classification"
    base: ClassVar[type[Model]] = Classifier

    y: Codes
    classes: tuple[str, ...]

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> LabelledRows:
        """The labelled rows of a dataset, with those whose target is empty as unlabelled rows beside them."""
        target = target_of(schema)
        y = table.cells(target).astype(np.int32)
        column = next(column for column in table.columns if column.name == target)
        known = np.ones(len(y), bool)
        every = LabelledRows(**common_fields(table, schema, known), y=y, classes=column.levels)
        return every.with_known(y >= 0)

    def with_hidden_target(self) -> LabelledRows:
        """The same rows without their classes."""
        return self.with_target(np.full(len(self), MISSING_CODE, np.int32))

    def disagreement(self, predicted: Codes) -> Array:
        """Vote entropy −Σ V/C ln V/C, with V of C members (columns) for a class."""
        return entropy(np.eye(len(self.classes))[predicted].mean(axis=1))

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
        return replace(super().strata(), strata=self.y)


def _answers(data: Any, predicted: Codes, shares: Array | None) -> LabelAnswers:
    known = {"header": data.header(), "truth": data.y, "classes": data.classes}
    return LabelAnswers(**known, predicted=predicted, probabilities=shares)


def first_of_the_largest(shares: Array) -> Rows:
    """The first column of each row that is as large as the largest, but for rounding."""
    columns = np.ascontiguousarray(shares.T)
    bound = columns.max(axis=0, initial=0.0) * (1 - 10.0**-DECIMALS)
    first: Rows = np.zeros(len(shares), np.intp)
    none_yet = np.ones(len(shares), bool)
    for column in columns[:-1]:
        none_yet &= column < bound
        first += none_yet
    return first


def _largest(shares: Array) -> tuple[Codes, Rows]:
    """The column of each row that is largest, and the rows in which it is not alone, but for rounding."""
    columns = np.ascontiguousarray(shares.T)
    largest = columns >= columns.max(axis=0, initial=0.0) * (1 - 10.0**-DECIMALS)
    return largest.argmax(axis=0).astype(np.int32), np.flatnonzero(np.count_nonzero(largest, axis=0) != 1)


def _most_first(class_totals: Array) -> Rows:
    """The classes (last axis) from most training rows to fewest; of equals, the first."""
    largest = class_totals.max(axis=-1, keepdims=True)
    order: Rows = np.argsort(-np.round(class_totals / largest, DECIMALS), axis=-1, kind="stable")
    return order
