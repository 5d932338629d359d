"""Boosting round by round: slopes of the loss, a step on them for each output; until nothing is gained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.trees.losses import Loss, Slopes


@dataclass(frozen=True, eq=False)
class HeldAside:
    """Rows that no step sees, which tell when to stop."""

    table: Table
    cells: Array
    ordered: Flags
    loss: Loss
    patience: int
    """After how many rounds without a smaller loss."""


@dataclass(frozen=True)
class Plan:
    """How many rounds at most, which part of a step is gone, and whether one that asks nothing is the last."""

    rounds: int
    learning_rate: float
    ends: bool


class Step(Protocol):
    """What a round adds to one output: a tree, or a model with a multiplier."""

    @property
    def asks(self) -> bool:
        """Whether it gains anything."""

    def shrunk(self, share: float) -> Self:
        """The same that says less."""

    def add_to(self, scores: Array) -> None:
        """Add what it says of the training rows."""

    def says(self, held: HeldAside) -> Array:
        """What it says of rows held aside."""


class Learner(Protocol):
    """A method, that makes a step for each output from the slopes near the scores."""

    def steps(self, loss: Loss, slopes: Slopes, scores: Array, rng: np.random.Generator) -> Sequence[Step]:
        """The steps of one round."""


@dataclass(frozen=True, eq=False)
class Boosting:
    """The scores before any step, the rounds that are kept, and the mean loss before and after each round."""

    start: Array
    rounds: Sequence[Sequence[Any]]
    training: Array
    aside: Array
    """Of the rows held aside; empty where there are none."""


def boost(
    learner: Learner, loss: Loss, rows: int, plan: Plan, held: HeldAside | None, rng: np.random.Generator
) -> Boosting:
    """Algorithms 2 and 3 of the notes: start from the best constant, then add step after step."""
    start, rounds = loss.start, list[Sequence[Step]]()
    scores = np.repeat(start[:, None], rows, axis=1)
    validation = Validation(held, start)
    slopes = loss.at(scores)
    training = [slopes.cost]
    while len(rounds) < plan.rounds and not validation.over:
        steps = [one.shrunk(plan.learning_rate) for one in learner.steps(loss, slopes, scores, rng)]
        if plan.ends and not any(one.asks for one in steps):
            break
        for output, one in enumerate(steps):
            one.add_to(scores[output])
        rounds.append(steps)
        validation.add(steps)
        slopes = loss.at(scores)
        training.append(slopes.cost)
    kept = rounds if held is None else rounds[: validation.best]
    return Boosting(start, kept, np.array(training), np.array(validation.costs))


class Validation:
    """The mean loss of the rows held aside, round by round; without such rows it never ends anything."""

    def __init__(self, held: HeldAside | None, start: Array) -> None:
        self.held = held
        self.scores = np.repeat(start[:, None], 0 if held is None else len(held.table), axis=1)
        self.costs = [] if held is None else [held.loss.at(self.scores).cost]

    def add(self, steps: Sequence[Step]) -> None:
        """What the steps of one round make of it."""
        if self.held is not None:
            for output, one in enumerate(steps):
                self.scores[output] += one.says(self.held)
            self.costs.append(self.held.loss.at(self.scores).cost)

    @property
    def best(self) -> int:
        """After how many rounds the loss was smallest first."""
        return int(np.argmin(self.costs))

    @property
    def over(self) -> bool:
        """Whether the patience is used up."""
        return self.held is not None and len(self.costs) - 1 - self.best >= self.held.patience
