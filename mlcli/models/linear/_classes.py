"""Forms of a linear classifier: what is minimised over its coefficients, and how scores become probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes


@dataclass(frozen=True)
class Part:
    """Coefficients that are minimised on their own: those of all classes, or of one against the rest."""

    outcomes: Array
    """1 where a row (column) is of the class of an output (line), for all classes but the first."""
    spread: Array
    """From coefficients to those of the outputs that are learned: orthonormal, so that the penalty is the same."""
    mixing: Array
    """From coefficients to those of scores less the score of the first class."""


@dataclass(frozen=True)
class Form:
    """One way to tell classes apart by linear scores."""

    parts: Callable[[Codes, int], Sequence[Part]]
    """What is minimised, each on its own, for the codes of the rows and the number of classes."""
    probabilities: Callable[[Array], Array]
    """Probabilities (n × classes) from scores (n × outputs)."""
    outputs: Callable[[Sequence[str]], Sequence[str]]
    """What each output scores, in words, from the names of the classes."""
    log_odds: bool
    """Whether each score is the logarithm of odds by itself."""


def softmax(scores: Array) -> Array:
    """e^z_k / Σ_j e^z_j for each row, relative to its largest score."""
    lines = np.ascontiguousarray(scores.T)
    shares = lines - lines.max(axis=0)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=0)
    return np.asarray(shares.T)


def _one_score(positive: Array) -> Part:
    return Part(np.asarray(positive, np.float64)[None, :], np.eye(1), np.eye(1))


def _binary(y: Codes, classes: int) -> Sequence[Part]:
    return [_one_score(y == 1)]


def _one_against_rest(y: Codes, classes: int) -> Sequence[Part]:
    return [_one_score(y == k) for k in range(classes)]


def _all_classes(y: Codes, classes: int) -> Sequence[Part]:
    """The best scores add up to 0, so they have one coordinate less than there are classes."""
    spread = contrasts(classes)
    outcomes = np.array([y == k for k in range(1, classes)], np.float64).reshape(classes - 1, len(y))
    return [Part(outcomes, spread, spread[1:] - spread[0])]


def contrasts(classes: int) -> Array:
    """An orthonormal basis (classes × classes − 1) of what adds up to 0 (Helmert 1876)."""
    basis = np.zeros((classes, classes - 1))
    for k in range(1, classes):
        basis[:k, k - 1], basis[k, k - 1] = -1 / np.sqrt(k * (k + 1)), k / np.sqrt(k * (k + 1))
    return basis


BINARY = Form(
    parts=_binary,
    probabilities=lambda scores: softmax(np.concatenate([np.zeros((1, len(scores))), scores.T]).T),
    outputs=lambda names: [f"{names[1]} against {names[0]}"],
    log_odds=True,
)
SOFTMAX = Form(parts=_all_classes, probabilities=softmax, outputs=list, log_odds=False)
ONE_AGAINST_REST = Form(
    parts=_one_against_rest,
    probabilities=lambda scores: softmax(-np.logaddexp(0, -scores)),
    outputs=lambda names: [f"{name} against the rest" for name in names],
    log_odds=True,
)
FORMS = {"softmax": SOFTMAX, "one-against-rest": ONE_AGAINST_REST}
FORMS_OF_FEW = {1: SOFTMAX, 2: BINARY}
"""With two classes every form has one score; with one, its probability is 1."""
