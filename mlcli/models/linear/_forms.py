"""Forms of a linear classifier: which losses its scores are fitted with, and how scores become probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes
from mlcli.models.linear._losses import LogisticLoss, Loss, SoftmaxLoss


@dataclass(frozen=True)
class Form:
    """One way to tell classes apart by linear scores."""

    losses: Callable[[Codes, int, Array], Sequence[Loss]]
    """What is minimised, each on its own, for the codes of the rows, the number of classes, and weights."""
    probabilities: Callable[[Array], Array]
    """Probabilities (n × classes) from scores (n × outputs)."""
    outputs: Callable[[Sequence[str]], Sequence[str]]
    """What each output scores, in words, from the names of the classes."""
    log_odds: bool
    """Whether each score is the logarithm of odds by itself."""


def softmax(scores: Array) -> Array:
    """e^z_k / Σ_j e^z_j for each row, relative to its largest score."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Array = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _binary_losses(y: Codes, classes: int, weights: Array) -> Sequence[Loss]:
    return [LogisticLoss((y == 1).astype(np.float64), weights)]


def _one_against_rest_losses(y: Codes, classes: int, weights: Array) -> Sequence[Loss]:
    return [LogisticLoss((y == k).astype(np.float64), weights) for k in range(classes)]


def _softmax_losses(y: Codes, classes: int, weights: Array) -> Sequence[Loss]:
    return [SoftmaxLoss(y, classes, weights)]


BINARY = Form(
    losses=_binary_losses,
    probabilities=lambda scores: softmax(np.column_stack([np.zeros(len(scores)), scores])),
    outputs=lambda names: [f"{names[1]} against {names[0]}"],
    log_odds=True,
)
SOFTMAX = Form(losses=_softmax_losses, probabilities=softmax, outputs=list, log_odds=False)
ONE_AGAINST_REST = Form(
    losses=_one_against_rest_losses,
    probabilities=lambda scores: softmax(-np.logaddexp(0, -scores)),
    outputs=lambda names: [f"{name} against the rest" for name in names],
    log_odds=True,
)
FORMS = {"softmax": SOFTMAX, "one-against-rest": ONE_AGAINST_REST}
FORMS_OF_FEW = {1: SOFTMAX, 2: BINARY}
"""With two classes every form has one score; with one, its probability is 1."""
