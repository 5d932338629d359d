"""Pipelines of steps and a model, and how a model or a pipeline is fitted and predicts.

A pipeline is itself a model, so that whatever takes a model takes a pipeline. Its steps prepare the rows once; the
task of the rows then fits the model behind the steps, or asks it for answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Self, cast

import numpy as np

from mlcli.core.abilities import (
    AnswersQuestions,
    CountsParameters,
    DecidesByRule,
    ExplainsTask,
    Generative,
    LeaveOneOut,
    RowExplainer,
    SeesRowNumbers,
    bytes_per_pair,
    is_complete,
    methods_with,
)
from mlcli.core.answers import Answers
from mlcli.core.errors import DataError, FitError
from mlcli.core.findings import Explanation
from mlcli.core.model import Model, Step
from mlcli.core.moments import refuse_beyond_memory, refuse_extremes
from mlcli.core.rows import R, RowsOfTable
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Rows, Table

WITHOUT_WEIGHTS = "sample-rows with 'balance: up' repeats rows instead"


@dataclass(kw_only=True, eq=False)
class Pipeline(Model):
    """Steps in front of a model; each step is fitted to the training rows as the previous steps leave them."""

    steps: tuple[Step, ...] = ()
    model: Model

    @property
    def name(self) -> str:
        """The name of the model at the end."""
        return self.model.name

    @property
    def accepts(self) -> Accepts:
        """What all steps and the model accept; named steps decide about scaling, so none is preferred."""
        accepted = [*(step.accepts for step in self.steps), self.model.accepts]
        unlabelled = any(part.unlabelled for part in accepted)
        return replace(Accepts.by_all(accepted), unlabelled=unlabelled, prefers_scaled=False)

    @property
    def final(self) -> Model:
        """The model at the end."""
        return self.model.final

    def all_steps(self) -> tuple[Step, ...]:
        """The steps, including those of a nested pipeline."""
        return (*self.steps, *self.model.all_steps())

    def prepared(self, table: Table) -> Table:
        """The table as the model sees it; numbers too extreme to be squared are refused."""
        refuse_extremes(table, np.ones(len(table)))
        for step in self.steps:
            table = step.apply(table)
        return self.model.prepared(table)

    def leave_one_out(self, rows: RowsOfTable) -> Array | None:
        """The model's prediction of each row by all others, NaN for rows that must be fitted; None: fit all."""
        final, steps = self.final, self.all_steps()
        if not isinstance(final, LeaveOneOut) or len(rows) < 4:
            return None
        unlabelled = getattr(rows, "unlabelled", None)
        if rows.weight is not None or unlabelled is not None or not is_complete(rows.table):
            return None
        if any(step.columns is not None for step in steps):
            return None
        return final.leave_one_out(rows, steps)

    def explain(self) -> Explanation:
        """What the steps, the model, and the task of the model have learned."""
        steps = (section for step in self.steps for section in step.explain())
        of_task = self.model.explain_task() if isinstance(self.model, ExplainsTask) else ()
        return (*steps, *self.model.explain(), *of_task)

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return type(self)(steps=tuple(step.fresh() for step in self.steps), model=self.model.fresh())


def fit_steps(model: Model, rows: R, rng: np.random.Generator) -> R:
    """Fit the steps of a model in order; the rows as the model behind them sees them."""
    while isinstance(model, Pipeline):
        model.columns_, model.target_ = rows.table.columns, rows.target
        for step in model.steps:
            if step.gives_weights and not model.model.accepts.weights:
                what = f"{step.id} weighs rows, and {model.name} takes every row alike"
                raise FitError(what, hint=WITHOUT_WEIGHTS)
            step.learn(rows, rng)
            rows = step.training_rows(rows.transformed(step.apply), rng)
        model = model.model
    return rows


def learn(model: Model, rows: RowsOfTable, rng: np.random.Generator) -> None:
    """Fit the steps of a model in order, then the model behind them, to what its kind of task lets it see."""
    task, final = rows.task, model.final
    given = task.training_view(model, rows)
    prepared = fit_steps(model, given, rng)
    refuse_beyond_memory(final, prepared.table, bytes_per_pair(final))
    task.learn(final, given if prepared is given else task.training_view(final, prepared), rng)
    task.annotate(final, prepared, given, model.all_steps())


def final_for(model: Model, row_numbers: Rows) -> Model:
    """The model behind the steps, ready to predict the rows of a file with these numbers."""
    final = model.final
    return final.for_rows(row_numbers) if isinstance(final, SeesRowNumbers) else final


def predict_rows(model: Model, rows: RowsOfTable) -> Answers:
    """The answers of a fitted model about rows, which its steps prepare first."""
    prepared = rows.with_table(model.prepared(rows.table))
    return cast(Answers, rows.task.predict_rows(final_for(model, rows.rows), prepared))


def set_threshold(model: Model, learned: RowsOfTable, rows: RowsOfTable) -> None:
    """Choose what a kind of task leaves open until a fitted model is kept; ``learned`` are its training rows."""
    rows.task.set_threshold(model.final, partial(predict_rows, model), learned, rows)


def leave_one_out_answers(model: Model, rows: RowsOfTable, predictions: Array) -> Answers:
    """The answers about all rows, each predicted by all others."""
    return cast(Answers, rows.task.leave_one_out_answers(model.final, rows, predictions))


def explain_row(model: Model, table: Table) -> Explanation:
    """How a fitted model arrives at its answer about one row, or one sequence; empty if it cannot explain it."""
    final = model.final
    return final.explain_answer(model.prepared(table)) if isinstance(final, RowExplainer) else ()


def adjustable_parameters(model: Model, table: Table) -> float | None:
    """How many parameters a fit to a table has adjusted; None if the method does not count them."""
    final = model.final
    return final.adjustable_parameters(model.prepared(table)) if isinstance(final, CountsParameters) else None


def decision_in_words(model: Model) -> str:
    """The rule by which the answers of a fitted model are decided; empty if there is none."""
    return model.final.decision_in_words() if isinstance(model.final, DecidesByRule) else ""


def answer_to(model: Model, question: str) -> Explanation:
    """The answer to a question in the notation of probability; models that answer none are refused."""
    final = model.final
    if isinstance(final, AnswersQuestions):
        return final.answer_to(question)
    hint = f"methods that do: {', '.join(methods_with(AnswersQuestions))}, such as --ask 'P(a | b=x)'"
    raise DataError(f"{model.name} answers no questions", hint=hint)


def sample_rows(model: Model, n: int, rng: np.random.Generator) -> Table:
    """Rows drawn from a fitted model, as they would be in the file; only generative models can draw rows."""
    if not isinstance(model, Pipeline):
        if isinstance(model, Generative):
            return model.sample_rows(n, rng)
        hint = f"methods that are: {', '.join(methods_with(Generative))}"
        raise DataError(f"{model.name} is not a generative model", hint=hint)
    drawn = sample_rows(model.model, n, rng)
    for step in reversed(model.steps):
        drawn = step.undone(drawn, rng)
    places = {column.name: index for index, column in enumerate(model.columns_)}
    parts = sorted(drawn.parts(), key=lambda part: places.get(part[0].name, len(places)))
    return Table.of(parts, len(drawn))
