"""Fairness scores: the largest difference between groups, over all sensitive columns, and a ratio.

Each column makes its own groups; of several columns the worst counts. With two classes the last is the favourable
one; with more, the worst class counts. Where a protocol has several splits, each has its own value, and groups
that are small within a split lie far apart by chance: `average: pooled` takes all predictions at once.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mlcli.core.rows import groups_by, sensitive_names
from mlcli.core.tables import Array
from mlcli.metrics.base import Undefined
from mlcli.metrics.fairness import CRITERIA, FEW, differences_under
from mlcli.metrics.registry import weighted_score
from mlcli.tasks.supervised import LabelAnswers

NOT_SENSITIVE = Undefined("no column of levels is sensitive", "--sensitive COLUMN, or the role in the sidecar")
TOO_FEW = Undefined(f"no two groups have {FEW} rows that its rates are of", "average: pooled would help")


def has_groups(answers: LabelAnswers) -> Undefined | None:
    """The precondition: a sensitive column of levels."""
    return None if sensitive_names(answers.header.context) else NOT_SENSITIVE


def favourable_codes(classes: tuple[str, ...]) -> tuple[int, ...]:
    """The last of two classes; each of more."""
    return (1,) if len(classes) == 2 else tuple(range(len(classes)))


def _extremes(answers: LabelAnswers, rate: str, weightings: Array) -> Array:
    """Largest and smallest values (cases × 2 × B) of a rate, for each sensitive column and class."""
    context = answers.header.context
    cases = [
        differences_under(answers, groups_by(context, [name]), code, rate, weightings)
        for name in sensitive_names(context)
        for code in favourable_codes(answers.classes)
    ]
    return np.array(cases)


def _worst(values: Array) -> Array:
    """The largest over cases; NaN where none is known."""
    known = np.where(np.isnan(values), -np.inf, values).max(axis=0)
    return np.where(np.isfinite(known), known, np.nan)


def difference(criterion: str, answers: LabelAnswers, weightings: Array) -> Array:
    """The largest difference of the rates that a criterion wants to be the same."""
    results = [_extremes(answers, rate, weightings) for rate in CRITERIA[criterion]]
    return _worst(np.concatenate([values[:, 0] - values[:, 1] for values in results]))


for _criterion in CRITERIA:
    _declared = weighted_score(
        _criterion, LabelAnswers, needs=(has_groups,), why=TOO_FEW, better="low", low=0.0, high=1.0
    )
    _declared(partial(difference, _criterion))


@weighted_score(
    "disparate-impact", LabelAnswers, needs=(has_groups,), why=TOO_FEW, better="high", low=0.0, high=1.0
)
def disparate_impact(answers: LabelAnswers, weightings: Array) -> Array:
    """The smallest share selected over the largest: below 0.8 fails the four-fifths rule of US employment law."""
    result = _extremes(answers, "selected", weightings)
    with np.errstate(invalid="ignore", divide="ignore"):
        return -_worst(-(result[:, 1] / result[:, 0]))
