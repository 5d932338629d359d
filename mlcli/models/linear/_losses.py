"""Cross-entropy: what linear scores cost, with slope and shares; scores have a line per output, a column per row.

Scores are taken relative to that of the first class, which then is 0: K classes have K − 1 outputs, two have one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array


@dataclass(frozen=True, eq=False)
class CrossEntropy:
    """Σ w (log Σ_k e^z_k − z_y), with z = 0 for the first class."""

    outcomes: Array
    """1 where a row (column) is of the class of an output (line), else 0."""
    weights: Array

    @cached_property
    def weighted(self) -> Array:
        """The outcomes times the weights."""
        product: Array = self.outcomes * self.weights
        return product

    @cached_property
    def start(self) -> Array:
        """The best scores that are the same for every row: log-odds of each class against the first."""
        shares = self.weighted.sum(axis=1)
        return np.asarray(np.log(shares) - np.log(self.weights.sum() - shares.sum()))

    def at(self, scores: Array, rows: slice) -> tuple[float, Array, Array]:
        """The summed loss of some rows, its slope in their scores, and the shares of the classes.

        Written relative to the largest score, which cannot overflow.
        """
        weights, weighted = self.weights[rows], self.weighted[:, rows]
        highest = scores.max(axis=0, initial=0.0)
        shares = np.exp(scores - highest)
        total = np.exp(-highest)
        total += shares.sum(axis=0) if len(shares) > 1 else shares[0] if len(shares) else 0.0
        shares /= total
        value = weights @ (highest + np.log(total)) - np.vdot(weighted, scores)
        slope = shares * weights
        slope -= weighted
        return float(value), slope, shares
