"""Scores of class probabilities that are means over rows: log-loss and Brier's score."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array
from mlcli.metrics.base import Undefined
from mlcli.metrics.declaring import mean_of_rows
from mlcli.tasks.classification import LabelAnswers


def probabilities_given(answers: LabelAnswers) -> Undefined | None:
    """The precondition of every score of probabilities."""
    return Undefined("the model gives no probabilities") if answers.probabilities is None else None


def _infinite_rows(answers: LabelAnswers) -> tuple[str, ...]:
    impossible = (_of_truth(answers) == 0) & (answers.weights > 0)
    rows = int(impossible.sum())
    return (f"infinite: the true class has probability 0 in {rows} of {len(answers)} rows",) if rows else ()


@mean_of_rows("log-loss", LabelAnswers, needs=(probabilities_given,), marks=_infinite_rows, better="low", low=0.0)
def log_loss(answers: LabelAnswers) -> Array:
    """Minus the natural logarithm of the probability of the true class; infinite when that is 0."""
    with np.errstate(divide="ignore"):
        log_probability: Array = np.log(np.minimum(_of_truth(answers), 1.0))
    return 0.0 - log_probability


@mean_of_rows("brier", LabelAnswers, needs=(probabilities_given,), better="low", low=0.0, high=2.0)
def brier(answers: LabelAnswers) -> Array:
    """Squared distance of the probabilities from the truth, summed over classes; of two classes, one counts."""
    distances = probabilities_of(answers) - np.eye(len(answers.classes))[answers.truth]
    summed: Array = (distances**2).sum(axis=1)
    return summed / 2 if len(answers.classes) == 2 else summed


def probabilities_of(answers: LabelAnswers) -> Array:
    """The probabilities, where the precondition has found them."""
    assert answers.probabilities is not None
    return answers.probabilities


def _of_truth(answers: LabelAnswers) -> Array:
    chosen: Array = probabilities_of(answers)[np.arange(len(answers)), answers.truth]
    return chosen
