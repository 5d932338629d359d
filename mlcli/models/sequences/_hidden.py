"""How a hidden Markov model learns from sequences of which not all have tags: which are hidden, and from where."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.tables import Array, Codes, Flags
from mlcli.engines.baum_welch import Climb, Expected, random_start, start_from
from mlcli.engines.emissions import counts_of_levels, log_normals, normals, shares_of_levels
from mlcli.engines.sequences import logarithm
from mlcli.models.sequences._counts import count_ngrams
from mlcli.tasks.sequence_labelling import TaggedRows


@dataclass(frozen=True)
class Learning:
    """The settings of Baum-Welch."""

    labelled: float
    restarts: int
    rounds: int
    tolerance: float
    stop: bool


def hidden_counts(
    data: TaggedRows, X: Array, codes: Codes, levels: int, learning: Learning, rng: np.random.Generator
) -> tuple[Expected, list[float]]:
    """Shares of tags at rows and counts of pairs, and the log-likelihood of each round."""
    known, met = _labelled_rows(data, learning.labelled, rng), data.class_totals > 0
    possible = np.where(known[:, None], data.outputs > 0, met)

    def emit(shares: Array) -> Array:
        of_levels = logarithm(shares_of_levels(counts_of_levels(codes, shares, levels)))
        return np.asarray(of_levels[codes] + log_normals(X, *normals(X, shares)))

    climb = Climb(data.sequence, possible, emit, learning.stop, learning.rounds, learning.tolerance)
    if known.any():
        there = data.take(np.flatnonzero(known))
        counts = count_ngrams(there.y, there.sequence, len(met), 2, learning.stop)
        shares = np.where(known[:, None], data.outputs, 0.0)
        return climb.climb(start_from(shares, counts, possible, learning.stop))
    found, path = climb.best([random_start(possible, learning.stop, rng) for _ in range(learning.restarts)])
    return _named(found, data.outputs), path


def _labelled_rows(data: TaggedRows, share: float, rng: np.random.Generator) -> Flags:
    """The rows of the sequences whose tags are looked at, which are drawn."""
    numbers, of_row = np.unique(data.sequence, return_inverse=True)
    chosen = rng.permutation(len(numbers))[: round(share * len(numbers))]
    return np.asarray(np.isin(of_row, chosen))


def _named(found: Expected, outputs: Array) -> Expected:
    """States in the places of tags, so that most rows have theirs."""
    from scipy.optimize import linear_sum_assignment

    _, state = linear_sum_assignment(-(outputs.T @ found.shares))
    symbols = np.append(state, len(state))
    return replace(found, shares=found.shares[:, state], counts=found.counts[np.ix_(symbols, symbols)])
