"""Steps, then a model: itself a model, so that what takes a model takes a pipeline; how it learns and is asked.

Steps prepare the rows once, then the base of their kind of task makes the model at the end learn, or asks it.
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


def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
    """Fit the steps of a model in order, then the model at the end, to the rows that its kind of task admits."""
    base = data.base
    admitted = base.admitted(model, data)
    prepared = model.fit_steps(admitted, rng)
    final = model.final
    refuse_beyond_memory(final, prepared.table)
    base.learn(final, admitted if prepared is admitted else base.admitted(final, prepared), rng)
    base.note(final, prepared, admitted, model.all_steps())


def ask(model: Any, data: Any) -> Answers:
    """Ask a fitted model about rows, in the way of the rows' kind of task."""
    answers: Answers = data.base.ask(model.final.for_rows(data.rows), data.with_table(model.prepared(data.table)))
    return answers


def settle(model: Any, learned: Any, data: Any) -> None:
    """Decide what is left to decide before a fitted model is kept; of the rows it has learned from ``learned``."""
    data.base.settle(model.final, partial(ask, model), learned, data)


def answers_of(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
    """The answers of a shortcut about all rows, in the way of the rows' kind of task."""
    answers: Answers = data.base.answers_of(model.final, data, round_, held)
    return answers
