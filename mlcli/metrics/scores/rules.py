"""Scores of rules from the judged rows alone: how often they apply there, hold there, and say more than chance.

Of a rule A → B, a = share of the judged rows that have A, b those that have B, s those that have both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.tables import Array
from mlcli.metrics.base import Score, Undefined
from mlcli.metrics.confusion import ratio
from mlcli.metrics.declaring import SHARE, Under, score, weighted_score
from mlcli.tasks.association import UNKNOWN, RuleAnswers

LOWER_LIMITS = "a lower min_support or min_confidence would find some"
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


def some_rule(answers: RuleAnswers) -> Undefined | None:
    """The precondition of what rules say."""
    return None if answers.when else Undefined("no rule was found", LOWER_LIMITS)


def mean_over_rules(values: Under) -> Under:
    """The mean of a value of rules under each weighting; rules that have none are left out."""

    def under(answers: RuleAnswers, weightings: Array) -> Array:
        found = values(answers, weightings)
        defined = ~np.isnan(found)
        return ratio(np.where(defined, found, 0.0).sum(axis=1), defined.sum(axis=1).astype(np.float64))

    return under


def _silent(answers: RuleAnswers) -> tuple[str, ...]:
    s, a, b = judged_shares(answers, answers.weights[None, :])
    return (SILENT,) if np.isnan(ratio(s, a * b)).any() else ()


OF_RULES: dict[str, Any] = {"needs": (some_rule,), "why": Undefined("no rule applies to a judged row")}


@weighted_score("lift", RuleAnswers, better="high", low=0.0, marks=_silent, **OF_RULES)
@mean_over_rules
def lift(answers: RuleAnswers, weightings: Array) -> Array:
    """S / (a b): 1 where the condition says nothing of what is expected."""
    s, a, b = judged_shares(answers, weightings)
    return ratio(s, a * b)


@weighted_score("confidence", RuleAnswers, marks=_silent, **SHARE, **OF_RULES)
@mean_over_rules
def confidence(answers: RuleAnswers, weightings: Array) -> Array:
    """S / a: how often a rule holds where it applies."""
    s, a, _ = judged_shares(answers, weightings)
    return ratio(s, a)


def mean_conviction(answers: RuleAnswers, weightings: Array) -> Array:
    """Under each weighting the mean of 1 - b over the mean of 1 - confidence, of the rules that apply."""
    s, a, b = judged_shares(answers, weightings)
    wrong = 1.0 - ratio(s, a)
    applies = ~np.isnan(wrong)
    by_chance, found = (np.where(applies, part, 0.0).sum(axis=1) for part in (1.0 - b, wrong))
    return ratio(by_chance, found)


@score(
    "conviction",
    RuleAnswers,
    needs=(some_rule,),
    better="high",
    low=0.0,
    under=mean_conviction,
    marks=_silent,
)
def conviction(answers: RuleAnswers) -> Score:
    """Times as often wrong if chance alone decided."""
    weights = answers.weights[None, :]
    value = float(mean_conviction(answers, weights)[0])
    if not np.isnan(value):
        return value
    return OF_RULES["why"] if np.isnan(confidence(answers, weights)[0]) else Undefined("no rule is ever wrong")


@weighted_score("support", RuleAnswers, **SHARE, **OF_RULES)
@mean_over_rules
def support(answers: RuleAnswers, weightings: Array) -> Array:
    """s: the share of rows that have all items of a rule."""
    return judged_shares(answers, weightings)[0]


@weighted_score("support-error", RuleAnswers, better="low", low=0.0, high=1.0, **OF_RULES)
@mean_over_rules
def support_error(answers: RuleAnswers, weightings: Array) -> Array:
    """The distance between the support in the judged and in the training rows."""
    distances: Array = np.abs(judged_shares(answers, weightings)[0] - np.array(answers.support))
    return distances


@score("rules", RuleAnswers, better="high", low=0.0)
def rules(answers: RuleAnswers) -> Score:
    """How many rules were found."""
    return float(len(answers.when))
