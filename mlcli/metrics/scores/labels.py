"""Scores of predicted classes: shares of right and wrong rows, agreement beyond chance, rates of one class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array
from mlcli.metrics.base import Metric, Undefined
from mlcli.metrics.confusion import COST, Costs, Tallies, cost_matrix, ratio, tallies_of
from mlcli.metrics.registry import (
    Quotient,
    absent_classes,
    class_rate,
    guarded,
    mean_of_rows,
    mean_over_rows,
    of_tallies,
    share_of_rows,
)
from mlcli.tasks.supervised import LabelAnswers

STRATIFIED = "stratified splits, or fewer, would help"


@share_of_rows("accuracy", LabelAnswers, better="high")
def accuracy(answers: LabelAnswers) -> Array:
    """The share of rows whose class is predicted correctly."""
    right: Array = (answers.truth == answers.predicted).astype(np.float64)
    return right


@share_of_rows("error-rate", LabelAnswers, better="low")
def error_rate(answers: LabelAnswers) -> Array:
    """The share of rows that are predicted as another class."""
    return 1 - accuracy(answers)


def cost_of(costs: Costs | None) -> Callable[[LabelAnswers], Array]:
    """The cost of the prediction for each row."""

    def per_row(answers: LabelAnswers) -> Array:
        return cost_matrix(costs, answers.classes)[answers.truth, answers.predicted]

    return per_row


mean_of_rows(COST, LabelAnswers, better="low")(cost_of(None))


def cost_metric(costs: Costs, classes: Sequence[str]) -> Metric:
    """The mean cost of a row by a matrix of costs; ``classes`` are checked where given."""
    if classes:
        cost_matrix(costs, classes)
    values = [0.0, 1.0, *(float(value) for row in costs.values() for value in row.values())]
    low, high = min(values), max(values)
    return guarded(mean_over_rows(COST, LabelAnswers, cost_of(costs), better="low", low=low, high=high))


def _one_class(tallies: Tallies) -> Undefined:
    truths = np.count_nonzero(tallies.support)
    if truths < 2:
        return Undefined("only one class among the test rows", STRATIFIED)
    return Undefined("the same class is predicted for every row")


@of_tallies("balanced-accuracy", why=_one_class, better="high", low=0.0, high=1.0, marks=absent_classes)
def balanced_accuracy(tallies: Tallies) -> Array:
    """The mean recall of the classes among the truth."""
    present = tallies.support > 0
    recalls = np.where(present, ratio(tallies.true_positives, tallies.support), 0)
    return ratio(recalls.sum(axis=-1), present.sum(axis=-1))


@of_tallies("mcc", why=_one_class, better="high", low=-1.0, high=1.0)
def mcc(tallies: Tallies) -> Array:
    """Matthews' correlation of truth and predictions (Gorodkin's form for more than two classes)."""
    actual, predicted = tallies.support, tallies.predicted
    varied = [_varied(rows) for rows in (actual, predicted)]
    return ratio(_beyond_chance(tallies), np.sqrt(varied[0] * varied[1]))


def _certain_agreement(tallies: Tallies) -> Undefined:
    return Undefined("truth and predictions are one and the same class, so chance agrees always", STRATIFIED)


@of_tallies("kappa", why=_certain_agreement, better="high", low=-1.0, high=1.0)
def kappa(tallies: Tallies) -> Array:
    """Cohen's kappa: agreement beyond what the class shares of truth and predictions give by chance."""
    actual, predicted = tallies.support, tallies.predicted
    varied = np.count_nonzero(tallies.occurring, axis=-1) > 1
    against_chance = actual.sum(axis=-1) * predicted.sum(axis=-1) - (actual * predicted).sum(axis=-1)
    return ratio(_beyond_chance(tallies), np.where(varied, against_chance, 0))


def _beyond_chance(tallies: Tallies) -> Array:
    """The rows predicted correctly less those expected by chance, times all rows."""
    by_chance = (tallies.support * tallies.predicted).sum(axis=-1)
    return np.asarray(tallies.true_positives.sum(axis=-1) * tallies.support.sum(axis=-1) - by_chance)


def _varied(rows: Array) -> Array:
    """How many pairs of rows are of two classes; 0 exactly where only one class has any."""
    several = np.count_nonzero(rows, axis=-1) > 1
    return np.where(several, rows.sum(axis=-1) ** 2 - (rows**2).sum(axis=-1), 0)


LARGER = "larger splits would help"


@class_rate("precision", better="high", empty="{} is never predicted", hint=LARGER)
def precision(tallies: Tallies) -> tuple[Array, Array]:
    """Of the rows predicted as a class, the share that belongs to it."""
    return tallies.true_positives, tallies.predicted


@class_rate("recall", better="high", empty="no test row is {}", hint=STRATIFIED)
def recall(tallies: Tallies) -> tuple[Array, Array]:
    """Of the rows of a class, the share that is predicted as it."""
    return tallies.true_positives, tallies.support


@class_rate("f1", better="high", empty="{} is neither among the true nor the predicted classes", hint=STRATIFIED)
def f1(tallies: Tallies) -> tuple[Array, Array]:
    """The harmonic mean of precision and recall of a class."""
    return 2 * tallies.true_positives, tallies.predicted + tallies.support


@class_rate("specificity", better="high", empty="every test row is {}", hint=STRATIFIED)
def specificity(tallies: Tallies) -> tuple[Array, Array]:
    """Of the rows of other classes, the share that is not predicted as this one."""
    return tallies.true_negatives, tallies.negatives


@class_rate("fpr", better="low", empty="every test row is {}", hint=STRATIFIED)
def fpr(tallies: Tallies) -> tuple[Array, Array]:
    """False positive rate: of the rows of other classes, the share that is predicted as this one."""
    return tallies.false_positives, tallies.negatives


@class_rate("fnr", better="low", empty="no test row is {}", hint=STRATIFIED)
def fnr(tallies: Tallies) -> tuple[Array, Array]:
    """False negative rate: of the rows of a class, the share that is predicted as another one."""
    return tallies.false_negatives, tallies.support


@dataclass(frozen=True)
class ClassRates:
    """The rates of one class; None where a rate is 0/0."""

    label: str
    precision: float | None
    recall: float | None
    f1: float | None
    specificity: float | None
    fpr: float | None
    fnr: float | None
    support: float
    """Rows of this class (their weight)."""
    predicted: float
    """Rows predicted as this class (their weight)."""
    lean: float
    """Share of the answers minus share of the truth: above 0, the model leans towards this class."""
    true_positives: float = 0.0
    false_positives: float = 0.0
    false_negatives: float = 0.0
    true_negatives: float = 0.0


RATES: dict[str, Quotient] = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "specificity": specificity,
    "fpr": fpr,
    "fnr": fnr,
}


def one_against_rest(answers: LabelAnswers) -> tuple[ClassRates, ...]:
    """The rates of every class, in the order of the classes."""
    tallies = tallies_of(answers)
    rates = {name: ratio(*parts(tallies)) for name, parts in RATES.items()}
    total = max(float(tallies.support.sum()), np.finfo(np.float64).tiny)
    lean = (tallies.predicted - tallies.support) / total
    return tuple(
        ClassRates(
            label=label,
            support=float(tallies.support[code]),
            predicted=float(tallies.predicted[code]),
            true_positives=float(tallies.true_positives[code]),
            false_positives=float(tallies.false_positives[code]),
            false_negatives=float(tallies.false_negatives[code]),
            true_negatives=float(tallies.true_negatives[code]),
            lean=float(lean[code]),
            **{name: None if np.isnan(values[code]) else float(values[code]) for name, values in rates.items()},
        )
        for code, label in enumerate(answers.classes)
    )
