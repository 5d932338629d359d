"""Conditional random field: whole sequences of tags by features of rows and pairs of tags, normalised together.

Formula:
    p(y | x) = exp(Σ_i s(i, y_i) + Σ_i t(y_{i-1}, y_i)) / Σ over y' of the same; s sums the weights of features of
    row i with a tag, t weighs a pair of tags: equation (128) of the notes, of features of one row or pair.
    The weights maximise Σ log p(y | x) − l2 / 2 ‖w‖² − l1 Σ |w|, equation (124). Answered are the most probable
    tags of the sequence, by Viterbi; where probabilities are asked for, P(y_i | x) by forward-backward.

Assumes:
    Given everything that is observed, a tag depends on its neighbours only. Sequences are independent.

Cost:
    A step of L-BFGS takes rows × (features of a row × K + K²), K being the number of tags; some 50 to 200 steps.

Choices:
    Templates say what features look at (``word@-1``, ``suffix:3``, ``shape``); every row has one that is always
    there, and the first and the last of a sequence one each, so that tags by themselves, starts and ends have
    weights. All pairs of feature and tag have a weight, also those never met together (crfsuite:
    ``feature.possible_states`` and ``feature.possible_transitions``, its c2 is half of l2 and its c1 is l1).
    ``l1`` leaves out most of them; L-BFGS then goes from orthant to orthant (OWL-QN), in about as many steps. A
    level that the training file does not have makes the features of its letters (prefix, suffix, shape), if any;
    numbers are features as they stand.
"""

from __future__ import annotations

from mlcli.core.registry import register
from mlcli.engines.linear_chain import Expect, over_sequences
from mlcli.models.sequences._log_linear import LogLinearTagger
from mlcli.tasks.sequence_labelling import Tagger


@register("crf", reference="Lafferty, McCallum & Pereira 2001")
class ConditionalRandomField(LogLinearTagger, Tagger):
    """A linear chain, normalised over whole sequences."""

    def normaliser(self) -> Expect:
        """Whole sequences."""
        return over_sequences
