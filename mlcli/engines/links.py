"""Links: how a linear score becomes the probability of a class, and what it costs when the class is known.

Everything is in logarithms, since a probability may be too near 0 or 1 for a number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.losses import Loss

INVERSIONS = 60
REACH = 50.0
"""Shares are looked for among scores of at most this size."""


@dataclass(frozen=True)
class Link:
    """The logarithms of F(z), of 1 − F(z), and of F's slope."""

    log_share: Callable[[Array], Array]
    log_rest: Callable[[Array], Array]
    log_density: Callable[[Array], Array]

    def share(self, scores: Array) -> Array:
        """F(z)."""
        return np.exp(self.log_share(scores))

    def score_of(self, share: Array) -> Array:
        """Where F is so large, by bisection."""
        low, high = np.full_like(share, -REACH), np.full_like(share, REACH)
        for _ in range(INVERSIONS):
            middle = (low + high) / 2
            below = self.share(middle) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray((low + high) / 2)


def _log_normal(z: Array) -> Array:
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(z))


LOGISTIC = Link(
    lambda z: -np.logaddexp(0, -z),
    lambda z: -np.logaddexp(0, z),
    lambda z: -np.logaddexp(0, z) - np.logaddexp(0, -z),
)
NORMAL = Link(_log_normal, lambda z: _log_normal(-z), lambda z: -(z**2) / 2 - np.log(2 * np.pi) / 2)
ARCTAN = Link(
    lambda z: np.log(np.arctan2(1, -z) / np.pi),
    lambda z: np.log(np.arctan2(1, z) / np.pi),
    lambda z: -np.log(np.pi) - np.log1p(z**2),
)


def generalised_logistic(power: float) -> Link:
    """(1 + e^−z)^−power, the generalised logistic function; a power of 1 is the logistic function."""

    def log_share(z: Array) -> Array:
        return -power * np.logaddexp(0, -z)

    return Link(
        log_share,
        lambda z: np.log(-np.expm1(log_share(z))),
        lambda z: np.log(power) - z - (power + 1) * np.logaddexp(0, -z),
    )


@dataclass(frozen=True, eq=False)
class LinkLoss(Loss):
    """−y log F(z) − (1 − y) log(1 − F(z)) of classes y = 0 or 1."""

    link: Link = LOGISTIC

    def each(self, scores: Array) -> tuple[Array, Array]:
        """The cost of each row, and its slope."""
        share, rest = self.link.log_share(scores), self.link.log_rest(scores)
        density = self.link.log_density(scores)
        cost = -np.where(self.truth == 1, share, rest)
        slope = np.where(self.truth == 1, -np.exp(density - share), np.exp(density - rest))
        return cost, slope

    def bend(self, scores: Array) -> Array:
        """What it bends by on average over classes (Fisher's scoring), which is never negative."""
        both = self.link.log_share(scores) + self.link.log_rest(scores)
        return np.exp(2 * self.link.log_density(scores) - both)

    def start(self) -> Array:
        """The score of the share of the class."""
        return self.link.score_of(self.truth @ self.weights / self.weights.sum())
