"""Scores of class probabilities: log-loss and Brier's score over rows, and the area under the ROC curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, Unpack

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.metrics.base import Metric, Ranking, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.registry import (
    CLASS_AVERAGE,
    OF_ONE_CLASS,
    SHARE,
    A,
    Options,
    absent_classes,
    class_known,
    declare,
    guarded,
    mean_of_rows,
    of_weightings,
)
from mlcli.tasks.supervised import LabelAnswers


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
    when_infinite=(
        "the true class of some rows has probability 0; `--metric brier` is finite there, and smoothing, "
        "more neighbours or larger leaves avoid it"
    ),
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


def area(
    name: str,
    answers: type[A],
    rankings: Callable[[A], Sequence[Ranking]],
    why: Undefined,
    **options: Unpack[Options],
) -> Metric:
    """The metric of the mean area under the ROC curves of rankings; those without a pair are left out."""

    def under(answers: A, weightings: Array) -> Array:
        areas = np.array([_area_under(ranking, weightings) for ranking in rankings(answers)])
        known = ~np.isnan(areas)
        return ratio(np.where(known, areas, 0).sum(axis=0), known.sum(axis=0))

    all_options: Options = {**CLASS_AVERAGE, **SHARE, "scale": "logit", **options}
    return replace(of_weightings(name, answers, under, why, **all_options), rankings=rankings)


def _area_under(ranking: Ranking, weightings: Array) -> Array:
    """The share of (positive, negative) pairs in the right order, ties half, under each weighting (B × n)."""
    positive, others = (
        np.flatnonzero(side & (ranking.weights > 0)) for side in (ranking.positive, ~ranking.positive)
    )
    ascending = others[np.argsort(ranking.ranks[others], kind="stable")]
    sides: tuple[Literal["left", "right"], ...] = ("left", "right")
    below, through = (np.searchsorted(ranking.ranks[ascending], ranking.ranks[positive], side) for side in sides)
    negatives = np.zeros((len(weightings), len(ascending) + 1))
    np.cumsum(weightings[:, ascending], axis=1, out=negatives[:, 1:])
    positives = weightings[:, positive]
    pairs = positives * negatives[:, below]
    if (below < through).any():
        pairs = (pairs + positives * negatives[:, through]) / 2
    return ratio(pairs.sum(axis=1), positives.sum(axis=1) * negatives[:, -1])


def ranks_but_for_rounding(values: Array, rounding: Callable[[Array], Array]) -> Rows:
    """The place of each value among the different ones; those that differ by rounding only share it."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    result = np.empty(len(values), dtype=np.intp)
    result[order] = np.cumsum(np.diff(ascending, prepend=ascending[:1]) > rounding(ascending))
    return result


def _rounding(probabilities: Array) -> Array:
    return np.asarray(SAME_ODDS * np.minimum(probabilities, np.abs(1 - probabilities)))


def _ranking(answers: LabelAnswers, code: int) -> Ranking:
    """The rows by the probability of one class."""
    ranks = ranks_but_for_rounding(probabilities_of(answers)[:, code], _rounding)
    return Ranking(ranks, answers.truth == code, answers.weights)


def auc(without: Sequence[str] = ()) -> Metric:
    """AUC of two classes by the probability of the second; of more the mean of each against the rest.

    The classes in ``without`` are left out of this mean, but their rows still count among the rest.
    """

    def rankings(answers: LabelAnswers) -> list[Ranking]:
        if len(answers.classes) == 2:
            return [_ranking(answers, 1)]
        return [_ranking(answers, code) for code, name in enumerate(answers.classes) if name not in without]

    def enough_rows(answers: LabelAnswers) -> Undefined | None:
        every_class_is_rare = set(answers.classes) <= set(without)
        return (
            Undefined("every class has fewer rows than there are splits", STRATIFIED)
            if every_class_is_rare
            else None
        )

    def marks(answers: LabelAnswers) -> tuple[str, ...]:
        return absent_classes(answers, without) if len(answers.classes) > 2 else ()

    metric = area("auc", LabelAnswers, rankings, ONE_CLASS, marks=marks, without=auc)
    return guarded(metric, probabilities_given, enough_rows)


def auc_of_class(label: str) -> Metric:
    """AUC of one class against the rest, by the probability of that class."""

    def ranking(answers: LabelAnswers) -> list[Ranking]:
        return [_ranking(answers, answers.classes.index(label))]

    why = Undefined(f"the test rows do not hold both {label} and another class", STRATIFIED)
    return guarded(area(f"auc[{label}]", LabelAnswers, ranking, why), class_known(label), probabilities_given)


ONE_CLASS = Undefined("only one class among the test rows", STRATIFIED)
declare(auc())
OF_ONE_CLASS["auc"] = auc_of_class
