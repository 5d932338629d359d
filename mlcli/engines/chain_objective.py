"""What log-linear models of sequences minimise: −log P(tags | rows), by weights of features and of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.linear_objective import Point
from mlcli.engines.sequence_features import RowFeatures
from mlcli.kernels.sequences.linear_chain import add_by_feature, expect_chains, expect_steps, score_rows
from mlcli.tasks.sequence_labelling import lengths

Expect = Callable[[Array, Array, Rows, Codes, Array, Array], float]
"""From scores of rows, of pairs, first rows and tags: normalisers, with shares and pairs as they are expected."""


def over_sequences(scores: Array, follows: Array, starts: Rows, tags: Codes, shares: Array, pairs: Array) -> float:
    """Tags of whole sequences are normalised together."""
    return float(expect_chains(scores, follows, starts, shares, pairs))


def over_steps(scores: Array, follows: Array, starts: Rows, tags: Codes, shares: Array, pairs: Array) -> float:
    """Each tag is normalised by itself, after the true one before it."""
    return float(expect_steps(scores, follows, starts, tags, shares, pairs))


@dataclass(frozen=True, eq=False)
class ChainObjective:
    """−Σ log P(tags | rows) + l2 / 2 ‖w‖², w being the weights of features, then of pairs, in one line."""

    rows: RowFeatures
    features: int
    tags: Codes
    sequence: Codes
    count: int
    """How many tags there are."""
    l2: float
    expect: Expect

    @cached_property
    def starts(self) -> Rows:
        """The first row of each sequence, and the number of rows."""
        return np.append(lengths(self.sequence)[0], len(self.tags))

    @cached_property
    def true_pairs(self) -> Array:
        """How often each tag follows each."""
        pairs = np.zeros((self.count, self.count))
        inner = np.flatnonzero(self.sequence[1:] == self.sequence[:-1])
        np.add.at(pairs, (self.tags[inner], self.tags[inner + 1]), 1.0)
        return pairs

    def parted(self, w: Array) -> tuple[Array, Array]:
        """The weights of features (× tags), and of pairs of tags."""
        cut = self.features * self.count
        return w[:cut].reshape(self.features, self.count), w[cut:].reshape(self.count, self.count)

    def at(self, w: Array) -> Point:
        """The objective and its gradient at some weights."""
        weights, follows = self.parted(w)
        rows, numbers = self.rows, np.arange(len(self.tags))
        scores, shares = np.empty((len(numbers), self.count)), np.empty((len(numbers), self.count))
        score_rows(rows.begins, rows.features, rows.values, weights, scores)
        slope = np.zeros_like(w)
        by_feature, by_pair = self.parted(slope)
        normaliser = self.expect(scores, follows, self.starts, self.tags, shares, by_pair)
        if not np.isfinite(normaliser):
            return Point(w, np.inf, slope, scores, np.inf)
        value = normaliser - scores[numbers, self.tags].sum() - float(np.vdot(self.true_pairs, follows))
        shares[numbers, self.tags] -= 1.0
        add_by_feature(rows.begins, rows.features, rows.values, shares, by_feature)
        by_pair -= self.true_pairs
        slope += self.l2 * w
        steepness = float(np.abs(slope).max(initial=0.0))
        return Point(w, float(value) + self.l2 / 2 * float(w @ w), slope, scores, steepness)

    def own_bends(self) -> Array:
        """Alike: what rare features bend by themselves would mislead, as the others of their rows share it."""
        return np.ones((self.features + self.count) * self.count)
