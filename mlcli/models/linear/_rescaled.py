"""A ridge without each row in turn, where leaving a row out changes the units of the columns by next to nothing.

Without a row the matrix of the normal equations is A − f·d dᵀ + Δ: f·d dᵀ is what the row adds to the scatter, and
Δ (diagonal) what its absence does to the penalty. A − f·d dᵀ is inverted by Sherman & Morrison (1950), and Δ
answered by a Neumann series, of which each term gains several digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np

from mlcli.core.blocks import row_blocks
from mlcli.core.tables import Array, Flags
from mlcli.engines.expansion import UNSCALED, Recipe
from mlcli.engines.sums import Sums
from mlcli.models.linear._from_sums import inverse_of

LARGEST_CONDITION = 1e5
MOST_LOST = 0.5
"""A row that is more than this share of a column's scatter, or of its own answer, is left to others."""
SMALL = 1e-2
"""From so large a change of the penalty on, its series takes too many terms."""
DIGITS = 1e-14


@dataclass(frozen=True, eq=False)
class Ridge:
    """The plane nearest to all rows, and all that it takes to know those without one of them."""

    sums: Sums
    scatter: Array
    ddof: Array
    scaled: Flags
    l2: float
    normal: Array
    inverse: Array
    slopes: Array
    size: float
    """A bound of the inverse, in columns of one size."""

    @classmethod
    def of(cls, recipe: Recipe, sums: Sums, l2: float) -> Ridge | None:
        """The plane; None where its columns are too nearly collinear."""
        scatter = sums.scatter[np.ix_(recipe.main, recipe.main)]
        scaled, ddof = recipe.ddof != UNSCALED, np.maximum(recipe.ddof, 0).astype(np.float64)
        units = np.where(scaled, scatter.diagonal() / (sums.weight - ddof), 1.0)
        normal = scatter + l2 * np.diag(units)
        inverse = inverse_of(normal, LARGEST_CONDITION)
        if inverse is None:
            return None
        norms = np.sqrt(normal.diagonal())
        size = float(np.abs(inverse * np.multiply.outer(norms, norms)).sum(axis=0).max(initial=0.0))
        slopes = inverse @ sums.scatter[recipe.main, -1]
        return cls(sums, scatter.diagonal(), ddof, scaled, l2, normal.diagonal(), inverse, slopes, size)

    def without_each(self, away: Array, weights: Array) -> tuple[Array, Flags]:
        """The answer by all others to rows, given as seen from the mean, target last; and where it is sure."""
        X, y = away[:, :-1], away[:, -1]
        rest = np.maximum(self.sums.weight - weights, 1.0)
        factor = weights * self.sums.weight / rest
        pulled = X @ self.inverse
        left = 1 - factor * np.einsum("ij,ij->i", pulled, X)
        sure = (left >= MOST_LOST) & (self.sums.weight - weights - self.ddof.max(initial=0.0) >= 1)
        lost = factor[:, None] * X * X
        sure &= (lost <= MOST_LOST * self.scatter).all(axis=1)
        sure &= factor * y * y <= MOST_LOST * self.sums.scatter[-1, -1]
        change = self._changes(lost, rest)
        largest = (np.abs(change) / self.normal).max(axis=1, initial=0.0) * self.size / np.where(sure, left, 1.0)
        sure &= largest <= SMALL
        pull = factor / np.where(sure, left, 1.0)
        found = self._answers(X, y, pulled, pull, change, _terms(largest[sure].max(initial=0.0)))
        return self.sums.mean[-1] - weights / rest * y + (1 + weights / rest) * found, sure

    def _changes(self, lost: Array, rest: Array) -> Array:
        """How the penalty of each column changes when a row is left out."""
        before = self.scatter / (self.sums.weight - self.ddof)
        after = (self.scatter - lost) / np.maximum(rest[:, None] - self.ddof, 1.0)
        return np.where(self.scaled, self.l2 * (after - before), 0.0)

    def _answers(self, X: Array, y: Array, pulled: Array, pull: Array, change: Array, terms: int) -> Array:
        """What each plane says of the row that it has not seen, from the mean of all rows."""
        first = self.slopes - (pull * (y - X @ self.slopes))[:, None] * pulled
        slopes = first
        for _ in range(terms):
            bent = change * slopes
            slopes = first - bent @ self.inverse - (pull * np.einsum("ij,ij->i", pulled, bent))[:, None] * pulled
        return np.asarray(np.einsum("ij,ij->i", X, slopes))


def _terms(largest: float) -> int:
    """How many terms of the series it takes."""
    return ceil(log(DIGITS) / log(largest)) - 1 if largest > DIGITS else 0


def without_each(recipe: Recipe, columns: Array, weights: Array, sums: Sums, l2: float) -> tuple[Array, Flags]:
    """The answer to every row by all others, and for which rows that is sure; the recipe has no gaps."""
    answers, sure = np.zeros(len(columns)), np.zeros(len(columns), bool)
    ridge = Ridge.of(recipe, sums, l2)
    if ridge is None:
        return answers, sure
    kept = [*recipe.main, columns.shape[1] - 1]
    for rows in row_blocks(len(columns), len(kept)):
        away = columns[rows][:, kept] - sums.mean[kept]
        answers[rows], sure[rows] = ridge.without_each(away, weights[rows])
    return answers, sure
