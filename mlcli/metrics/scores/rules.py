"""Scores of rules from the judged rows alone: how often they apply there, hold there, and say more than chance.

Of a rule A → B, a = share of the judged rows that have A, b those that have B, s those that have both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.declaring import score
from mlcli.tasks.association import UNKNOWN, RuleAnswers

NO_RULE = Undefined("no rule was found", "a lower min_support or min_confidence would find some")
NEVER_WRONG = Undefined("no rule is ever wrong")
SILENT = "rules that apply to none of the judged rows, or expect what none has, are left out of the mean"


def judged_shares(answers: RuleAnswers, weightings: Array) -> tuple[Array, Array, Array]:
    """s, a and b of every rule (B × rules) under weightings (B × n), over the splits that have found it."""
    known = (answers.fires != UNKNOWN).astype(np.float64)
    fires, holds = (
        np.where(answers.fires == UNKNOWN, 0, part).astype(np.float64) for part in (answers.fires, answers.holds)
    )
    total = weightings @ known
    s, a, b = (ratio(weightings @ part, total) for part in (fires * holds, fires, holds))
    return s, a, b


def _supports(answers: RuleAnswers, weightings: Array) -> Array:
    return judged_shares(answers, weightings)[0]


def _confidences(answers: RuleAnswers, weightings: Array) -> Array:
    s, a, _ = judged_shares(answers, weightings)
    return ratio(s, a)


def _lifts(answers: RuleAnswers, weightings: Array) -> Array:
    s, a, b = judged_shares(answers, weightings)
    return ratio(s, a * b)


def mean_conviction(answers: RuleAnswers, weightings: Array) -> Array:
    """Under each weighting the mean of 1 - b over the mean of 1 - confidence, of the rules that apply."""
    s, a, b = judged_shares(answers, weightings)
    wrong = 1.0 - ratio(s, a)
    applies = ~np.isnan(wrong)
    by_chance, found = (np.where(applies, part, 0.0).sum(axis=1) for part in (1.0 - b, wrong))
    return ratio(by_chance, found)


def _errors(answers: RuleAnswers, weightings: Array) -> Array:
    distances: Array = np.abs(judged_shares(answers, weightings)[0] - np.array(answers.support))
    return distances


Values = Callable[[RuleAnswers, Array], Array]


def mean_over(values: Values) -> Callable[[RuleAnswers, Array], Array]:
    """The mean of a value of rules under each weighting; rules that have none are left out."""

    def under(answers: RuleAnswers, weightings: Array) -> Array:
        found = values(answers, weightings)
        defined = ~np.isnan(found)
        return ratio(np.where(defined, found, 0.0).sum(axis=1), defined.sum(axis=1).astype(np.float64))

    return under


def _left_out(answers: RuleAnswers) -> tuple[str, ...]:
    return (SILENT,) if np.isnan(_lifts(answers, answers.weights[None, :])).any() else ()


def _at_once(under: Callable[[RuleAnswers, Array], Array], answers: RuleAnswers) -> Score:
    if not answers.when:
        return NO_RULE
    value = float(under(answers, answers.weights[None, :])[0])
    return Undefined("no rule applies to a judged row") if np.isnan(value) else value


mean_lift, mean_confidence = mean_over(_lifts), mean_over(_confidences)
mean_support, mean_error = mean_over(_supports), mean_over(_errors)


@score("lift", RuleAnswers, better="high", low=0.0, under=mean_lift, marks=_left_out)
def lift(answers: RuleAnswers) -> Score:
    """Mean over the rules of s / (a b): 1 where the condition says nothing of what is expected."""
    return _at_once(mean_lift, answers)


@score("confidence", RuleAnswers, better="high", low=0.0, high=1.0, under=mean_confidence, marks=_left_out)
def confidence(answers: RuleAnswers) -> Score:
    """Mean over the rules of s / a: how often a rule holds where it applies."""
    return _at_once(mean_confidence, answers)


@score("conviction", RuleAnswers, better="high", low=0.0, under=mean_conviction, marks=_left_out)
def conviction(answers: RuleAnswers) -> Score:
    """Mean over the rules of 1 - b, over that of 1 - s / a: times as often wrong if chance alone decided."""
    found = _at_once(mean_conviction, answers)
    sure = isinstance(found, Undefined) and not isinstance(confidence(answers), Undefined)
    return NEVER_WRONG if sure else found


@score("support", RuleAnswers, better="high", low=0.0, high=1.0, under=mean_support)
def support(answers: RuleAnswers) -> Score:
    """Mean over the rules of s: the share of rows that have all items of a rule."""
    return _at_once(mean_support, answers)


@score("support-error", RuleAnswers, better="low", low=0.0, high=1.0, under=mean_error)
def support_error(answers: RuleAnswers) -> Score:
    """Mean over the rules of the distance between the support in the judged and in the training rows."""
    return _at_once(mean_error, answers)


@score("rules", RuleAnswers, better="high", low=0.0)
def rules(answers: RuleAnswers) -> Score:
    """How many rules were found."""
    return float(len(answers.when))
