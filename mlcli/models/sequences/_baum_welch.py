"""How a hidden Markov model learns from sequences of which not all have tags: which are hidden, and from where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mlcli.core.tables import Array, Codes, Flags
from mlcli.engines.covariances import LOG_TAU
from mlcli.engines.hidden_markov import IMPOSSIBLE, logarithm
from mlcli.models.sequences._ngrams import count_ngrams
from mlcli.tasks.sequence_labelling import TaggedRows, lengths


@dataclass(frozen=True)
class BaumWelchSettings:
    """The settings of Baum-Welch."""

    labelled: float
    restarts: int
    rounds: int
    tolerance: float
    stop: bool


def hidden_counts(
    data: TaggedRows, X: Array, codes: Codes, levels: int, settings: BaumWelchSettings, rng: np.random.Generator
) -> tuple[Expected, list[float]]:
    """Shares of tags at rows and counts of pairs, and the log-likelihood of each round."""
    known, met = _labelled_rows(data, settings.labelled, rng), data.class_totals > 0
    possible = np.where(known[:, None], data.outputs > 0, met)

    def emit(shares: Array) -> Array:
        of_levels = logarithm(shares_of_levels(counts_of_levels(codes, shares, levels)))
        return np.asarray(of_levels[codes] + log_normals(X, *normals(X, shares)))

    baum_welch = BaumWelch(data.sequence, possible, emit, settings.stop, settings.rounds, settings.tolerance)
    if known.any():
        there = data.take(np.flatnonzero(known))
        counts = count_ngrams(there.y, there.sequence, len(met), 2, settings.stop)
        shares = np.where(known[:, None], data.outputs, 0.0)
        return baum_welch.run(start_from(shares, counts, possible, settings.stop))
    found, path = baum_welch.best([random_start(possible, settings.stop, rng) for _ in range(settings.restarts)])
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
    from mlcli.kernels.linear_chain import expect_chains

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
class BaumWelch:
    """Rounds of expectation and maximisation."""

    sequence: Codes
    possible: Flags
    """Which tags a row may have (rows × tags): of a row whose tag is known, one."""
    emit: Emit
    stop: bool
    rounds: int
    tolerance: float
    """The gain in log-likelihood per row below which they end."""

    def run(self, start: Expected) -> tuple[Expected, list[float]]:
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
        """The likeliest end of several starts."""
        return max(map(self.run, starts), key=lambda found: found[1][-1])


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


LEAST_VARIANCE = 1e-6
"""Of a column at a tag, as a share of its variance over all rows."""


def counts_of_levels(codes: Codes, shares: Array, levels: int) -> Array:
    """How often each level goes with each tag (levels × tags), by the shares of tags at rows, but for gaps."""
    known = codes >= 0
    counts = [np.bincount(codes[known], weights=of_tag[known], minlength=levels) for of_tag in shares.T]
    return np.asarray(np.array(counts).T, dtype=np.float64).reshape(levels, shares.shape[1])


def shares_of_levels(counts: Array) -> Array:
    """P(level | tag), and after the levels 1 for a gap, of which nothing is known."""
    totals = counts.sum(axis=0)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    return np.vstack([shares, np.ones(counts.shape[1])])


def normals(X: Array, shares: Array) -> tuple[Array, Array]:
    """The mean and variance of each column at each tag (tags × columns), by the shares of tags at rows.

    A tag without rows has those of all rows together.
    """
    known = np.isfinite(X)
    cells = np.where(known, X, 0.0)
    weight, total = shares.T @ known, np.maximum(known.sum(axis=0), 1)
    overall = cells.sum(axis=0) / total
    spread = (np.where(known, X - overall, 0.0) ** 2).sum(axis=0) / total
    there = weight > 0
    held = np.where(there, weight, 1.0)
    means = np.where(there, overall + (shares.T @ np.where(known, X - overall, 0.0)) / held, overall)
    squares = [of_tag @ np.where(known, X - mean, 0.0) ** 2 for of_tag, mean in zip(shares.T, means, strict=True)]
    variances = np.where(there, np.reshape(squares, means.shape) / held, spread)
    return means, np.maximum(variances, np.where(spread > 0, LEAST_VARIANCE * spread, 1.0))


def log_normals(X: Array, means: Array, variances: Array) -> Array:
    """The logarithm of the density of each row at each tag; an empty cell adds nothing."""
    found = np.zeros((len(X), len(means)))
    for tag, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        of_cells = -0.5 * ((X - mean) ** 2 / variance + np.log(variance) + LOG_TAU)
        found[:, tag] = np.where(np.isfinite(X), of_cells, 0.0).sum(axis=1)
    return found
