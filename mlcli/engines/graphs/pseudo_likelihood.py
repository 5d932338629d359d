"""Pairwise potentials learned from rows: each cell is predicted from its neighbours, all at once (Besag 1975)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.linear_objective import Iterate, complaint
from mlcli.engines.solvers.lbfgs import lbfgs

MOST_STEPS = 1000
FLAT = 1e-7
"""How small every entry of the gradient must be."""


@dataclass(frozen=True, eq=False)
class PseudoLikelihood:
    """−Σ over rows and known cells of log P(cell | the other cells), plus ½ l2 of all squared log-potentials.

    A level of a variable is an entry; ``joined`` (entries × entries) says which two may have a potential. An empty
    cell has no term, and says nothing to its neighbours.
    """

    indicators: Array
    """Entries × rows."""
    known: Array
    """1 for entries of variables that are known in a row, else 0, times the weight of the row."""
    owner: Rows
    """The variable of each entry."""
    joined: Flags
    l2: float

    @classmethod
    def of(cls, codes: Codes, levels: Sequence[int], edges: Flags, weights: Array, l2: float) -> PseudoLikelihood:
        """The objective of rows of codes; -1 is unknown."""
        owner = np.repeat(np.arange(len(levels)), levels)
        level = np.concatenate([np.arange(count) for count in levels])
        cells = codes.T[owner]
        indicators = (cells == level[:, None]).astype(np.float64)
        return cls(indicators, (cells >= 0) * weights, owner, edges[np.ix_(owner, owner)], l2)

    def learned(self) -> tuple[Array, Array]:
        """The log-potentials of entries, and of pairs of them (symmetric), where the objective is least."""
        found = lbfgs(self, np.zeros(self._size + len(self._upper[0])), FLAT, MOST_STEPS)
        if said := complaint([found], FLAT):
            warnings.warn(f"pseudo-likelihood: {said}", MlcliWarning, stacklevel=3)
        return self._split(found.at.w)

    def at(self, w: Array) -> Iterate:
        """The objective near log-potentials: those of entries, then those of pairs."""
        alone, pairs = self._split(w)
        value, slope_alone, slope_pairs = self.loss(alone, pairs)
        slope = np.concatenate([slope_alone, slope_pairs[self._upper]]) + self.l2 * w
        return Iterate(w, value + 0.5 * self.l2 * float(w @ w), slope, w, float(np.abs(slope).max()))

    def own_curvatures(self) -> Array:
        """At even chances a cell bends by at most a quarter; one of a pair counts where the other is there."""
        crossed = self.indicators @ self.known.T
        pairs = (crossed + crossed.T)[self._upper]
        return self.l2 + 0.25 * np.concatenate([self.known.sum(axis=1), pairs])

    @property
    def _size(self) -> int:
        return len(self.indicators)

    @cached_property
    def _starts(self) -> Rows:
        """Where the entries of each variable begin."""
        return np.flatnonzero(np.diff(self.owner, prepend=-1))

    @cached_property
    def _upper(self) -> tuple[Rows, ...]:
        return np.nonzero(np.triu(self.joined))

    def _split(self, w: Array) -> tuple[Array, Array]:
        """The free numbers as potentials of entries and of pairs."""
        pairs = np.zeros((self._size, self._size))
        pairs[self._upper] = w[self._size :]
        return w[: self._size], pairs + pairs.T

    def loss(self, alone: Array, pairs: Array) -> tuple[float, Array, Array]:
        """The negative pseudo-log-likelihood and its slopes."""
        scores = alone[:, None] + pairs @ self.indicators
        scores -= np.maximum.reduceat(scores, self._starts)[self.owner]
        chances = np.exp(scores)
        totals = np.add.reduceat(chances, self._starts)
        there = self.known * self.indicators
        value = float(np.vdot(there, np.log(totals)[self.owner]) - np.vdot(there, scores))
        errors = self.known * chances / totals[self.owner] - there
        crossed = errors @ self.indicators.T
        return value, errors.sum(axis=1), crossed + crossed.T
