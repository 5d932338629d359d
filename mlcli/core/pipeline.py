"""Pipelines of steps and a model, and how a model or a pipeline is fitted and predicts.

A pipeline is itself a model, so that whatever takes a model takes a pipeline. Its steps prepare the rows once; the
task of the rows then fits the model behind the steps, or asks it for answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.answers import Answers
from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.held_out import HeldOut, Round, refusing_not_finite
from mlcli.core.limits import refuse_beyond_memory, refuse_extremes
from mlcli.core.model import Model
from mlcli.core.rows import RowsOfTable
from mlcli.core.step import Step
from mlcli.core.tables import Table

WITHOUT_WEIGHTS = "sample-rows with 'balance: up' repeats rows instead"


@dataclass(kw_only=True, eq=False)
class Pipeline(Model):
    """Each step learns from the training rows as the steps before it left them.

    The steps are applied once to a table; what is asked then is the model's own business.
    """

    steps: tuple[Step, ...] = ()
    model: Any = field(default=None)

    @property
    def name(self) -> str:
        """The name of the model at the end."""
        return str(self.model.name)

    @property
    def accepts(self) -> Accepts:
        """What the steps and the model can all take; who names steps has said whether to scale."""
        accepted = Accepts.by_all([part.accepts for part in (*self.steps, self.model)])
        unlabelled = any(part.accepts.unlabelled for part in (*self.steps, self.model))
        return replace(accepted, unlabelled=unlabelled, prefers_scaled=False)

    @property
    def final(self) -> Model:
        """The model at the end."""
        final: Model = self.model.final
        return final

    def all_steps(self) -> tuple[Step, ...]:
        """The steps, and those of a pipeline behind them."""
        return (*self.steps, *self.model.all_steps())

    def fit_steps(self, data: Any, rng: np.random.Generator) -> Any:
        """Fit the steps in order; the rows as they leave them."""
        self.columns_, self.target_ = data.table.columns, data.target
        for step in self.steps:
            if step.gives_weights and not self.model.accepts.weights:
                what = f"{step.id} weighs rows, and {self.name} takes every row alike"
                raise FitError(what, hint=WITHOUT_WEIGHTS)
            step.learn(data, rng)
            data = step.training_rows(data.transformed(step.apply), rng)
        return self.model.fit_steps(data, rng)

    def prepared(self, table: Table) -> Table:
        """The table as the model sees it; numbers that no model could multiply are refused."""
        refuse_extremes(table, np.ones(len(table)))
        for step in self.steps:
            table = step.apply(table)
        prepared: Table = self.model.prepared(table)
        return prepared

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Rows that the model draws, as they would stand in the file, the columns in its order."""
        drawn: Table = self.model.sample_rows(n, rng)
        for step in reversed(self.steps):
            drawn = step.undone(drawn, rng)
        place = {column.name: place for place, column in enumerate(self.columns_)}
        parts = sorted(drawn.parts(), key=lambda part: place.get(part[0].name, len(place)))
        return Table.of(parts, len(drawn))

    @property
    def has_closed_form(self) -> bool:
        """Whether the model may have answers to all parts of a round without being fitted to each."""
        return type(self.model).held_out is not Model.held_out

    def held_out(self, data: Any, round_: Round, steps: tuple[Step, ...] = ()) -> HeldOut | None:
        """The model's answers to every part at once, the steps learned anew for each; None: fit."""
        if not self.has_closed_form or len(getattr(data, "unlabelled", None) or ()):
            return None
        if any(step.columns is not None or step.changes_rows for step in self.steps):
            return None
        refuse_beyond_memory(self.final, data.table)
        held: HeldOut | None = self.model.held_out(data, round_, (*steps, *self.steps))
        return None if held is None else refusing_not_finite(held, round_)

    def explain(self) -> Explanation:
        """What the steps learned, then what the model learned, then what its kind of task has noted."""
        steps = (section for step in self.steps for section in step.explain())
        return (*steps, *self.model.explain(), *self.model.explain_task())

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return type(self)(steps=tuple(step.fresh() for step in self.steps), model=self.model.fresh())


def learn(model: Model, rows: RowsOfTable, rng: np.random.Generator) -> None:
    """Fit the steps of a model in order, then the model behind them, to what its kind of task lets it see."""
    task, final = rows.task, model.final
    given = task.training_view(model, rows)
    prepared = model.fit_steps(given, rng)
    refuse_beyond_memory(final, prepared.table)
    task.learn(final, given if prepared is given else task.training_view(final, prepared), rng)
    task.annotate(final, prepared, given, model.all_steps())


def predict_rows(model: Model, rows: RowsOfTable) -> Answers:
    """The answers of a fitted model about rows, which its steps prepare first."""
    prepared = rows.with_table(model.prepared(rows.table))
    answers: Answers = rows.task.predict_rows(model.final.for_rows(rows.rows), prepared)
    return answers


def set_threshold(model: Model, learned: RowsOfTable, rows: RowsOfTable) -> None:
    """Choose what a kind of task leaves open until a fitted model is kept; ``learned`` are its training rows."""
    rows.task.set_threshold(model.final, partial(predict_rows, model), learned, rows)


def answers_from_held_out(model: Model, rows: RowsOfTable, round_: Round, held: HeldOut) -> Answers:
    """The answers about all rows, made from predictions in closed form."""
    answers: Answers = rows.task.answers_from_held_out(model.final, rows, round_, held)
    return answers
