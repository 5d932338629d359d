"""Classes by linear scores: what is minimised over coefficients, and how scores become probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, RowExplainer
from mlcli.core.params import learned
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.calibration import of_all_classes, softmax
from mlcli.engines.linear_scores import SCORES, linear_scores, linear_terms, terms
from mlcli.engines.losses import LOGISTIC, Link
from mlcli.models.linear._design import Design
from mlcli.tasks.classification import Classifier, LabelledRows

LEAST_SHARP, MOST_SHARP, BISECTIONS = -14.0, 14.0, 60
"""Between which logarithms the sharpness of scores of size 1 is looked for."""


@dataclass(frozen=True)
class Subproblem:
    """Coefficients that are minimised on their own: those of all classes, or of one against the rest."""

    outcomes: Array
    """1 where a row (column) is of the class of an output (line), for all classes but the first."""
    spread: Array
    """From coefficients to those of the outputs that are learned: orthonormal, so that the penalty is the same."""
    mixing: Array
    """From coefficients to those of scores less the score of the first class."""


@dataclass(frozen=True)
class Scheme:
    """One way to tell classes apart by linear scores."""

    subproblems: Callable[[Codes, int], Sequence[Subproblem]]
    """What is minimised, each on its own, for the codes of the rows and the number of classes."""
    probabilities: Callable[[Array, Link], Array]
    """Probabilities (n × classes) from scores (n × outputs)."""
    outputs: Callable[[Sequence[str]], Sequence[str]]
    """What each output scores, in words, from the names of the classes."""
    log_odds: bool
    """Whether each logistic score is the logarithm of odds by itself."""


def _one_score(positive: Array) -> Subproblem:
    return Subproblem(np.asarray(positive, np.float64)[None, :], np.eye(1), np.eye(1))


def _all_classes(y: Codes, classes: int) -> Sequence[Subproblem]:
    """The best scores add up to 0, so they have one coordinate less than there are classes."""
    spread = contrasts(classes)
    outcomes = np.array([y == k for k in range(1, classes)], np.float64).reshape(classes - 1, len(y))
    return [Subproblem(outcomes, spread, spread[1:] - spread[0])]


def _each_class(y: Codes, classes: int) -> Sequence[Subproblem]:
    """A weight vector for each class, which an absolute penalty makes unique."""
    (whole,) = _all_classes(y, classes)
    first = np.zeros((len(whole.outcomes), classes))
    first[:, :1] = -1.0
    return [Subproblem(whole.outcomes, np.eye(classes), first + np.eye(classes)[1:])]


def contrasts(classes: int) -> Array:
    """An orthonormal basis (classes × classes − 1) of what adds up to 0 (Helmert 1876)."""
    basis = np.zeros((classes, classes - 1))
    for k in range(1, classes):
        basis[:k, k - 1], basis[k, k - 1] = -1 / np.sqrt(k * (k + 1)), k / np.sqrt(k * (k + 1))
    return basis


def _probabilities_of_two(scores: Array, link: Link) -> Array:
    """Those of the second class, and what is left of 1."""
    if link is LOGISTIC:
        return softmax(np.concatenate([np.zeros((1, len(scores))), scores.T]).T)
    return np.exp(np.hstack([link.log_rest(scores), link.log_share(scores)]))


BINARY = Scheme(
    subproblems=lambda y, classes: [_one_score(y == 1)],
    probabilities=_probabilities_of_two,
    outputs=lambda names: [f"{names[1]} against {names[0]}"],
    log_odds=True,
)
SOFTMAX = Scheme(
    subproblems=_all_classes, probabilities=lambda scores, link: softmax(scores), outputs=list, log_odds=False
)
SPARSE_SOFTMAX = replace(SOFTMAX, subproblems=_each_class)
ONE_AGAINST_REST = Scheme(
    subproblems=lambda y, classes: [_one_score(y == k) for k in range(classes)],
    probabilities=lambda scores, link: softmax(link.log_share(scores)),
    outputs=lambda names: [f"{name} against the rest" for name in names],
    log_odds=True,
)
SCHEMES = {"softmax": SOFTMAX, "one-against-rest": ONE_AGAINST_REST}


def scheme_of(multiclass: str, classes: int, sparse: bool = False) -> Scheme:
    """The scheme for so many classes: two have one score by any, one has the probability 1."""
    few = {1: SOFTMAX, 2: BINARY}
    if classes in few:
        return few[classes]
    return SPARSE_SOFTMAX if sparse and multiclass == "softmax" else SCHEMES[multiclass]


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
        of_row = self.coefficients_, self.centre_, self.level_
        return (linear_terms(table, *of_row, self.score_names(), SCORES),) if len(self.level_) else ()

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


@dataclass(kw_only=True, eq=False)
class LinearLikelihood(LinearScores):
    """Scores that a link makes probabilities of."""

    @property
    @abstractmethod
    def scheme(self) -> Scheme:
        """The scheme for the classes that have training rows."""

    @property
    def link_function(self) -> Link:
        """How a score becomes a probability."""
        return LOGISTIC

    def subproblems(self, data: LabelledRows) -> Sequence[Subproblem]:
        """What is minimised; notes which classes are there."""
        self.present_ = np.flatnonzero(data.class_totals > 0).astype(np.int32)
        return self.scheme.subproblems(np.searchsorted(self.present_, data.y).astype(np.int32), len(self.present_))

    def learn_coefficients(self, design: Design, w: Array) -> None:
        """Take over the coefficients of standard columns, and of the ones, of all outputs."""
        self.centre_, self.level_ = design.centre, w[:, -1]
        self.coefficients_ = design.coefficients(w[:, :-1] / design.scale)

    def predict_proba(self, table: Table) -> Array:
        """Probabilities from linear scores; a class without training rows gets 0."""
        shares = self.scheme.probabilities(self.scores(table), self.link_function)
        return of_all_classes(shares, self.class_totals_)

    def score_names(self) -> Sequence[str]:
        """What each output scores."""
        return self.scheme.outputs(self.present_names())


@dataclass(kw_only=True, eq=False)
class LinearMargins(LinearScores):
    """Linear scores of sides: one of the second class against the first, or of each class against the rest.

    Probabilities are softmax of sharpness × scores, with the sharpness that makes the training rows likeliest:
    they say which rows are surer, and never change which score is highest.
    """

    sharpness_: float = learned()

    def sides(self, data: LabelledRows) -> Array:
        """±1 for the rows (last axis) of each output; notes which classes are there."""
        self.present_ = np.flatnonzero(data.class_totals > 0).astype(np.int32)
        against = {1: self.present_[:0], 2: self.present_[1:]}.get(len(self.present_), self.present_)
        return np.where(data.y == against[:, None], 1.0, -1.0)

    def learn_scores(self, data: LabelledRows, coefficients: Array, level: Array, centre: Array) -> None:
        """Take over the linear functions of all outputs, and find the sharpness of their scores."""
        self.coefficients_, self.level_, self.centre_ = coefficients, level, centre
        index = np.searchsorted(self.present_, data.y)
        self.sharpness_ = sharpness(self._all_scores(data.table), index, data.weights)

    def _all_scores(self, table: Table) -> Array:
        """Rows × classes that are there; the first of two has the score 0."""
        scores = self.scores(table)
        beside = np.zeros((len(scores), len(self.present_) - scores.shape[1]))
        return np.hstack([beside, scores])

    def predict_proba(self, table: Table) -> Array:
        """Softmax of the sharpened scores; a class without training rows gets 0."""
        return of_all_classes(softmax(self.sharpness_ * self._all_scores(table)), self.class_totals_)

    def score_names(self) -> Sequence[str]:
        """What each output scores."""
        names = self.present_names()
        return MARGIN_NAMES.get(len(names), ONE_AGAINST_REST.outputs)(names)


MARGIN_NAMES: dict[int, Callable[[Sequence[str]], Sequence[str]]] = {1: lambda names: [], 2: BINARY.outputs}


def sharpness(scores: Array, place: Rows, weights: Array) -> float:
    """The a for which softmax of a × scores makes the classes of rows likeliest, by bisection on the slope.

    One more row than there are says nothing (Platt 1999 counts so), else separated classes would have no finite a.
    """
    if scores.shape[1] < 2 or not np.ptp(scores):
        return 1.0
    unit = scores / np.abs(scores).max()
    doubt = 1 / (weights.sum() + 2)
    truths = (1 - doubt) * np.eye(scores.shape[1]) + doubt / scores.shape[1]

    def falling(log: float) -> bool:
        away = softmax(np.exp(log) * unit) - truths[place]
        return bool(weights @ (away * unit).sum(axis=1) < 0)

    low, high = LEAST_SHARP, MOST_SHARP
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) else (low, middle)
    return float(np.exp(low) / np.abs(scores).max())
