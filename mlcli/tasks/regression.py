"""Regression: rows with a number each, and models that predict a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.limits import refuse_extreme_target
from mlcli.core.model import Model
from mlcli.core.rows import common_fields, target_of
from mlcli.core.schema import Schema
from mlcli.core.tables import Array, Table
from mlcli.core.task import refuse_impossible
from mlcli.tasks.supervised import AnySupervisedTask, SupervisedRows, SupervisedTask


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
