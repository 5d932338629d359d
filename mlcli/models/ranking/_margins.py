"""What pairs lack of a margin, added up per row without listing the pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from mlcli.core.pair_sums import of_higher, of_lower, pair_weight
from mlcli.core.tables import Array, Codes
from mlcli.tasks.ranking import GroupedRows


@dataclass(frozen=True, eq=False)
class Margins:
    """Training rows, of which a pair (a, b) lacks 1 − (s_a − s_b) where that is above 0."""

    X: Array
    relevance: Array
    group: Codes
    weights: Array

    @classmethod
    def of(cls, data: GroupedRows) -> Self:
        """A common offset of all rows cancels in pairs, and would only cost digits."""
        data = data.counted()
        numbers = data.table.numbers
        return cls(numbers - numbers.mean(axis=0), data.relevance, data.group, data.weights)

    def pairs(self) -> int:
        """How many pairs there are."""
        return int(pair_weight(self.relevance, self.group, np.ones(len(self.group))).sum())

    def lower(self, score: Array, summed: Array, margin: float = 1.0) -> Array:
        """For each row, the sum over its partners below that lack something of the margin."""
        return of_lower(self.relevance, self.group, score, margin, summed)

    def higher(self, score: Array, summed: Array, margin: float = 1.0) -> Array:
        """For each row, the sum over its partners above."""
        return of_higher(self.relevance, self.group, score, margin, summed)

    def powers(self, score: Array, most: int) -> Array:
        """Weight × score⁰, weight × score¹, ...: what sums of lacks are made from."""
        return np.column_stack([self.weights * score**power for power in range(most + 1)])

    def lack(self, score: Array) -> float:
        """Σ of what pairs lack."""
        count, total = self.lower(score, self.powers(score, 1)).T
        return float(self.weights @ (count * (1 - score) + total))

    def line_of_lack(self, score: Array, margin: float) -> tuple[Array, float]:
        """Slope and offset, as a function of the weights, of the lack of the pairs within a smaller margin."""
        below, above = (side(score, self.weights[:, None], margin)[:, 0] for side in (self.lower, self.higher))
        return np.asarray((self.weights * (above - below)) @ self.X), float(self.weights @ below)

    def squared_lack(self, score: Array) -> float:
        """Σ of the squares of what pairs lack."""
        count, total, squares = self.lower(score, self.powers(score, 2)).T
        return float(self.weights @ (count * (1 - score) ** 2 + 2 * (1 - score) * total + squares))

    def slope_of_squared_lack(self, score: Array) -> Array:
        """What the sum of squares changes by for each unit of each weight."""
        powers = self.powers(score, 1)
        (below, sum_below), (above, sum_above) = (side(score, powers).T for side in (self.lower, self.higher))
        lack = above * (1 + score) - sum_above - below * (1 - score) - sum_below
        return np.asarray(2 * (self.weights * lack) @ self.X)

    def curvature_of_squared_lack(self, score: Array) -> Array:
        """What that slope changes by."""
        below, above = (side(score, self.weights[:, None])[:, 0] for side in (self.lower, self.higher))
        partners = self.lower(score, self.weights[:, None] * self.X)
        own = (self.X * (self.weights * (below + above))[:, None]).T @ self.X
        crossed = (self.X * self.weights[:, None]).T @ partners
        return np.asarray(2 * (own - crossed - crossed.T))
