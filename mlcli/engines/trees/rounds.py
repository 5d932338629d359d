"""Boosting round by round: slopes of the loss, a step on them for each output; until nothing is gained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Table
from mlcli.engines.trees.losses import Loss, LossDerivatives

Steps = Callable[[LossDerivatives, Array], Sequence[tuple[Any, Array]]]
"""From the slopes of the loss at some scores what a round adds to each output: a weak learner, and what it says of
the training rows. A learner knows whether it ``asks`` anything, and its ``answers`` about other rows."""


@dataclass(eq=False)
class HeldAside:
    """Rows that no step sees; their mean loss, round by round, tells when to stop."""

    table: Table
    loss: Loss
    patience: int
    """After how many rounds without a smaller loss."""
    scores: Array
    costs: list[float] = field(default_factory=list)

    def add(self, learners: Sequence[Any]) -> None:
        """What the learners of one round make of it."""
        for output, learner in enumerate(learners):
            self.scores[output] += learner.answers(self.table)
        self.costs.append(self.loss.at(self.scores).cost)

    @property
    def best(self) -> int:
        """After how many rounds the loss was smallest first."""
        return int(np.argmin(self.costs))

    @property
    def over(self) -> bool:
        """Whether the patience is used up."""
        return len(self.costs) - 1 - self.best >= self.patience


def boost(
    steps: Steps, loss: Loss, scores: Array, most: int, ends: bool, held: HeldAside | None
) -> tuple[list[Any], Array]:
    """Algorithms 2 and 3 of the notes: start from the best constant, then add step after step.

    The learners of all outputs, round after round, of at most so many and up to the best for rows held aside; and
    the mean loss before and after each round. Where it ``ends``, a round that gains nothing is not made any more.
    """
    learners, slopes = list[Any](), loss.at(scores)
    training = [slopes.cost]
    if held is not None:
        held.add(())
    while len(training) <= most and not (held is not None and held.over):
        made = steps(slopes, scores)
        if ends and not any(learner.asks for learner, _ in made):
            break
        for output, (learner, answers) in enumerate(made):
            scores[output] += answers
            learners.append(learner)
        if held is not None:
            held.add([learner for learner, _ in made])
        slopes = loss.at(scores)
        training.append(slopes.cost)
    return learners if held is None else learners[: held.best * len(scores)], np.array(training)
