"""Pairwise potentials learned from rows: each cell is predicted from its neighbours, all at once (Besag 1975)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Flags

MOST_STEPS = 1000
FLAT = 1e-7
"""How small every entry of the gradient must be, beside the weight of all rows."""


@dataclass(frozen=True, eq=False)
class PseudoLikelihood:
    """−Σ over rows and known cells of log P(cell | the other cells), plus ½ l2 of all squared log-potentials.

    A level of a variable is an entry; ``joined`` (entries × entries) says which two may have a potential. An empty
    cell has no term, and says nothing to its neighbours.
    """

    indicators: Array
    """Rows × entries."""
    known: Array
    """1 for entries of variables that are known in a row, else 0, times the weight of the row."""
    starts: tuple[int, ...]
    """Where the entries of each variable begin."""
    joined: Flags
    l2: float

    @classmethod
    def of(cls, codes: Codes, levels: Sequence[int], edges: Flags, weights: Array, l2: float) -> PseudoLikelihood:
        """The objective of rows of codes; -1 is unknown."""
        owner = np.repeat(np.arange(len(levels)), levels)
        level = np.concatenate([np.arange(count) for count in levels])
        indicators = (codes[:, owner] == level).astype(np.float64)
        known = (codes[:, owner] >= 0) * weights[:, None]
        starts = tuple(np.cumsum([0, *levels[:-1]]).tolist())
        return cls(indicators, known, starts, edges[np.ix_(owner, owner)], l2)

    def learned(self) -> tuple[Array, Array]:
        """The log-potentials of entries, and of pairs of them (symmetric), where the objective is least."""
        from scipy.optimize import minimize

        upper = np.nonzero(np.triu(self.joined))
        size = self.indicators.shape[1]

        def objective(free: Array) -> tuple[float, Array]:
            value, slope_alone, slope_pairs = self.at(*_split(free, size, upper))
            total = value + 0.5 * self.l2 * float(free @ free)
            return total, np.concatenate([slope_alone, slope_pairs[upper]]) + self.l2 * free

        flat = FLAT * max(1.0, float(self.known.max(initial=0.0)))
        options = {"maxiter": MOST_STEPS, "maxfun": 2 * MOST_STEPS, "ftol": 0.0, "gtol": flat}
        start = np.zeros(size + len(upper[0]))
        return _split(minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x, size, upper)

    def at(self, alone: Array, pairs: Array) -> tuple[float, Array, Array]:
        """The negative pseudo-log-likelihood and its slopes."""
        scores = alone + self.indicators @ pairs
        top = np.maximum.reduceat(scores, self.starts, axis=1)
        counts = np.diff([*self.starts, scores.shape[1]])
        scores -= np.repeat(top, counts, axis=1)
        chances = np.exp(scores)
        totals = np.repeat(np.add.reduceat(chances, self.starts, axis=1), counts, axis=1)
        value = -float((self.known * self.indicators * (scores - np.log(totals))).sum())
        errors = self.known * (chances / totals - self.indicators)
        crossed = self.indicators.T @ errors
        return value, errors.sum(axis=0), crossed + crossed.T


def _split(free: Array, size: int, upper: tuple[Array, ...]) -> tuple[Array, Array]:
    """The free numbers as potentials of entries and of pairs."""
    pairs = np.zeros((size, size))
    pairs[upper] = free[size:]
    return free[:size], pairs + pairs.T
