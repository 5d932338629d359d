"""How any model learns and is asked: steps prepare the rows once, then the base of their kind of task does it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.limits import refuse_beyond_memory


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
    answers: Answers = data.base.ask(model.final, data.with_table(model.prepared(data.table)))
    return answers


def settle(model: Any, learned: Any, data: Any) -> None:
    """Decide what is left to decide before a fitted model is kept; of the rows it has learned from ``learned``."""
    data.base.settle(model.final, partial(ask, model), learned, data)


def answers_of(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
    """The answers of a shortcut about all rows, in the way of the rows' kind of task."""
    answers: Answers = data.base.answers_of(model.final, data, round_, held)
    return answers
