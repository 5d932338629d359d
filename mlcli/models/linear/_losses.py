"""Losses: what linear scores cost, with slope and curvature. Scores have one row per output, one column per row.

Sums are weighted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from mlcli.core.tables import Array, Codes


@dataclass(frozen=True, eq=False)
class Expansion:
    """A function near one point, to second order."""

    value: float
    slope: Array
    curved: Callable[[Array], Array]
    """The change of the slope that goes with a small change of the argument."""


class Loss(Protocol):
    """The datafit of a linear model."""

    bound: float
    """The curvature in the scores of one row of weight 1 is never larger."""

    @property
    def start(self) -> Array:
        """The best scores that are the same for every row."""

    def at(self, scores: Array) -> Expansion:
        """The summed loss near some scores."""


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """Cross-entropy of two outcomes, one score: Σ w (log(1 + e^z) − y·z)."""

    outcome: Array
    """y: 1 for the outcome whose log-odds the score is, 0 for the other."""
    weights: Array
    bound = 0.25

    @cached_property
    def start(self) -> Array:
        """The log-odds of the outcome."""
        positive = self.weights @ self.outcome
        return np.array([np.log(positive / (self.weights.sum() - positive))])

    def at(self, scores: Array) -> Expansion:
        """Written with e^−|z|, which cannot overflow."""
        z, small = scores[0], np.exp(-np.abs(scores[0]))
        value = self.weights @ (np.maximum(z, 0) - self.outcome * z + np.log1p(small))
        probability = np.where(z >= 0, 1.0, small) / (1 + small)
        variance = self.weights * small / (1 + small) ** 2
        slope = self.weights * (probability - self.outcome)
        return Expansion(float(value), slope[None, :], lambda change: variance * change)


@dataclass(frozen=True, eq=False)
class SoftmaxLoss:
    """Cross-entropy of several classes, one score each: Σ w (log Σ_k e^z_k − z_y)."""

    y: Codes
    classes: int
    weights: Array
    bound = 0.5

    @cached_property
    def start(self) -> Array:
        """The logarithms of the class shares, summing to 0; so does every later gradient."""
        logs = np.log(np.bincount(self.y, weights=self.weights, minlength=self.classes))
        return np.asarray(logs - logs.mean(), np.float64)

    def at(self, scores: Array) -> Expansion:
        """Written relative to the largest score, which cannot overflow."""
        rows = np.arange(len(self.y))
        highest = scores.max(axis=0)
        powers = np.exp(scores - highest)
        sums = powers.sum(axis=0)
        value = self.weights @ (highest - scores[self.y, rows] + np.log(sums))
        probabilities = powers / sums
        weighted = probabilities * self.weights
        slope = weighted.copy()
        slope[self.y, rows] -= self.weights

        def curved(change: Array) -> Array:
            product: Array = weighted * (change - np.einsum("kn,kn->n", probabilities, change))
            return product

        return Expansion(float(value), slope, curved)
