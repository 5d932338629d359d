"""Boosting round by round: slopes of the loss, a step on them for each output; until nothing is gained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.trees.losses import Loss, Slopes

Steps = Callable[[Slopes, Array], Sequence[Any]]
"""From slopes near some scores what a round adds to each output: trees, or models with multipliers.

Each knows whether it gains anything (``asks``), and what it says of training rows (``add_to`` their scores) and of
rows held aside (``says``); what is kept of it needs no training rows.
"""


@dataclass(eq=False)
class HeldAside:
    """Rows that no step sees; their mean loss, round by round, tells when to stop."""

    table: Table
    cells: Array
    ordered: Flags
    loss: Loss
    patience: int
    """After how many rounds without a smaller loss."""
    scores: Array
    costs: list[float] = field(default_factory=list)

    def add(self, steps: Sequence[Any]) -> None:
        """What the steps of one round make of it."""
        for output, one in enumerate(steps):
            self.scores[output] += one.says(self)
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
) -> tuple[Sequence[Sequence[Any]], Array]:
    """Algorithms 2 and 3 of the notes: start from the best constant, then add step after step.

    Rounds, at most so many, up to the best for rows held aside; and the mean loss before and after each. Where it
    ``ends``, a round that gains nothing is not made any more.
    """
    rounds, slopes = list[Sequence[Any]](), loss.at(scores)
    training = [slopes.cost]
    if held is not None:
        held.add(())
    while len(rounds) < most and not (held is not None and held.over):
        made = steps(slopes, scores)
        if ends and not any(one.asks for one in made):
            break
        for output, one in enumerate(made):
            one.add_to(scores[output])
        rounds.append([one.without_rows() for one in made])
        if held is not None:
            held.add(made)
        slopes = loss.at(scores)
        training.append(slopes.cost)
    return rounds if held is None else rounds[: held.best], np.array(training)
