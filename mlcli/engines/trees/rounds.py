"""Boosting round by round: slopes of the loss, a tree on them for each output, a step; until nothing is gained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.trees.gradients import GradientGrower, Grown
from mlcli.engines.trees.losses import Loss, Slopes
from mlcli.engines.trees.structure import Trees


@dataclass(frozen=True, eq=False)
class HeldAside:
    """Rows that no tree sees, which tell when to stop."""

    cells: Array
    ordered: Flags
    loss: Loss
    patience: int
    """After how many rounds without a smaller loss."""


@dataclass(frozen=True)
class Plan:
    """How many rounds at most, how large a step each takes, and how many columns a tree may ask for."""

    rounds: int
    learning_rate: float
    columns: int | None
    """None: all."""


@dataclass(frozen=True, eq=False)
class Boosting:
    """The scores before any tree, the trees that are kept, and the mean loss before and after each round."""

    start: Array
    trees: Trees
    training: Array
    aside: Array
    """Of the rows held aside; empty where there are none."""


class Learner(Protocol):
    """A method, that makes the tree of one output from the slopes near the scores."""

    def tree(
        self, grower: GradientGrower, loss: Loss, slopes: Slopes, scores: Array, output: int, chosen: Rows | None
    ) -> Grown:
        """One tree; it may ask for the chosen columns, or for all by None."""


def boost(
    learner: Learner,
    grower: GradientGrower,
    loss: Loss,
    plan: Plan,
    held: HeldAside | None,
    rng: np.random.Generator,
) -> Boosting:
    """Algorithms 2 and 3 of the notes: start from the best constant, then add tree after tree."""
    start = loss.start
    scores = np.repeat(start[:, None], grower.bins.shape[1], axis=1)
    validation = Validation(held, start)
    rounds: list[list[Trees]] = []
    slopes = loss.at(scores)
    training = [slopes.cost]
    while len(rounds) < plan.rounds and not validation.over:
        drawn = [_drawn(plan.columns, len(grower.bins), rng) for _ in start]
        step = [
            learner.tree(grower, loss, slopes, scores, output, chosen).shrunk(plan.learning_rate)
            for output, chosen in enumerate(drawn)
        ]
        if plan.columns is None and not any(one.asks for one in step):
            break
        for output, one in enumerate(step):
            one.add_to(scores[output])
        rounds.append([one.tree for one in step])
        validation.add(rounds[-1])
        slopes = loss.at(scores)
        training.append(slopes.cost)
    kept = rounds if held is None else rounds[: validation.best]
    return Boosting(
        start,
        Trees.joined([tree for step in kept for tree in step]),
        np.array(training),
        np.array(validation.costs),
    )


def _drawn(count: int | None, columns: int, rng: np.random.Generator) -> Rows | None:
    """Some of the columns, in their order; None for all."""
    return None if count is None else np.sort(rng.choice(columns, count, replace=False))


class Validation:
    """The mean loss of the rows held aside, round by round; without such rows it never ends anything."""

    def __init__(self, held: HeldAside | None, start: Array) -> None:
        self.held = held
        self.scores = np.repeat(start[None, :], 0 if held is None else len(held.cells), axis=0)
        self.costs = [] if held is None else [held.loss.at(self.scores.T).cost]

    def add(self, trees: list[Trees]) -> None:
        """What the trees of one round make of it."""
        if self.held is not None:
            Trees.joined(trees).add_to(self.scores, self.held.cells, self.held.ordered)
            self.judge()

    def judge(self) -> None:
        """What the scores cost now."""
        if self.held is not None:
            self.costs.append(self.held.loss.at(self.scores.T).cost)

    @property
    def best(self) -> int:
        """After how many rounds the loss was smallest first."""
        return int(np.argmin(self.costs))

    @property
    def over(self) -> bool:
        """Whether the patience is used up."""
        return self.held is not None and len(self.costs) - 1 - self.best >= self.held.patience
