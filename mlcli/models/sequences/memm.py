"""Maximum entropy Markov model: each tag by features of its row and the tag before it, normalised row by row.

Formula:
    p(y | x) = Π_i exp(s(i, y_i) + t(y_{i-1}, y_i)) / Σ_y' exp(s(i, y') + t(y_{i-1}, y')), equation (127) of the
    notes; s sums the weights that the features of row i have with a tag, t weighs a pair of tags. The weights
    maximise Σ log p(y | x) − l2 / 2 ‖w‖² − l1 Σ |w|, equation (124): logistic regression with the tag before as a
    feature.

Assumes:
    Given all observations, a tag depends on the tag before it only. Sequences are independent.

Cost:
    A step of L-BFGS takes rows × features of a row × K, K being the number of tags: less than that of a crf,
    which sums over all pairs of tags.

Choices:
    Features and weights as in crf. The most probable tags of the sequence are predicted, by Viterbi. As each
    step adds up to 1 whatever is observed, tags with few successors depend less on the observations: the label
    bias that a crf does not have.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.posteriors import log_sum
from mlcli.models.sequences.crf import LogLinearTagger
from mlcli.tasks.sequence_labelling import Tagger


@register("memm", reference="McCallum, Freitag & Pereira 2000")
class MaximumEntropyMarkovModel(LogLinearTagger, Tagger):
    """A logistic regression of each tag on its row and the tag before."""

    by_row: ClassVar[bool] = True

    def chain(self, table: Table, sequence: Codes) -> tuple[Array, Array]:
        """Scores without normalisers: the one of a row depends on the tag before, so it is subtracted there."""
        scores, follows = super().chain(table, sequence)
        return scores - self._normalisers(scores, sequence), follows

    def best_paths(self, table: Table, sequence: Codes) -> tuple[Array, str]:
        """Log-probabilities, with the normaliser of each row at the row itself."""
        scores, _ = super().chain(table, sequence)
        best, _ = super().best_paths(table, sequence)
        meaning = "The log-probability, given the observations, of the best tags up to a row, by last tag."
        return best + self._normalisers(scores, sequence) - log_sum(scores[0], axis=0), meaning

    def _normalisers(self, scores: Array, sequence: Codes) -> Array:
        """For each tag of a row the log-normaliser of the next row of its sequence; 0 at the end."""
        result, inner = np.zeros_like(scores), np.flatnonzero(sequence[1:] == sequence[:-1])
        for before, weights in enumerate(self.follows_):
            result[inner, before] = log_sum(scores[inner + 1] + weights, axis=1)
        return result
