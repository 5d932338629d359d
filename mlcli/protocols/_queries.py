"""Which rows are worth asking about: how unsure a model, or a committee of models, is of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Rows

RANDOM, COMMITTEE = "random", "committee"


def nothing(shares: Array) -> Array:
    """Every row alike."""
    return np.zeros(len(shares))


def least_confidence(shares: Array) -> Array:
    """1 − P(y₁ | x): how improbable the most probable class is."""
    return np.asarray(1.0 - shares.max(axis=1))


def margin(shares: Array) -> Array:
    """P(y₂ | x) − P(y₁ | x): how near the second class comes to the first."""
    two = np.sort(shares, axis=1)[:, -2:]
    return np.asarray(two[:, 0] - two[:, -1])


def entropy(shares: Array) -> Array:
    """−Σ P(y | x) ln P(y | x); of the shares of votes in a committee: vote entropy."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=1))


STRATEGIES: dict[str, Callable[[Array], Array]] = {
    RANDOM: nothing,
    "least-confidence": least_confidence,
    "margin": margin,
    "entropy": entropy,
    COMMITTEE: entropy,
}
"""From the probabilities of classes (n × K), or from shares of votes, how much a row is worth asking about."""


@dataclass(frozen=True)
class Queries:
    """How classes are asked for: by which strategy, how many at a time, up to how many labels in all."""

    strategy: str
    batch: int
    budget: int
    members: int
    """Of the committee."""

    def most_worth(self, shares: Array, count: int) -> Rows:
        """The places of so many rows that are most worth asking about; of equals, the first."""
        worth = np.round(STRATEGIES[self.strategy](shares), 12)
        return np.argsort(-worth, kind="stable")[:count]
