"""Algorithm 2 of the notes with any regressor, fitted to the negative gradient, that goes as far as helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np

from mlcli.core.model import Model
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.trees.losses import Loss, Slopes
from mlcli.engines.trees.rounds import HeldAside
from mlcli.tasks.regression import Regressor, ValuedRows

FARTHEST = 128.0
"""How far a step goes at most, where a loss shrinks for ever, as that of classes told apart without error."""
HALVINGS = 60
"""After so many an interval has no more digits."""


@dataclass(frozen=True, eq=False)
class WeakLearner:
    """A regressor, how far its answers are gone, and those about the training rows."""

    model: Model
    far: float
    said: Array

    @property
    def asks(self) -> bool:
        """Whether it goes anywhere."""
        return self.far != 0

    def shrunk(self, share: float) -> WeakLearner:
        """The same that goes less far."""
        return replace(self, far=self.far * share)

    def add_to(self, scores: Array) -> None:
        """Add what it says of the training rows."""
        scores += self.far * self.said

    def says(self, held: HeldAside) -> Array:
        """What it says of rows held aside."""
        return self.far * said_by(self.model, held.table)


@dataclass(frozen=True, eq=False)
class WeakLearning:
    """A regressor, and the rows whose pseudo-residuals it learns."""

    base: Model
    data: Any

    def steps(self, loss: Loss, slopes: Slopes, scores: Array, rng: np.random.Generator) -> list[WeakLearner]:
        """A regressor for every output, as far as each by itself helps most."""
        (own,) = rng.spawn(1)
        residuals = -slopes.gradient / self.data.weights
        models = [fitted(self.base, valued(self.data, one), own) for one in residuals]
        said = [said_by(model, self.data.table) for model in models]
        far = [line_search(loss, scores, output, says) for output, says in enumerate(said)]
        return [WeakLearner(*parts) for parts in zip(models, far, said, strict=True)]


def staged(
    models: Sequence[Model], multipliers: Array, table: Table, start: Array, at: Sequence[int]
) -> Iterator[Array]:
    """The scores (n × outputs) after each of some rounds."""
    scores, width = np.repeat(start[None, :], len(table), axis=0), len(start)
    for first, end in pairwise([0, *at]):
        for count in range(first * width, end * width):
            scores[:, count % width] += multipliers.flat[count] * said_by(models[count], table)
        yield scores


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
