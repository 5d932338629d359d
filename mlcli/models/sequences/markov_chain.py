"""Markov chain: the next symbol by the few before it, without hidden states; the target is the symbol itself.

Formula:
    P(y) = Π P(y_i | y_{i-n}, ..., y_{i-1}), equation (117) of the notes for n = 1, with
    P(y | h) = (count(h, y) + α) / (count(h) + α K), or interpolated; perplexity is exp(−Σ log P / rows).
    The stationary distribution π satisfies π(y) = Σ_h π(h) P(y | h).

Assumes:
    A symbol depends on the n symbols before it, everywhere in the same way. Sequences are independent.

Cost:
    One pass to count, one look-up per row to predict; a table of K^(n+1) numbers.

Choices:
    It is scored by the next symbol: each row is predicted from the true symbols before it. Taggers do not see
    them, so scores of both cannot be compared. Without true symbols (`predict`), the most probable sequence of
    the same length is predicted, and probabilities are those before anything is seen. Before the first row stand
    start symbols; of equally probable symbols the first is predicted. The stationary distribution is the limit
    of the chain from all histories alike; if the chain falls into separate parts, it depends on that start.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, Generative
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Codes, Rows, Table, empty_cells
from mlcli.models.sequences._markov import (
    SMOOTHINGS,
    count_ngrams,
    draw_tags,
    free_transitions,
    histories,
    logarithm,
    most_probable_tags,
    smoothing_note,
    tag_probabilities,
    transition_table,
)
from mlcli.tasks.sequence_labelling import TaggedRows, Tagger, lengths


@register("markov-chain", reference="Markov 1913; Norris 1997, Markov Chains")
class MarkovChain(Tagger, CountsParameters, Generative):
    """Counts symbols after symbols."""

    order: int = param(1, "number of symbols that the next one depends on", ge=1, le=5, tune=(1, 3))
    smoothing: str = param("alpha", "how probabilities of rare transitions are estimated", choices=SMOOTHINGS)
    alpha: float = param(
        0.1,
        "added to every count; 0 for relative frequencies",
        ge=0,
        tune=(0.001, 1.0),
        matters_when={"smoothing": "alpha"},
    )

    transitions_: Array = learned()
    """Logarithms: histories, oldest first, × symbols and boundary."""
    perplexity_: float = learned()
    """The perplexity of the training rows."""
    lengths_: Rows = learned()
    """How many rows each training sequence had, in ascending order."""

    accepts = Accepts(nominal=True, missing=True)

    def fit(self, data: TaggedRows, rng: np.random.Generator) -> None:
        """Count n-grams."""
        symbols = len(data.classes)
        # the largest table of n-grams
        if (cells := (symbols + 1) ** (self.order + 1)) > 5_000_000:
            raise FitError(f"markov-chain: {symbols} symbols have {cells:,} n-grams", hint="lower the order")
        ngrams = count_ngrams(data.y, data.sequence, symbols, self.order + 1, stop=False)
        self.transitions_ = logarithm(SMOOTHINGS[self.smoothing](ngrams, self.alpha))
        self.perplexity_ = float(np.exp(-self.steps(data.y, data.sequence).sum() / len(data)))
        self.lengths_ = np.sort(lengths(data.sequence)[1])

    def steps(self, y: Codes, sequence: Codes) -> Array:
        """Log P of the symbol of each row, given the true symbols before it."""
        before = histories(y, sequence, len(self.classes_), self.order)
        return np.asarray(self.transitions_[(*before, y)])

    def log_evidence_of(self, table: Table, sequence: Codes, tags: Codes) -> Array:
        """The logarithm of P(y) of the sequence of each row; not known where one of its symbols is not."""
        steps = np.where(tags < 0, np.nan, self.steps(np.maximum(tags, 0), sequence))
        starts, sizes = lengths(sequence)
        return np.repeat(np.add.reduceat(steps, starts) if len(steps) else steps, sizes)

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Symbols after symbols, in sequences as long as those of training; other columns are empty."""
        drawn = draw_tags(self.transitions_, rng.choice(self.lengths_, n), False, rng)
        y, sizes = np.concatenate(drawn), [len(symbols) for symbols in drawn]
        columns = [(column, empty_cells(column, len(y))) for column in self.columns_]
        sequence = np.repeat(np.arange(n), sizes)
        target = Column(self.target_, "nominal", self.classes_)
        return Table.of([(Column("sequence"), sequence), *columns, (target, y)], len(y))

    def judged_tags(self, data: TaggedRows) -> tuple[Codes, Array | None]:
        """The most probable next symbol of each row given the true symbols before it, and all probabilities."""
        before = histories(data.y, data.sequence, len(self.classes_), self.order)
        probabilities = np.exp(self.transitions_[tuple(before)][:, :-1])
        return probabilities.argmax(axis=1).astype(np.int32), probabilities

    def tag(self, table: Table, sequence: Codes) -> Codes:
        """The most probable symbols of sequences, given only their lengths."""
        no_observations = np.zeros((len(table), len(self.classes_)))
        return most_probable_tags(no_observations, self.transitions_, sequence, False)

    def tag_shares(self, table: Table, sequence: Codes) -> Array:
        """The probability of each symbol at each place of a sequence, before anything is seen."""
        no_observations = np.zeros((len(table), len(self.classes_)))
        return tag_probabilities(no_observations, self.transitions_, sequence, False)

    def stationary(self) -> Array:
        """The distribution of symbols that a step of the chain does not change."""
        inner = (slice(0, len(self.classes_)),) * (self.order + 1)
        shares = np.exp(self.transitions_[inner])
        now = np.full(shares.shape[:-1], 1.0 / shares[..., 0].size)
        for _ in range(20_000):
            after = (now[..., None] * shares).sum(axis=0)
            after = (now + after / after.sum()) / 2  # half a step: the same limit, and it cannot oscillate
            if np.abs(after - now).max() < 1e-13:
                break
            now = after
        return np.asarray(now.reshape(-1, len(self.classes_)).sum(axis=0))

    def adjustable_parameters(self, table: Table) -> float | None:
        """Transitions."""
        return float(free_transitions(len(self.classes_), self.order + 1, stop=False))

    def check_learned(self) -> None:
        """Finite transitions of a shape that fits the symbols."""
        if self.transitions_.shape != (len(self.classes_) + 1,) * (self.order + 1):
            raise ValueError("a table that does not fit the symbols")
        if not np.isfinite(self.transitions_).all():
            raise ValueError("probabilities that are no numbers")

    def explain(self) -> findings.Explanation:
        """Transition probabilities, and the stationary distribution."""
        smoothing = smoothing_note(self.alpha, self.smoothing)
        transitions = transition_table(self.transitions_, self.classes_, False, smoothing)
        note = f"perplexity of the training rows: {self.perplexity_:.6g}, of {len(self.classes_)} symbols"
        header, shares = (self.target_, "share"), tuple(self.stationary().tolist())
        return transitions, findings.Bars("Stationary distribution", header, self.classes_, shares, note=note)
