"""Regression: rows with a number each, and models that answer a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.limits import refuse_extreme_target
from mlcli.core.model import Model, refuse_impossible
from mlcli.core.rows import common_fields, target_of
from mlcli.core.schema import Schema
from mlcli.core.tables import Array, Table
from mlcli.tasks.supervised import SupervisedRows, admitted_to


@dataclass(frozen=True, eq=False, kw_only=True)
class ValueAnswers(Answers):
    """Regression: true and predicted numbers."""

    truth: Array
    predicted: Array


@dataclass(kw_only=True, eq=False)
class Regressor(Model):
    """Answers a number."""

    supervised: ClassVar[bool] = True

    @staticmethod
    def admitted(model: Any, data: Any) -> Any:
        """Rows whose value is known and can be squared, and others beside them for a model that accepts such."""
        data = admitted_to(model, data)
        refuse_extreme_target(data.target, data.y, data.weights)
        return data

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The model's values for rows whose truth is known."""
        return Regressor.answers_with(model, data, model.predict_values(data.table))

    @staticmethod
    def answers_with(model: Any, data: Any, predictions: Array) -> Answers:
        """Values."""
        refuse_impossible(model, predictions, (len(data),))
        return ValueAnswers(header=data.header(), truth=data.y, predicted=predictions)

    @staticmethod
    def answers_of(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
        """Values."""
        values = held.answers.reshape(len(data))
        return ValueAnswers(header=data.header(), truth=data.y, predicted=values)

    @staticmethod
    def outputs_of(model: Any, table: Table) -> Array:
        """A model's values, in the form of the outputs of rows."""
        return np.asarray(model.predict_values(table)[:, None])

    @staticmethod
    def output_names(model: Any) -> tuple[str, ...]:
        """The target."""
        return (model.target_ or "value",)

    @staticmethod
    def losses(model: Any, data: Any, outputs: Array) -> Array:
        """The squared error of each row."""
        return np.asarray((outputs[:, 0] - data.y) ** 2)

    def predict_values(self, table: Table) -> Array:
        """One number per row."""
        raise TypeError(f"{type(self).__name__} does not say how it predicts values")


@dataclass(frozen=True, eq=False, kw_only=True)
class ValuedRows(SupervisedRows):
    """Rows with a number each: ``y`` is what regression predicts, no number in the unlabelled rows beside them."""

    kind = "regression"
    base: ClassVar[type[Model]] = Regressor

    y: Array

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> ValuedRows:
        """The valued rows of a dataset, with those whose target is empty as unlabelled rows beside them."""
        y = table.cells(target_of(schema)).astype(np.float64)
        known = np.ones(len(y), bool)
        return cls(**common_fields(table, schema, known), y=y).with_known(~np.isnan(y))

    def with_hidden_target(self) -> ValuedRows:
        """The same rows without their values."""
        return self.with_target(np.full(len(self), np.nan))

    def disagreement(self, predicted: Array) -> Array:
        """The standard deviation of what the members (columns) predict."""
        return np.asarray(predicted.std(axis=1))

    @cached_property
    def outputs(self) -> Array:
        """Values (n × 1): their mean over rows is the mean of the target."""
        return self.y[:, None]
