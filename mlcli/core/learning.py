"""How any model learns and is asked: the rows know the base of their kind of task, and that base does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.held_out import HeldOut, Round


def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
    """Fit a model to rows, in the way of the rows' kind of task."""
    data.base.learn(model, data, rng)


def judged(model: Any, data: Any, split: Any, parts: tuple[str, ...]) -> Mapping[str, Answers]:
    """What a fitted model says of each part of a split by which the kind of task judges."""
    answers: Mapping[str, Answers] = data.base.judged(model, data, split, parts)
    return answers


def ask(model: Any, data: Any) -> Answers:
    """Ask a fitted model about rows, in the way of the rows' kind of task."""
    answers: Answers = data.base.ask(model, data)
    return answers


def answers_of(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
    """The answers of a shortcut about all rows, in the way of the rows' kind of task."""
    answers: Answers = data.base.answers_of(model, data, round_, held)
    return answers
