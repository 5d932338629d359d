"""Baum-Welch: hidden Markov chains learned from rows whose tags are not known, or not all (Baum et al. 1970)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Flags
from mlcli.engines.sequences import IMPOSSIBLE, logarithm
from mlcli.kernels.sequences.linear_chain import expect_chains
from mlcli.tasks.sequence_labelling import lengths

LITTLE = 0.1
"""What a row without a tag counts beside one with it, before the first round."""
Emit = Callable[[Array], Array]
"""From the shares of tags at rows (rows × tags), the logarithm of what each tag then emits there."""


@dataclass(frozen=True, eq=False)
class Expected:
    """What the rows say of their tags, by transitions and emissions that are given."""

    shares: Array
    """Of each tag at each row."""
    counts: Array
    """How often each tag (or the end) follows each (or the start): tags and boundary, squared."""
    log_likelihood: float


def expected(emitted: Array, transitions: Array, sequence: Codes, stop: bool) -> Expected:
    """E-step: forward-backward; what is given are logarithms."""
    starts, sizes = lengths(sequence)
    ends, tags = starts + sizes - 1, emitted.shape[1]
    scores = emitted.copy()
    scores[starts] += transitions[tags, :tags]
    scores[ends] += transitions[:tags, tags] if stop else 0.0
    shares, counts, pairs = np.zeros_like(scores), np.zeros_like(transitions), np.zeros((tags, tags))
    first_rows = np.append(starts, len(scores))
    follows = np.ascontiguousarray(transitions[:tags, :tags])
    likelihood = expect_chains(scores, follows, first_rows, shares, pairs)
    counts[:tags, :tags], counts[tags, :tags] = pairs, shares[starts].sum(axis=0)
    counts[:tags, tags] = shares[ends].sum(axis=0) if stop else 0.0
    return Expected(shares, counts, float(likelihood))


@dataclass(frozen=True, eq=False)
class Climb:
    """Rounds of expectation and maximisation."""

    sequence: Codes
    possible: Flags
    """Which tags a row may have (rows × tags): of a row whose tag is known, one."""
    emit: Emit
    stop: bool
    rounds: int
    tolerance: float
    """The gain in log-likelihood per row below which they end."""

    def climb(self, start: Expected) -> tuple[Expected, list[float]]:
        """From shares and counts to where the likelihood rises no more; the likelihood of every round."""
        now, path = start, list[float]()
        for _ in range(self.rounds):
            forbidden = np.where(self.possible, 0.0, IMPOSSIBLE)
            emitted = np.maximum(self.emit(now.shares) + forbidden, IMPOSSIBLE)
            now = expected(emitted, logarithm(shares_after(now.counts)), self.sequence, self.stop)
            path.append(now.log_likelihood)
            if len(path) > 1 and path[-1] - path[-2] < self.tolerance * len(self.sequence):
                break
        return now, path

    def best(self, starts: list[Expected]) -> tuple[Expected, list[float]]:
        """The likeliest of several climbs."""
        return max(map(self.climb, starts), key=lambda found: found[1][-1])


def shares_after(counts: Array) -> Array:
    """P(tag | the tag before), without smoothing."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0))


def random_start(possible: Flags, stop: bool, rng: np.random.Generator) -> Expected:
    """Shares that are drawn, with the tag where it is known; all transitions are possible."""
    shares = np.where(possible, rng.gamma(1.0, size=possible.shape), 0.0)
    outcomes = np.append(possible.any(axis=0), stop)
    counts = rng.gamma(1.0, size=(len(outcomes), len(outcomes))) * outcomes
    return Expected(shares / shares.sum(axis=1, keepdims=True), counts, -np.inf)


def start_from(shares: Array, counts: Array, possible: Flags, stop: bool) -> Expected:
    """From rows whose tag is known, and their transitions; the others count little, as these do on average."""
    known = shares.sum(axis=1, keepdims=True) > 0
    prior = shares.sum(axis=0) + possible.any(axis=0)
    others = np.where(possible, prior, 0.0) * LITTLE / prior.sum()
    outcomes = np.append(possible.any(axis=0), stop)
    return Expected(np.where(known, shares, others), np.where(outcomes, counts + 1.0, 0.0), -np.inf)
