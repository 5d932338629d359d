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
    One pass to count; a round of Baum-Welch takes rows × K². To predict, rows × K^n for n-grams, with K tags.

Choices:
    Before the first row stands a start symbol, which the notes leave undefined in (120); ``stop`` adds a symbol
    for the end, which makes P a distribution over sequences of all lengths. Interpolation mixes the shares after
    histories of every length, by Brants' deleted interpolation; it smooths transitions only. ``unknown: once``:
    observations met once in training stand for those never met: their counts with each tag also count for
    unknown observations. ``alpha``: unknown observations have α only. An empty cell counts as unknown. The most
    probable tags of a sequence are predicted; they need not be the most probable tag of each row. A step of
    probability 0 is taken if there is no other way; a tag never met in training is not predicted. ``labelled``:
    the tags of this share of the training sequences, drawn at random, are used; for the others Baum-Welch
    estimates them, in rounds that raise the likelihood. At 0 it starts ``restarts`` times from random shares and
    keeps the likeliest end; true tags only name the states, so that most rows have their true tag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative, RowExplainer
from mlcli.core.errors import FitError
from mlcli.core.params import AnyBut, learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Flags, Rows, Table, empty_cells
from mlcli.engines.covariances import LOG_TAU
from mlcli.models.sequences._markov import (
    IMPOSSIBLE,
    SMOOTHINGS,
    best_paths,
    count_ngrams,
    counts_of_levels,
    draw_tags,
    free_transitions,
    log_probabilities,
    logarithm,
    most_probable_tags,
    observed_columns,
    smoothing_note,
    tag_probabilities,
    transition_table,
    viterbi_table,
)
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger, lengths

ORDERS = {"bigram": 2, "trigram": 3, "4-gram": 4, "5-gram": 5}


@register("hmm", reference="Rabiner 1989, A tutorial on hidden Markov models; Brants 2000, TnT")
class HiddenMarkovModel(Tagger, CountsParameters, Generative, RowExplainer):
    """Counts tags after tags and observations with tags; answers by Viterbi."""

    order: str = param("bigram", "number of consecutive tags that are counted", choices=ORDERS)
    smoothing: str = param("alpha", "how probabilities of rare transitions are estimated", choices=SMOOTHINGS)
    alpha: float = param(0.1, "added to every count; 0 for relative frequencies", ge=0, tune=(0.001, 1.0))
    unknown: str = param("once", "how an unknown observation is treated", choices=("once", "alpha"))
    stop: bool = param(False, "whether the end of a sequence counts as a symbol")
    column: str | None = param(None, "observed column; by default the first with levels, or all numbers")
    labelled: float = param(1.0, "share of training sequences whose tags are used", ge=0, le=1, if_given=True)
    restarts: int = param(
        5,
        "number of random starts of Baum-Welch if no tags are used",
        ge=1,
        if_given=True,
        matters_when={"labelled": 0},
    )
    rounds: int = param(
        100, "maximum number of rounds of Baum-Welch", ge=1, if_given=True, matters_when={"labelled": AnyBut((1,))}
    )
    tolerance: float = param(
        1e-6,
        "Baum-Welch ends when the log-likelihood per row rises by less",
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
    """Means and variances of columns of numbers: tags × columns."""
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
        """Count transitions and emissions, of known tags or of the shares that Baum-Welch finds."""
        columns = observed_columns(data.table, self.column, self.name, numbers=True)
        self.observed_ = tuple(column.name for column in columns)
        self.levels_ = columns[0].levels if columns[0].coded else ()
        tags = len(data.classes)
        if (histories := (tags + 1) ** ORDERS[self.order]) > 5_000_000:  # the largest table of n-grams
            hint = f"a shorter order than {self.order} would do"
            raise FitError(f"hmm: {tags} tags have {histories:,} n-grams", hint=hint)
        self.lengths_ = np.sort(lengths(data.sequence)[1])
        X, codes = self._observations(data.table)
        if self.labelled == 1:
            shares, self.path_ = data.outputs, np.zeros(0)
            ngrams = count_ngrams(data.y, data.sequence, tags, ORDERS[self.order], self.stop)
        else:
            hidden, path = self._learn_hidden_tags(data, X, codes, rng)
            shares, ngrams, self.path_ = hidden.shares, hidden.counts, np.array(path)
        level_counts = counts_of_levels(codes, shares * data.weights[:, None], len(self.levels_))
        self.transitions_ = logarithm(SMOOTHINGS[self.smoothing](ngrams, self.alpha))
        self.emissions_ = logarithm(self._emission_shares(level_counts))
        self.means_, self.variances_ = normals(X, shares)

    def _observations(self, table: Table) -> tuple[Array, Codes]:
        """The observed numbers, or no columns of them; the level of each row, or -1 if numbers are observed."""
        if self.levels_:
            return np.zeros((len(table), 0)), table.cells(self.observed_[0]).astype(np.int32)
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

    def _learn_hidden_tags(
        self, data: TaggedRows, X: Array, codes: Codes, rng: np.random.Generator
    ) -> tuple[Expected, list[float]]:
        """Baum-Welch from the tags of some sequences, or else from several random starts."""
        from scipy.optimize import linear_sum_assignment

        names, sequence_of_row = np.unique(data.sequence, return_inverse=True)
        labelled_sequences = rng.permutation(len(names))[: round(self.labelled * len(names))]
        labelled = np.asarray(np.isin(sequence_of_row, labelled_sequences))
        possible = np.where(labelled[:, None], data.outputs > 0, data.class_totals > 0)

        def emit(shares: Array) -> Array:
            of_levels = logarithm(shares_of_levels(counts_of_levels(codes, shares, len(self.levels_))))
            return np.asarray(of_levels[codes] + log_normals(X, *normals(X, shares)))

        def climb(start: Expected) -> tuple[Expected, list[float]]:
            return baum_welch(start, emit, possible, data.sequence, self.stop, self.rounds, self.tolerance)

        if labelled.any():
            rows = data.take(np.flatnonzero(labelled))
            counts = count_ngrams(rows.y, rows.sequence, len(data.classes), 2, self.stop)
            shares = np.where(labelled[:, None], data.outputs, 0.0)
            return climb(start_from(shares, counts, possible, self.stop))
        ends = [climb(random_start(possible, self.stop, rng)) for _ in range(self.restarts)]
        best, path = max(ends, key=lambda end: end[1][-1])
        # Each state gets the name of one tag, so that most rows have their true tag.
        _, states = linear_sum_assignment(-(data.outputs.T @ best.shares))
        symbols = np.append(states, len(states))
        return Expected(best.shares[:, states], best.counts[np.ix_(symbols, symbols)], best.log_likelihood), path

    def emitted(self, table: Table) -> Array:
        """Log P(observation | tag) at each row; -1 looks up the row of unknown observations."""
        X, codes = self._observations(table)
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
        """Log P(x, y) of sequences with their tags: the sum that Viterbi maximises."""
        emitted = self.emitted(table)[np.arange(len(tags)), tags].sum()
        ngrams = count_ngrams(tags, sequence, len(self.classes_), self.transitions_.ndim, self.stop)
        return float(emitted + (ngrams * self.transitions_).sum())

    def log_evidence_of(self, table: Table, sequence: Codes, tags: Codes) -> Array:
        """Log P(x), the sum over all tags, of the sequence of each row."""
        return np.repeat(self.log_probability(table, sequence), lengths(sequence)[1])

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Tags after tags, and an observation for each; an unknown observation is an empty cell.

        Without ``stop`` lengths are those of training sequences; with it, at most ten times the longest.
        """
        most = np.full(n, 10 * self.lengths_[-1]) if self.stop else rng.choice(self.lengths_, n)
        tags = draw_tags(self.transitions_, most, self.stop, rng)
        y = np.concatenate(tags)
        cells = {column.name: empty_cells(column, len(y)) for column in self.columns_}
        if self.levels_:
            cumulative = np.cumsum(np.exp(self.emissions_), axis=0)[:, y]
            codes = (rng.random(len(y)) * cumulative[-1] >= cumulative[:-1]).sum(axis=0).astype(np.int32)
            cells[self.observed_[0]] = np.where(codes == len(self.levels_), MISSING_CODE, codes)
        else:
            noise = rng.standard_normal((len(y), len(self.observed_)))
            X = self.means_[y] + noise * np.sqrt(self.variances_[y])
            cells.update(zip(self.observed_, X.T, strict=True))
        columns = [(column, cells[column.name]) for column in self.columns_]
        sequence = np.repeat(np.arange(n), [len(tags_of_one) for tags_of_one in tags])
        target = Column(self.target_, "nominal", self.classes_)
        return Table.of([(Column("sequence"), sequence), *columns, (target, y)], len(y))

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The table of Viterbi for one sequence, and log p(x)."""
        sequence = np.zeros(len(table), np.int32)
        tags, best = self.tag(table, sequence), best_paths(self.emitted(table), self.transitions_)
        note = "The log-probability, with the observations, of the best tags up to a row, by last tag."
        if len(table):
            note += f" log p(x) = {self.log_probability(table, sequence)[0]:.6g}."
        observed = table.select(self.observed_)
        return (viterbi_table(observed, best, tags, self.classes_, self.target_, note),)

    def explain(self) -> findings.Explanation:
        """The tags that follow each history, what each tag emits most often, and the rounds of Baum-Welch."""
        note = smoothing_note(self.alpha, self.smoothing)
        transitions = transition_table(self.transitions_, self.classes_, self.stop, note)
        emissions = self._level_table() if self.levels_ else self._normal_table()
        if not len(self.path_):
            return transitions, emissions
        rounds = tuple(float(number) for number in range(1, len(self.path_) + 1))
        line = ("log-likelihood", tuple(self.path_.tolist()))
        title = "Log-likelihood by iteration of Baum-Welch"
        return transitions, emissions, findings.Curve(title, "iteration", rounds, (line,))

    def _level_table(self) -> findings.Table:
        """The five most probable levels of each tag."""
        shares = np.exp(self.emissions_[:-1])
        typical = np.argsort(-shares, axis=0, kind="stable")[:5].T
        rows = tuple(
            (tag, ", ".join(f"{self.levels_[level]} {shares[level, code]:.3f}" for level in levels))
            for code, (tag, levels) in enumerate(zip(self.classes_, typical, strict=True))
        )
        note = smoothing_note(self.alpha, counted="level")
        if self.unknown == "once":
            note += " Levels met once also count for those never met (unknown)."
        title = f"Emission probabilities of {self.observed_[0]}, the largest of each tag"
        return findings.Table(title, ("tag", "most probable"), rows, note=note)

    def _normal_table(self) -> findings.Table:
        deviations = np.sqrt(self.variances_)
        rows = tuple(
            (tag, column, float(self.means_[code, index]), float(deviations[code, index]))
            for code, tag in enumerate(self.classes_)
            for index, column in enumerate(self.observed_)
        )
        return findings.Table("Emission densities", ("tag", "column", "mean", "standard deviation"), rows)

    def adjustable_parameters(self, table: Table) -> float | None:
        """Transitions, then for each tag all its levels (with the unknown one) but one, or means and variances."""
        of_tag = len(self.levels_) if self.levels_ else 2 * len(self.observed_)
        transitions = free_transitions(len(self.classes_), ORDERS[self.order], self.stop)
        return float(transitions + len(self.classes_) * of_tag)

    def check_learned(self) -> None:
        """Finite tables whose shapes fit the tags, levels and columns."""
        tags, numbers = len(self.classes_), 0 if self.levels_ else len(self.observed_)
        shapes = ((tags + 1,) * ORDERS[self.order], (len(self.levels_) + 1, tags), *((tags, numbers),) * 2)
        arrays = (self.transitions_, self.emissions_, self.means_, self.variances_)
        if tuple(array.shape for array in arrays) != shapes:
            raise ValueError("tables that do not fit the tags and levels")
        if not all(np.isfinite(array).all() for array in arrays) or (self.variances_ <= 0).any():
            raise ValueError("probabilities that are no numbers")


# Baum-Welch: learning from sequences whose tags are partly or all hidden.


@dataclass(frozen=True, eq=False)
class Expected:
    """What the observations say about the tags, given transitions and emissions."""

    shares: Array
    """P(tag) at each row (rows × tags)."""
    counts: Array
    """How often each tag (or the end) follows each (or the start): tags and boundary, squared."""
    log_likelihood: float


def baum_welch(
    start: Expected,
    emit: Callable[[Array], Array],
    possible: Flags,
    sequence: Codes,
    stop: bool,
    rounds: int,
    tolerance: float,
) -> tuple[Expected, list[float]]:
    """Alternate M-steps and E-steps until a round gains less than ``tolerance`` per row.

    ``emit`` gives log P(observation | tag) for shares of tags (both rows × tags); ``possible`` are the tags that a
    row may have. The log-likelihood of every round is returned as well.
    """
    expected, path = start, list[float]()
    for _ in range(rounds):
        emitted = np.maximum(emit(expected.shares) + np.where(possible, 0.0, IMPOSSIBLE), IMPOSSIBLE)
        expected = e_step(emitted, logarithm(shares_after(expected.counts)), sequence, stop)
        path.append(expected.log_likelihood)
        if len(path) > 1 and path[-1] - path[-2] < tolerance * len(sequence):
            break
    return expected, path


def e_step(emitted: Array, transitions: Array, sequence: Codes, stop: bool) -> Expected:
    """Forward-backward, given logarithms of emissions and transitions."""
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


def random_start(possible: Flags, stop: bool, rng: np.random.Generator) -> Expected:
    """Random shares of the possible tags; all transitions are possible."""
    shares = np.where(possible, rng.gamma(1.0, size=possible.shape), 0.0)
    outcomes = np.append(possible.any(axis=0), stop)
    counts = rng.gamma(1.0, size=(len(outcomes), len(outcomes))) * outcomes
    return Expected(shares / shares.sum(axis=1, keepdims=True), counts, -np.inf)


def start_from(shares: Array, counts: Array, possible: Flags, stop: bool) -> Expected:
    """The shares and transitions of labelled rows; each unlabelled row has the average shares, with weight 0.1."""
    labelled = shares.sum(axis=1, keepdims=True) > 0
    prior = shares.sum(axis=0) + possible.any(axis=0)
    unlabelled_shares = np.where(possible, prior, 0.0) * 0.1 / prior.sum()
    outcomes = np.append(possible.any(axis=0), stop)
    counts = np.where(outcomes, counts + 1.0, 0.0)
    return Expected(np.where(labelled, shares, unlabelled_shares), counts, -np.inf)


def shares_after(counts: Array) -> Array:
    """P(tag | the tag before), without smoothing."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0))


def shares_of_levels(counts: Array) -> Array:
    """P(level | tag); the row after the levels is 1, for an empty cell."""
    totals = counts.sum(axis=0)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    return np.vstack([shares, np.ones(counts.shape[1])])


def normals(X: Array, shares: Array) -> tuple[Array, Array]:
    """The mean and variance of each column at each tag (tags × columns), weighted by the shares of tags at rows.

    A tag without rows has those of all rows together.
    """
    present = np.isfinite(X)
    cells = np.where(present, X, 0.0)
    weight, total = shares.T @ present, np.maximum(present.sum(axis=0), 1)
    overall_mean = cells.sum(axis=0) / total
    deviations = np.where(present, X - overall_mean, 0.0)
    overall_variance = (deviations**2).sum(axis=0) / total
    met = weight > 0
    divisor = np.where(met, weight, 1.0)
    means = np.where(met, overall_mean + (shares.T @ deviations) / divisor, overall_mean)
    squares = np.zeros_like(means)
    for tag, mean in enumerate(means):
        squares[tag] = shares[:, tag] @ np.where(present, X - mean, 0.0) ** 2
    variances = np.where(met, squares / divisor, overall_variance)
    # The variance at a tag is at least a millionth of that over all rows.
    return means, np.maximum(variances, np.where(overall_variance > 0, 1e-6 * overall_variance, 1.0))


def log_normals(X: Array, means: Array, variances: Array) -> Array:
    """The log-density of each row at each tag; an empty cell adds nothing."""
    result = np.zeros((len(X), len(means)))
    for tag, (mean, variance) in enumerate(zip(means, variances, strict=True)):
        of_cells = -0.5 * ((X - mean) ** 2 / variance + np.log(variance) + LOG_TAU)
        result[:, tag] = np.where(np.isfinite(X), of_cells, 0.0).sum(axis=1)
    return result
