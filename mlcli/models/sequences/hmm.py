"""Hidden Markov model: tags follow tags, each tag emits what is observed; the most probable tags are answered.

Formula:
    P(x, y) = Π P(y_i | y_{i-1}) P(x_i | y_i) for a bigram, with more tags in the condition for longer ones;
    ŷ = argmax over y of log P(x, y), found by Viterbi. Where probabilities of tags are asked for: P(y_i | x), the
    sum over all y with that tag, by forward-backward.
    With ``alpha``, P(y | h) = (count(h, y) + α) / (count(h) + α K) and P(x | y) = (count(x, y) + α) /
    (count(y) + α (V + 1)): K tags and V observations were met in training, and the one more is the unknown one.
    Numbers have a normal density of each column at each tag, with the mean and variance of its rows.

Assumes:
    A tag depends on the few tags before it, an observation on its own tag. Sequences are independent.

Cost:
    One pass to count; a round of Baum-Welch rows × K². To answer, rows × K^n for n-grams, with K tags.

Choices:
    Before the first row stands a start symbol, which the notes leave undefined in (120); ``stop`` adds a symbol
    for the end, which makes P a distribution over sequences of all lengths.
    Interpolation mixes the shares after histories of every length, by Brants' deleted interpolation; it smooths
    transitions only.
    ``unknown: once``: observations met once in training stand for those never met: their count of each tag counts
    once more, for the unknown ones. ``alpha``: unknown observations have α only. An empty cell counts as unknown.
    The most probable tags of a sequence are answered; they need not be the most probable tag of each row. A step
    of probability 0 is taken where there is no other way; a tag never met in training is not answered.
    ``labelled``: of so many of the training sequences, drawn, tags are looked at; of the others Baum-Welch finds
    what they most probably were, in rounds that raise the likelihood. At 0 it starts ``restarts`` times from drawn
    shares, keeps the likeliest end, and truth only names the states: those of most rows in common, one for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative, RowExplainer
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError
from mlcli.core.params import AnyBut, learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Flags, Rows, Table, empty_cells
from mlcli.engines.covariances import LOG_TAU
from mlcli.models.sequences._markov import (
    IMPOSSIBLE,
    NOTE,
    SMOOTHINGS,
    best_paths,
    count_ngrams,
    drawn_tags,
    free_transitions,
    how_smoothed,
    log_probabilities,
    logarithm,
    most_probable_tags,
    observations,
    observed_columns,
    tag_probabilities,
    transition_table,
    viterbi_table,
)
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger, lengths

# Baum-Welch: learning from sequences whose tags are partly or all hidden.


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
    # draw the sequences whose tags are used
    numbers, of_row = np.unique(data.sequence, return_inverse=True)
    chosen = rng.permutation(len(numbers))[: round(settings.labelled * len(numbers))]
    labelled_rows = np.asarray(np.isin(of_row, chosen))
    known, met = labelled_rows, data.class_totals > 0
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
    expected, path = baum_welch.best(
        [random_start(possible, settings.stop, rng) for _ in range(settings.restarts)]
    )
    return _named(expected, data.outputs), path


def _named(expected: Expected, outputs: Array) -> Expected:
    """States in the places of tags, so that most rows have theirs."""
    from scipy.optimize import linear_sum_assignment

    _, state = linear_sum_assignment(-(outputs.T @ expected.shares))
    symbols = np.append(state, len(state))
    return replace(expected, shares=expected.shares[:, state], counts=expected.counts[np.ix_(symbols, symbols)])


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
        return max(map(self.run, starts), key=lambda results: results[1][-1])


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
    # the weight of a row without a tag before the first round
    others = np.where(possible, prior, 0.0) * 0.1 / prior.sum()
    outcomes = np.append(possible.any(axis=0), stop)
    return Expected(np.where(known, shares, others), np.where(outcomes, counts + 1.0, 0.0), -np.inf)


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
    # of a column at a tag, as a share of its variance over all rows
    return means, np.maximum(variances, np.where(spread > 0, 1e-6 * spread, 1.0))


def log_normals(X: Array, means: Array, variances: Array) -> Array:
    """The logarithm of the density of each row at each tag; an empty cell adds nothing."""
    result = np.zeros((len(X), len(means)))
    for tag, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        of_cells = -0.5 * ((X - mean) ** 2 / variance + np.log(variance) + LOG_TAU)
        result[:, tag] = np.where(np.isfinite(X), of_cells, 0.0).sum(axis=1)
    return result


ORDERS = {"bigram": 2, "trigram": 3, "4-gram": 4, "5-gram": 5}
LONGEST = 10


@register("hmm", reference="Rabiner 1989, A tutorial on hidden Markov models; Brants 2000, TnT")
class HiddenMarkovModel(Tagger, CountsParameters, Generative, RowExplainer):
    """Counts tags after tags and observations with tags; answers by Viterbi."""

    order: str = param("bigram", "how far back a tag depends on tags", choices=ORDERS)
    smoothing: str = param("alpha", "how transitions that are rare are estimated", choices=SMOOTHINGS)
    alpha: float = param(0.1, "what is added to every count; 0 for plain shares", ge=0, tune=(0.001, 1.0))
    unknown: str = param("once", "what an observation that was never met counts as", choices=("once", "alpha"))
    stop: bool = param(False, "whether the end of a sequence is a symbol of its own")
    column: str | None = param(None, "the column that is observed; the first of levels, or all numbers")
    labelled: float = param(1.0, "the share of sequences whose tags are learned from", ge=0, le=1, if_given=True)
    restarts: int = param(
        5,
        "how often Baum-Welch starts where no tags are learned from",
        ge=1,
        if_given=True,
        matters_when={"labelled": 0},
    )
    rounds: int = param(
        100, "rounds of Baum-Welch at most", ge=1, if_given=True, matters_when={"labelled": AnyBut((1,))}
    )
    tolerance: float = param(
        1e-6,
        "the gain per row below which Baum-Welch ends",
        ge=0,
        if_given=True,
        matters_when={"labelled": AnyBut((1,))},
    )

    observed_: tuple[str, ...] = learned()
    levels_: tuple[str, ...] = learned()
    transitions_: Array = learned()
    emissions_: Array = learned()
    """Logarithms: levels and the unknown one × tags."""
    means_: Array = learned()
    variances_: Array = learned()
    """Of columns of numbers: tags × columns."""
    path_: Array = learned()
    """The log-likelihood of every round of Baum-Welch."""
    lengths_: Rows = learned()
    """How many rows each training sequence had, in ascending order."""

    accepts = Accepts(nominal=True, missing=True)
    """Levels or numbers, and empty cells; transitions have no weights."""

    def conflicts(self) -> list[str]:
        """Baum-Welch counts pairs of tags, and parts of them."""
        if self.labelled == 1 or (self.order, self.smoothing) == ("bigram", "alpha"):
            return []
        return ["labelled below 1 needs order bigram and smoothing alpha: Baum-Welch finds shares of pairs"]

    def fit(self, data: TaggedRows, rng: np.random.Generator) -> None:
        """Count transitions and emissions, of tags that are known or of their most probable shares."""
        columns = observed_columns(data.table, self.column, self.name)
        self.observed_ = tuple(column.name for column in columns)
        self.levels_ = columns[0].levels if columns[0].coded else ()
        # the largest table of n-grams
        if (histories := (len(data.classes) + 1) ** ORDERS[self.order]) > 5_000_000:
            hint = f"a shorter order than {self.order} would do"
            raise FitError(f"hmm: {len(data.classes)} tags have {histories:,} n-grams", hint=hint)
        self.lengths_ = np.sort(lengths(data.sequence)[1])
        shares, ngrams = self._counted(data, rng)
        X, codes = self._observed(data.table)
        counts = counts_of_levels(codes, shares * data.weights[:, None], len(self.levels_))
        self.transitions_ = logarithm(SMOOTHINGS[self.smoothing](ngrams, self.alpha))
        self.emissions_ = logarithm(self._emission_shares(counts))
        self.means_, self.variances_ = normals(X, shares)

    def _counted(self, data: TaggedRows, rng: np.random.Generator) -> tuple[Array, Array]:
        """The shares of tags at rows, and how often tags follow tags."""
        self.path_ = np.zeros(0)
        if self.labelled == 1:
            ngrams = count_ngrams(data.y, data.sequence, len(data.classes), ORDERS[self.order], self.stop)
            return data.outputs, ngrams
        settings = BaumWelchSettings(self.labelled, self.restarts, self.rounds, self.tolerance, self.stop)
        found, path = hidden_counts(data, *self._observed(data.table), len(self.levels_), settings, rng)
        self.path_ = np.array(path)
        return found.shares, found.counts

    def _observed(self, table: Table) -> tuple[Array, Codes]:
        """The numbers that are observed, and the level of each row: one of both."""
        if self.levels_:
            return np.zeros((len(table), 0)), observations(table, self.observed_[0])
        return table.select(self.observed_).numbers, np.full(len(table), -1, np.int32)

    def _emission_shares(self, counts: Array) -> Array:
        """P(level | tag), the last row being any unknown observation; a tag never met has none."""
        if not self.levels_:
            return np.ones((1, counts.shape[1]))
        times = counts.sum(axis=1)
        once = counts[np.isclose(times, 1)].sum(axis=0) if self.unknown == "once" else np.zeros(counts.shape[1])
        unknown = once + self.alpha
        totals = counts.sum(axis=0) + self.alpha * (times > 0).sum() + unknown
        rows = np.vstack([np.where((times > 0)[:, None], counts + self.alpha, unknown), unknown])
        shares: Array = np.divide(rows, totals, out=np.zeros_like(rows), where=totals > 0)
        return shares

    def emitted(self, table: Table) -> Array:
        """Log P(what is observed | tag) at each row; -1 looks up the row of unknown observations."""
        X, codes = self._observed(table)
        return np.asarray(self.emissions_[codes] + log_normals(X, self.means_, self.variances_))

    def tag(self, table: Table, sequence: Codes) -> Codes:
        """The most probable tags of each sequence."""
        return most_probable_tags(self.emitted(table), self.transitions_, sequence, self.stop)

    def tag_shares(self, table: Table, sequence: Codes) -> Array:
        """The probability of each tag at each row, given all observations of its sequence."""
        return tag_probabilities(self.emitted(table), self.transitions_, sequence, self.stop)

    def log_probability(self, table: Table, sequence: Codes) -> Array:
        """Log p(x) of each sequence."""
        return log_probabilities(self.emitted(table), self.transitions_, sequence, self.stop)

    def log_joint(self, table: Table, sequence: Codes, tags: Codes) -> float:
        """The logarithm of P(x, y) of some sequences and their tags, by the sum that Viterbi maximises."""
        emitted = self.emitted(table)[np.arange(len(tags)), tags].sum()
        ngrams = count_ngrams(tags, sequence, len(self.classes_), self.transitions_.ndim, self.stop)
        return float(emitted + (ngrams * self.transitions_).sum())

    def log_evidence_of(self, table: Table, sequence: Codes, tags: Codes) -> Array:
        """The logarithm of P(x), the sum over all tags, of the sequence of each row."""
        return np.repeat(self.log_probability(table, sequence), lengths(sequence)[1])

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Tags after tags, and an observation for each; an unknown observation is an empty cell.

        Without ``stop`` lengths are those of training sequences; with it, at most ten times the longest.
        """
        longest = np.full(n, LONGEST * self.lengths_[-1])
        tags = drawn_tags(
            self.transitions_, longest if self.stop else rng.choice(self.lengths_, n), self.stop, rng
        )
        y = np.concatenate(tags)
        drawn = self._drawn_levels(y, rng) if self.levels_ else self._drawn_numbers(y, rng)
        columns = [(column, drawn.get(column.name, empty_cells(column, len(y)))) for column in self.columns_]
        sequence = np.repeat(np.arange(n), [len(tag) for tag in tags])
        target = Column(self.target_, "nominal", self.classes_)
        return Table.of([(Column("sequence"), sequence), *columns, (target, y)], len(y))

    def _drawn_levels(self, y: Codes, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        up_to = np.cumsum(np.exp(self.emissions_), axis=0)[:, y]
        codes = (rng.random(len(y)) * up_to[-1] >= up_to[:-1]).sum(axis=0).astype(np.int32)
        codes[codes == len(self.levels_)] = MISSING_CODE
        return {self.observed_[0]: codes}

    def _drawn_numbers(self, y: Codes, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        X = self.means_[y] + rng.standard_normal((len(y), len(self.observed_))) * np.sqrt(self.variances_[y])
        return dict(zip(self.observed_, X.T, strict=True))

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The table of Viterbi for one sequence, and log p(x)."""
        sequence = np.zeros(len(table), np.int32)
        tags, best = self.tag(table, sequence), best_paths(self.emitted(table), self.transitions_)
        likely = self.log_probability(table, sequence)
        note = f"{NOTE} log p(x) = {likely[0]:.6g}." if len(likely) else NOTE
        seen = table.select(self.observed_)
        return (viterbi_table(seen, best, tags, self.classes_, self.target_, note),)

    def adjustable_parameters(self, table: Table) -> float | None:
        """Transitions, then emissions: of levels and the unknown one all but one, of numbers mean and variance."""
        of_tag = len(self.levels_) if self.levels_ else 2 * len(self.observed_)
        transitions = free_transitions(len(self.classes_), ORDERS[self.order], self.stop)
        return float(transitions + len(self.classes_) * of_tag)

    def check_learned(self) -> None:
        """Tables whose shapes fit the tags, levels and columns, without gaps."""
        tags, numbers = len(self.classes_), 0 if self.levels_ else len(self.observed_)
        shapes = ((tags + 1,) * ORDERS[self.order], (len(self.levels_) + 1, tags), *((tags, numbers),) * 2)
        arrays = (self.transitions_, self.emissions_, self.means_, self.variances_)
        if tuple(array.shape for array in arrays) != shapes:
            raise ValueError("tables that do not fit the tags and levels")
        if not all(np.isfinite(array).all() for array in arrays) or (self.variances_ <= 0).any():
            raise ValueError("probabilities that are no numbers")

    def explain(self) -> findings.Explanation:
        """The tags that follow each history, what each tag emits most often, and the rounds of Baum-Welch."""
        emitted = self._emission_table() if self.levels_ else self._normal_table()
        how = how_smoothed(self.alpha, smoothing=self.smoothing)
        follows = transition_table(self.transitions_, self.classes_, self.stop, how)
        if not len(self.path_):
            return (follows, emitted)
        rounds = tuple(float(number) for number in range(1, len(self.path_) + 1))
        line = ("log-likelihood", tuple(self.path_.tolist()))
        return (
            follows,
            emitted,
            findings.Curve("Log-likelihood by iteration of Baum-Welch", "iteration", rounds, (line,)),
        )

    def _emission_table(self) -> findings.Table:
        shares = np.exp(self.emissions_[:-1])
        # the most typical observations of each tag
        typical = np.argsort(-shares, axis=0, kind="stable")[:5].T
        rows = tuple(
            (tag, ", ".join(f"{self.levels_[level]} {shares[level, code]:.3f}" for level in levels))
            for code, (tag, levels) in enumerate(zip(self.classes_, typical, strict=True))
        )
        once = " Levels met once count for those never met, too (unknown)." if self.unknown == "once" else ""
        title, note = (
            f"Emission probabilities of {self.observed_[0]}, the largest of each tag",
            how_smoothed(self.alpha, "level"),
        )
        return findings.Table(title, ("tag", "most probable"), rows, note=note + once)

    def _normal_table(self) -> findings.Table:
        deviations = np.sqrt(self.variances_)
        rows = tuple(
            (tag, column, float(self.means_[code, index]), float(deviations[code, index]))
            for code, tag in enumerate(self.classes_)
            for index, column in enumerate(self.observed_)
        )
        return findings.Table("Emission densities", ("tag", "column", "mean", "standard deviation"), rows)
