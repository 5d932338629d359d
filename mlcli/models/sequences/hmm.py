"""Hidden Markov model: tags follow tags, each tag emits what is observed; the most probable tags are answered.

Formula:
    P(x, y) = Π P(y_i | y_{i-1}) P(x_i | y_i) for a bigram, P(y_i | y_{i-2}, y_{i-1}) in its place for a trigram;
    ŷ = argmax over y of log P(x, y), found by Viterbi. Where probabilities of tags are asked for: P(y_i | x), the
    sum over all y with that tag, by forward-backward.
    With ``alpha``, P(y | h) = (count(h, y) + α) / (count(h) + α K) and P(x | y) = (count(x, y) + α) /
    (count(y) + α (V + 1)): K tags and V observations were met in training, and the one more is the unknown one.

Assumes:
    A tag depends on the one or two tags before it, an observation on its own tag. Sequences are independent.

Cost:
    One pass to count. To answer, rows × K² for a bigram, rows × K³ for a trigram, K being the number of tags.

Choices:
    Before the first row stands a start symbol, which the notes leave undefined in (120); ``stop`` adds a symbol
    for the end, which makes P a distribution over sequences of all lengths.
    Interpolation mixes the shares after histories of every length, by Brants' deleted interpolation; it smooths
    transitions only.
    ``unknown: once``: observations met once in training stand for those never met: their count of each tag counts
    once more, for the unknown ones. ``alpha``: unknown observations have α only. An empty cell counts as unknown.
    The most probable tags of a sequence are answered; they need not be the most probable tag of each row. A step
    of probability 0 is taken where there is no other way; a tag never met in training is not answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.findings import Entry, Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Codes, Rows, Table
from mlcli.engines.sequences import (
    best_paths,
    drawn_tags,
    log_likelihoods,
    logarithm,
    most_probable_tags,
    tag_probabilities,
)
from mlcli.models.sequences._counts import SMOOTHINGS, count_ngrams, counted, observations, observed_column
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger, lengths

ORDERS = {"bigram": 2, "trigram": 3}
BOUNDARY = "(start)"
END = "(end)"
UNKNOWN = "(unknown)"
OF_VITERBI = (
    "The logarithm of the probability of the best tags up to a row that end with each tag, with what is observed; "
    "the tags taken are read back from the best of the last row."
)
LONGEST = 10
TYPICAL = 5
"""How many observations of each tag are shown."""


@register("hmm", reference="Rabiner 1989, A tutorial on hidden Markov models; Brants 2000, TnT")
@dataclass(kw_only=True, eq=False)
class HiddenMarkovModel(Tagger):
    """Counts tags after tags and observations with tags; answers by Viterbi."""

    order: str = param("bigram", "how far back a tag depends on tags", choices=ORDERS)
    smoothing: str = param("alpha", "how transitions that are rare are estimated", choices=SMOOTHINGS)
    alpha: float = param(0.1, "what is added to every count; 0 for plain shares", ge=0, tune=(0.001, 1.0))
    unknown: str = param("once", "what an observation that was never met counts as", choices=("once", "alpha"))
    stop: bool = param(False, "whether the end of a sequence is a symbol of its own")
    column: str | None = param(None, "the nominal column that is observed; the first one where none is named")

    observed_: str = learned()
    levels_: tuple[str, ...] = learned()
    transitions_: Array = learned()
    emissions_: Array = learned()
    lengths_: Rows = learned()
    """How many rows each training sequence had, in ascending order."""

    accepts = Accepts(numbers=False, nominal=True, missing=True)
    """Levels and empty cells; transitions have no weights."""

    def fit(self, data: TaggedRows, rng: np.random.Generator) -> None:
        """Count transitions and emissions."""
        column = observed_column(data.table, self.column, self.name)
        tags, codes = len(data.classes), observations(data.table, column.name)
        ngrams = count_ngrams(data.y, data.sequence, tags, ORDERS[self.order], self.stop)
        counts = counted(codes, data.y, data.weights, len(column.levels), tags)
        self.lengths_ = np.sort(lengths(data.sequence)[1])
        self.observed_, self.levels_ = column.name, column.levels
        self.transitions_ = logarithm(SMOOTHINGS[self.smoothing](ngrams, self.alpha))
        self.emissions_ = logarithm(self._emission_shares(counts))

    def _emission_shares(self, counts: Array) -> Array:
        """P(level | tag), the last row being any unknown observation; a tag never met has none."""
        times = counts.sum(axis=1)
        once = counts[times == 1].sum(axis=0) if self.unknown == "once" else np.zeros(counts.shape[1])
        unknown = once + self.alpha
        totals = counts.sum(axis=0) + self.alpha * (times > 0).sum() + unknown
        rows = np.vstack([np.where((times > 0)[:, None], counts + self.alpha, unknown), unknown])
        shares: Array = np.divide(rows, totals, out=np.zeros_like(rows), where=totals > 0)
        return shares

    def tag(self, table: Table, sequence: Codes) -> Codes:
        """The most probable tags of each sequence; -1 looks up the row of unknown observations."""
        emitted = self.emissions_[observations(table, self.observed_)]
        return most_probable_tags(emitted, self.transitions_, sequence, self.stop)

    def tag_shares(self, table: Table, sequence: Codes) -> Array:
        """The probability of each tag at each row, given all observations of its sequence."""
        emitted = self.emissions_[observations(table, self.observed_)]
        return tag_probabilities(emitted, self.transitions_, sequence, self.stop)

    def log_joint(self, table: Table, sequence: Codes, tags: Codes) -> float:
        """The logarithm of P(x, y) of some sequences and their tags, by the sum that Viterbi maximises."""
        emitted = self.emissions_[observations(table, self.observed_), tags].sum()
        ngrams = count_ngrams(tags, sequence, len(self.classes_), self.transitions_.ndim, self.stop)
        return float(emitted + (ngrams * self.transitions_).sum())

    def log_evidence_of(self, table: Table, sequence: Codes) -> Array:
        """The logarithm of P(x), the sum over all tags, of the sequence of each row."""
        emitted = self.emissions_[observations(table, self.observed_)]
        return log_likelihoods(emitted, self.transitions_, sequence, self.stop)

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Tags after tags, and an observation for each; an unknown observation is an empty cell.

        Without ``stop`` lengths are those of training sequences; with it, at most ten times the longest.
        """
        longest = np.full(n, LONGEST * self.lengths_[-1])
        tags = drawn_tags(
            self.transitions_, longest if self.stop else rng.choice(self.lengths_, n), self.stop, rng
        )
        y = np.concatenate(tags)
        up_to = np.cumsum(np.exp(self.emissions_), axis=0)[:, y]
        codes = (rng.random(len(y)) * up_to[-1] >= up_to[:-1]).sum(axis=0).astype(np.int32)
        codes[codes == len(self.levels_)] = MISSING_CODE
        columns = [
            (column, codes if column.name == self.observed_ else _empty(column, len(y)))
            for column in self.columns_
        ]
        sequence = np.repeat(np.arange(n), [len(one) for one in tags])
        target = Column(self.target_, "nominal", self.classes_)
        return Table.of([(Column("sequence"), sequence), *columns, (target, y)], len(y))

    def explain_answer(self, table: Table) -> Explanation:
        """The table of Viterbi for one sequence: of each row the best path to each tag, and the tag taken."""
        codes = observations(table, self.observed_)
        best = best_paths(self.emissions_[codes], self.transitions_)
        tags = self.tag(table, np.zeros(len(table), np.int32))
        words = [self.levels_[code] if code >= 0 else UNKNOWN for code in codes]
        rows = zip(words, best.tolist(), (self.classes_[tag] for tag in tags), strict=True)
        lines = tuple((word, *scores, tag) for word, scores, tag in rows)
        header = (self.observed_, *self.classes_, self.target_)
        return (findings.Table("Viterbi, row by row", header, lines, note=OF_VITERBI),)

    def check_learned(self) -> None:
        """Tables whose shapes fit the tags and levels, without gaps."""
        tags = len(self.classes_)
        shapes = ((tags + 1,) * ORDERS[self.order], (len(self.levels_) + 1, tags))
        if (self.transitions_.shape, self.emissions_.shape) != shapes:
            raise ValueError("tables that do not fit the tags and levels")
        if not (np.isfinite(self.transitions_).all() and np.isfinite(self.emissions_).all()):
            raise ValueError("probabilities that are no numbers")

    def explain(self) -> Explanation:
        """The tags that follow each history, and what each tag emits most often."""
        return (self._transition_table(), self._emission_table())

    def _transition_table(self) -> findings.Table:
        symbols = (*self.classes_, BOUNDARY)
        outcomes = (*self.classes_, END) if self.stop else self.classes_
        shares = np.exp(self.transitions_)
        rows: list[tuple[Entry, ...]] = []
        for history in np.ndindex(shares.shape[:-1]):
            if _can_be(history, boundary=len(self.classes_)):
                after = " ".join(symbols[tag] for tag in history)
                rows.append((after, *shares[history][: len(outcomes)].tolist()))
        title = "How probable each tag is after those before it"
        return findings.Table(title, header=("after", *outcomes), rows=tuple(rows))

    def _emission_table(self) -> findings.Table:
        shares = np.exp(self.emissions_[:-1])
        typical = np.argsort(-shares, axis=0, kind="stable")[:TYPICAL].T
        rows = tuple(
            (tag, ", ".join(f"{self.levels_[level]} {shares[level, code]:.3f}" for level in levels))
            for code, (tag, levels) in enumerate(zip(self.classes_, typical, strict=True))
        )
        return findings.Table(
            f"What each tag emits most often in {self.observed_}", header=("tag", "most often"), rows=rows
        )


def _empty(column: Column, rows: int) -> NDArray[Any]:
    """The cells of a column that it does not look at."""
    return np.full(rows, MISSING_CODE if column.coded else np.nan)


def _can_be(history: tuple[int, ...], boundary: int) -> bool:
    """Whether no tag stands before the start of a sequence."""
    return all(later != boundary or earlier == boundary for earlier, later in pairwise(history))
