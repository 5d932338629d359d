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
        result = values(answers, weightings)
        defined = ~np.isnan(result)
        return ratio(np.where(defined, result, 0.0).sum(axis=1), defined.sum(axis=1).astype(np.float64))

    return under


def _silent(answers: RuleAnswers) -> tuple[str, ...]:
    s, a, b = judged_shares(answers, answers.weights[None, :])
    return (SILENT,) if np.isnan(ratio(s, a * b)).any() else ()


NO_RULE_APPLIES = Undefined("no rule applies to a judged row")
OF_RULES: dict[str, Any] = {"needs": (some_rule,), "why": NO_RULE_APPLIES}


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


def why_no_conviction(answers: RuleAnswers) -> Undefined:
    """That no rule applies, or that none is ever wrong."""
    applies = not np.isnan(confidence(answers, answers.weights[None, :])[0])
    return Undefined("no rule is ever wrong") if applies else NO_RULE_APPLIES


@weighted_score(
    "conviction", RuleAnswers, needs=(some_rule,), why=why_no_conviction, better="high", low=0.0, marks=_silent
)
def conviction(answers: RuleAnswers, weightings: Array) -> Array:
    """Times as often wrong if chance alone decided: the mean of 1 - b over that of 1 - confidence."""
    s, a, b = judged_shares(answers, weightings)
    wrong = 1.0 - ratio(s, a)
    applies = ~np.isnan(wrong)
    by_chance, found = (np.where(applies, part, 0.0).sum(axis=1) for part in (1.0 - b, wrong))
    return ratio(by_chance, found)


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
