"""Algorithm 2 of the notes with any regressor, fitted to the negative gradient, that goes as far as helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from mlcli.core.model import Model
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.trees.losses import Loss
from mlcli.engines.trees.rounds import Validation
from mlcli.tasks.regression import Regressor, ValuedRows

FARTHEST = 128.0
"""How far a step goes at most, where a loss shrinks for ever, as that of classes told apart without error."""
HALVINGS = 60
"""After so many an interval has no more digits."""


@dataclass(frozen=True, eq=False)
class WeakLearners:
    """Regressors with what each is multiplied by (rounds × outputs), and the mean loss before and after rounds."""

    models: tuple[Model, ...]
    multipliers: Array
    training: Array

    def staged(self, table: Table, start: Array, at: Sequence[int]) -> Iterator[Array]:
        """The scores (n × outputs) after each of some rounds."""
        scores, width = np.repeat(start[None, :], len(table), axis=0), len(start)
        for first, end in pairwise([0, *at]):
            for count in range(first * width, end * width):
                scores[:, count % width] += self.multipliers.flat[count] * said_by(self.models[count], table)
            yield scores


@dataclass(frozen=True, eq=False)
class Plan:
    """The regressor, how many rounds at most, and which part of each step is gone."""

    base: Model
    rounds: int
    learning_rate: float


def boosted(
    plan: Plan, data: Any, loss: Loss, aside: Table | None, validation: Validation, rng: np.random.Generator
) -> WeakLearners:
    """Round after round, each a regressor for every output, until nothing is gained."""
    scores = np.repeat(loss.start[:, None], len(data), axis=1)
    rounds: list[list[Model]] = []
    multipliers, training = list[Array](), [loss.at(scores).cost]
    for own in rng.spawn(plan.rounds):
        gradient = loss.at(scores).gradient
        step = [fitted(plan.base, valued(data, -pulls / data.weights), own) for pulls in gradient]
        said = np.array([said_by(member, data.table) for member in step])
        far = np.array([line_search(loss, scores, output, says) for output, says in enumerate(said)])
        if not far.any():
            break
        rounds.append(step)
        multipliers.append(plan.learning_rate * far)
        scores += multipliers[-1][:, None] * said
        training.append(loss.at(scores).cost)
        if aside is not None:
            validation.scores += multipliers[-1] * np.array([said_by(member, aside) for member in step]).T
            validation.judge()
        if validation.over:
            break
    kept = len(rounds) if aside is None else validation.best
    models = tuple(member for step in rounds[:kept] for member in step)
    return WeakLearners(models, np.array(multipliers[:kept]).reshape(kept, len(scores)), np.array(training))


def said_by(member: Model, table: Table) -> Array:
    """The values of a fitted regressor."""
    return outputs(member, table, Regressor)[:, 0]


def valued(data: Any, y: Array) -> ValuedRows:
    """The same rows with other values."""
    return ValuedRows(**{one.name: getattr(data, one.name) for one in fields(RowsOfTable)}, y=y)


def line_search(loss: Loss, scores: Array, output: int, says: Array) -> float:
    """How far to go with one output for the least loss; nowhere where that leads uphill."""

    def slope(far: float) -> float:
        moved = scores.copy()
        moved[output] += far * says
        return float(loss.at(moved).gradient[output] @ says)

    if slope(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0
    while high < FARTHEST and slope(high) < 0:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return (low + high) / 2
