"""Scores of class probabilities: log-loss and Brier's score over rows, and the area under the ROC curve."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.metrics.averages import absent_classes, class_known
from mlcli.metrics.base import Metric, Ranking, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.declaring import OF_ONE_CLASS, SHARE, guarded, mean_of_rows, of_weightings, weighted_score
from mlcli.tasks.classification import LabelAnswers


def probabilities_given(answers: LabelAnswers) -> Undefined | None:
    """The precondition of every score of probabilities."""
    return Undefined("the model gives no probabilities") if answers.probabilities is None else None


def _infinite_rows(answers: LabelAnswers) -> tuple[str, ...]:
    impossible = (_of_truth(answers) == 0) & (answers.weights > 0)
    rows = int(impossible.sum())
    return (f"infinite: the true class has probability 0 in {rows} of {len(answers)} rows",) if rows else ()


def loss_of_a_mistake(answers: LabelAnswers) -> float:
    """The largest loss that was seen, and at least twice that of equal probabilities."""
    return max(
        2 * math.log(len(answers.classes)), float(log_loss(answers).max(where=answers.weights > 0, initial=0.0))
    )


@mean_of_rows(
    "log-loss",
    LabelAnswers,
    needs=(probabilities_given,),
    marks=_infinite_rows,
    scale="log",
    unseen=loss_of_a_mistake,
    better="low",
    low=0.0,
)
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


STRATIFIED = "stratified splits, or fewer, would help"
SAME_ODDS = 32 * float(np.finfo(np.float64).eps)
"""Relative difference of odds below which two probabilities differ by rounding only, and tie."""


def area_under(scores: Array, positive: Flags, weightings: Array) -> Array:
    """The share of (positive, negative) pairs in the right order, ties half, under each weighting (B × n)."""
    ranks = _tied_ranks(scores)
    of_negatives = np.flatnonzero(~positive)
    ascending = of_negatives[np.argsort(ranks[of_negatives], kind="stable")]
    below, through = (np.searchsorted(ranks[ascending], ranks[positive], side) for side in ("left", "right"))
    negatives = np.zeros((len(weightings), len(ascending) + 1))
    np.cumsum(weightings[:, ascending], axis=1, out=negatives[:, 1:])
    positives = weightings[:, positive]
    pairs = positives * negatives[:, below]
    if (below < through).any():
        pairs = (pairs + positives * negatives[:, through]) / 2
    return ratio(pairs.sum(axis=1), positives.sum(axis=1) * negatives[:, -1])


def _tied_ranks(scores: Array) -> Rows:
    """The rank of each score among the different ones; scores that differ by rounding only share it."""
    order = np.argsort(scores, kind="stable")
    ascending = scores[order]
    rounding = SAME_ODDS * np.minimum(ascending, np.abs(1 - ascending))
    rises = np.diff(ascending, prepend=ascending[:1]) > rounding
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[order] = np.cumsum(rises)
    return ranks


def against_rest(answers: LabelAnswers, code: int, weightings: Array) -> Array:
    """AUC of one class by its own probability."""
    return area_under(probabilities_of(answers)[:, code], answers.truth == code, weightings)


def _absent(answers: LabelAnswers) -> tuple[str, ...]:
    return absent_classes(answers) if len(answers.classes) > 2 else ()


def ranking_of_class(answers: LabelAnswers, code: int) -> Ranking:
    """The rows by the probability of one class."""
    return Ranking(_tied_ranks(probabilities_of(answers)[:, code]), answers.truth == code, answers.weights)


def rankings_of_classes(answers: LabelAnswers) -> list[Ranking]:
    """Of two classes the ranking of the second, of more one for each."""
    codes = (1,) if len(answers.classes) == 2 else range(len(answers.classes))
    return [ranking_of_class(answers, code) for code in codes]


AREA: dict[str, Any] = {
    "rankings": rankings_of_classes,
    "scale": "logit",
    "pooling": "where classes are rare",
    "by_rounds": True,
}
ONE_CLASS = Undefined("only one class among the judged rows", STRATIFIED)


@weighted_score("auc", LabelAnswers, needs=(probabilities_given,), why=ONE_CLASS, marks=_absent, **AREA, **SHARE)
def auc(answers: LabelAnswers, weightings: Array) -> Array:
    """How often a row of a class scores above one of the rest, ties half; of more than two classes the mean.

    Of two classes it is that of the second; classes that cannot be told from a rest are left out of the mean.
    """
    if len(answers.classes) == 2:
        return against_rest(answers, 1, weightings)
    areas = np.array([against_rest(answers, code, weightings) for code in range(len(answers.classes))])
    known = ~np.isnan(areas)
    return ratio(np.where(known, areas, 0).sum(axis=0), known.sum(axis=0))


def auc_of_class(label: str) -> Metric:
    """AUC of one class against the rest, by the probability of that class."""

    def under(answers: LabelAnswers, weightings: Array) -> Array:
        return against_rest(answers, answers.classes.index(label), weightings)

    why = Undefined(f"the judged rows do not hold both {label} and another class", STRATIFIED)

    def rankings(answers: LabelAnswers) -> list[Ranking]:
        return [ranking_of_class(answers, answers.classes.index(label))]

    declared = {**AREA, **SHARE, "rankings": rankings}
    metric = of_weightings(f"auc[{label}]", LabelAnswers, under, why, **declared)
    return guarded(metric, class_known(label), probabilities_given)


OF_ONE_CLASS["auc"] = auc_of_class
