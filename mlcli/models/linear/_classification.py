"""What the linear classifiers share: linear scores of classes, and how they become probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, RowExplainer
from mlcli.core.params import learned
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.calibration import of_all_classes, softmax
from mlcli.engines.linear_objective import LOGISTIC, Link
from mlcli.engines.linear_scores import SCORES, linear_scores, linear_terms, terms
from mlcli.models.linear._design import Design
from mlcli.tasks.supervised import Classifier, LabelledRows


@dataclass(kw_only=True, eq=False)
class LinearScores(Classifier, CountsParameters, RowExplainer):
    """A classifier whose outputs are linear functions of the columns."""

    adjustable: ClassVar[tuple[str, ...]] = ("coefficients_", "level_")

    coefficients_: Array = learned("outputs", "columns")
    """Outputs × columns."""
    centre_: Array = learned("columns")
    level_: Array = learned("outputs")
    """The scores at the centre."""
    present_: Codes = learned("present")
    """The classes with training rows."""

    def note_present(self, data: LabelledRows) -> Rows:
        """Store which classes have training rows, and return the index of each row's class among them."""
        self.present_ = np.flatnonzero(data.class_totals > 0).astype(np.int32)
        return np.searchsorted(self.present_, data.y)

    def scores(self, table: Table) -> Array:
        """Rows × outputs."""
        unit = 1 + np.abs(self.level_)
        return linear_scores(table.numbers, self.centre_, self.coefficients_, self.level_, unit)

    @abstractmethod
    def score_names(self) -> Sequence[str]:
        """What each output scores."""

    def present_names(self) -> list[str]:
        """The names of the classes with training rows."""
        return [self.classes_[k] for k in self.present_]

    def explain_answer(self, table: Table) -> findings.Explanation:
        """Each score, term by term."""
        if not len(self.level_):
            return ()
        names = self.score_names()
        return (linear_terms(table, self.coefficients_, self.centre_, self.level_, names, SCORES),)

    def coefficient_table(self, note: str = "", intercept: bool = True) -> findings.Table:
        """The coefficients of each output by column."""
        named = terms(self.columns_, self.coefficients_, self.centre_, self.level_, intercept)
        rows: tuple[tuple[findings.Entry, ...], ...] = tuple((name, *values.tolist()) for name, values in named)
        return findings.Table(
            "Coefficients", ("column", *self.score_names()), rows, note=note, code="coefficients"
        )

    def check_learned(self) -> None:
        """Refuse scores of other classes."""
        if not len(self.present_) or not np.isin(self.present_, np.arange(len(self.classes_))).all():
            raise ValueError("classes that are not there")
        if len(self.level_) != len(self.score_names()):
            raise ValueError(f"learned arrays that do not fit {len(self.score_names())} outputs")


@dataclass(frozen=True)
class Subproblem:
    """Coefficients that are minimised on their own: those of all classes, or of one against the rest."""

    outcomes: Array
    """1 where a row (column) is of the class of an output (line), for all classes but the first."""
    spread: Array
    """From coefficients to those of the outputs that are learned: orthonormal, so that the penalty is the same."""
    mixing: Array
    """From coefficients to those of scores less the score of the first class."""


@dataclass(kw_only=True, eq=False)
class LinearLikelihood(LinearScores):
    """Scores that a link makes probabilities of.

    Two classes have one score, by either strategy: the log-odds of the second one. More have a score each.
    """

    @property
    def strategy(self) -> str:
        """How more than two classes are separated: softmax or one-against-rest."""
        return "softmax"

    @property
    def link_function(self) -> Link:
        """How a score becomes a probability."""
        return LOGISTIC

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether each logistic score is the logarithm of odds by itself."""
        return len(self.present_) == 2 or self._one_against_rest

    @property
    def _one_against_rest(self) -> bool:
        return len(self.present_) > 2 and self.strategy == "one-against-rest"

    def subproblems(self, data: LabelledRows, sparse: bool = False) -> list[Subproblem]:
        """What is minimised, each on its own; notes which classes are there.

        The best softmax scores add up to 0, so they have one coordinate less than there are classes. A penalty on
        absolute values (``sparse``) makes a weight vector for each class unique.
        """
        y = self.note_present(data)
        classes = len(self.present_)
        if classes == 2 or self._one_against_rest:
            positives = [1] if classes == 2 else range(classes)
            return [Subproblem(np.asarray(y == k, np.float64)[None, :], np.eye(1), np.eye(1)) for k in positives]
        spread = np.eye(classes) if sparse and classes > 1 else contrasts(classes)
        outcomes = np.array([y == k for k in range(1, classes)], np.float64).reshape(classes - 1, len(y))
        return [Subproblem(outcomes, spread, spread[1:] - spread[0])]

    def learn_coefficients(self, design: Design, w: Array) -> None:
        """Store the coefficients of standard columns, and of the intercept, of all outputs."""
        self.centre_, self.level_ = design.centre, w[:, -1]
        self.coefficients_ = design.coefficients(w[:, :-1] / design.scale)

    def predict_proba(self, table: Table) -> Array:
        """Probabilities from linear scores; a class without training rows gets 0."""
        scores, link = self.scores(table), self.link_function
        if len(self.present_) != 2:
            shares = softmax(link.log_share(scores) if self._one_against_rest else scores)
        elif link is LOGISTIC:
            shares = softmax(np.concatenate([np.zeros((1, len(scores))), scores.T]).T)
        else:
            shares = np.exp(np.hstack([link.log_rest(scores), link.log_share(scores)]))
        return of_all_classes(shares, self.class_totals_)

    def score_names(self) -> Sequence[str]:
        """What each output scores."""
        names = self.present_names()
        if len(names) == 2:
            return [f"{names[1]} against {names[0]}"]
        return [f"{name} against the rest" for name in names] if self._one_against_rest else names


@dataclass(kw_only=True, eq=False)
class LinearMargins(LinearScores):
    """Linear scores of sides: one of the second class against the first, or of each class against the rest.

    Probabilities are softmax of sharpness × scores, with the sharpness that makes the training rows likeliest:
    they say which rows are surer, and never change which score is highest.
    """

    sharpness_: float = learned()

    def sides(self, data: LabelledRows) -> Array:
        """±1 for the rows (last axis) of each output; notes which classes are there."""
        self.note_present(data)
        positives = self.present_[1:] if len(self.present_) <= 2 else self.present_
        return np.where(data.y == positives[:, None], 1.0, -1.0)

    def learn_scores(self, data: LabelledRows, coefficients: Array, level: Array, centre: Array) -> None:
        """Store the linear functions of all outputs, and find the sharpness of their scores."""
        self.coefficients_, self.level_, self.centre_ = coefficients, level, centre
        index = np.searchsorted(self.present_, data.y)
        self.sharpness_ = sharpness(self._class_scores(data.table), index, data.weights)

    def _class_scores(self, table: Table) -> Array:
        """Rows × classes that are there; the first of two has the score 0."""
        scores = self.scores(table)
        return np.hstack([np.zeros((len(scores), len(self.present_) - scores.shape[1])), scores])

    def predict_proba(self, table: Table) -> Array:
        """Softmax of the sharpened scores; a class without training rows gets 0."""
        return of_all_classes(softmax(self.sharpness_ * self._class_scores(table)), self.class_totals_)

    def score_names(self) -> Sequence[str]:
        """What each output scores."""
        names = self.present_names()
        if len(names) <= 2:
            return [f"{name} against {names[0]}" for name in names[1:]]
        return [f"{name} against the rest" for name in names]


def contrasts(classes: int) -> Array:
    """An orthonormal basis (classes × classes − 1) of the vectors that add up to 0 (Helmert 1876)."""
    basis = np.zeros((classes, classes - 1))
    for k in range(1, classes):
        basis[:k, k - 1], basis[k, k - 1] = -1 / np.sqrt(k * (k + 1)), k / np.sqrt(k * (k + 1))
    return basis


def sharpness(scores: Array, index: Rows, weights: Array) -> float:
    """The a for which softmax of a × scores makes the classes of rows likeliest, by bisection on the slope.

    ``index`` is the class of each row. One more row than there are says nothing (Platt 1999 counts so), else
    separated classes would have no finite a.
    """
    if scores.shape[1] < 2 or not np.ptp(scores):
        return 1.0
    unit = scores / np.abs(scores).max()
    doubt = 1 / (weights.sum() + 2)
    targets = ((1 - doubt) * np.eye(scores.shape[1]) + doubt / scores.shape[1])[index]
    low, high = -14.0, 14.0  # the logarithm of a, for scores of size 1
    for _ in range(60):
        middle = (low + high) / 2
        errors = softmax(np.exp(middle) * unit) - targets
        if weights @ (errors * unit).sum(axis=1) < 0:
            low = middle
        else:
            high = middle
    return float(np.exp(low) / np.abs(scores).max())
