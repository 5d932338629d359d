"""Which rows are worth asking about: how unsure a model is of each, by its probabilities of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.tasks.classification import entropy

RANDOM, COMMITTEE = "random", "committee"


def least_confidence(shares: Array) -> Array:
    """1 − P(y₁ | x): how improbable the most probable class is."""
    return np.asarray(1.0 - shares.max(axis=1))


def margin(shares: Array) -> Array:
    """P(y₂ | x) − P(y₁ | x): how near the second class comes to the first."""
    two = np.sort(shares, axis=1)[:, -2:]
    return np.asarray(two[:, 0] - two[:, -1])


UNSURE: dict[str, Callable[[Array], Array]] = {
    "least-confidence": least_confidence,
    "margin": margin,
    "entropy": entropy,
}
"""From the probabilities of classes (n × K), how unsure a model is of each row."""
FOR_VALUES = (RANDOM, COMMITTEE)
"""The strategies that need no probabilities of classes."""
STRATEGIES = (RANDOM, *UNSURE, COMMITTEE)


@dataclass(frozen=True)
class Queries:
    """How targets are asked for: by which strategy, how many at a time, up to how many labels in all."""

    strategy: str
    batch: int
    budget: int
    members: int
    """Of the committee."""


def most_worth(worth: Array, count: int) -> Rows:
    """The places of so many rows that are most worth asking about; of equals, the first."""
    return np.argsort(-np.round(worth, 12), kind="stable")[:count]
