"""How any model learns and is asked: the kind of the rows decides which base does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.kinds import kind_named


def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
    """Fit a model to rows, in the way of the rows' kind of task."""
    kind_named(data.kind).base.learn(model, data, rng)


def judged(model: Any, data: Any, split: Any) -> Mapping[str, Answers]:
    """What a fitted model says of each part of a split by which the kind of task judges."""
    kind = kind_named(data.kind)
    answers: Mapping[str, Answers] = kind.base.judged(model, data, split, kind.parts)
    return answers


def ask(model: Any, data: Any) -> Answers:
    """Ask a fitted model about rows, in the way of the rows' kind of task."""
    answers: Answers = kind_named(data.kind).base.ask(model, data)
    return answers


def told(model: Any, data: Any, round_: Round, held: HeldOut) -> Answers:
    """The answers of a shortcut about all rows, in the way of the rows' kind of task."""
    answers: Answers = kind_named(data.kind).base.told(model, data, round_, held)
    return answers
