"""What the results of some kinds of task hold beside scores: the oddest rows of detectors, association rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np

from mlcli.core.serialise import HIDDEN, shown
from mlcli.core.tables import Rows
from mlcli.metrics.scores.unsupervised import rule_shares
from mlcli.scoring.model_results import ModelResult, judged_answers
from mlcli.tasks.anomaly import ScoreAnswers, main_reasons
from mlcli.tasks.association import RuleAnswers, conviction
from mlcli.tasks.unsupervised import UNKNOWN

ODDEST = 10
"""How many of the oddest rows are listed."""


@dataclass(frozen=True)
class Reason:
    """A column that adds to the score of a row; a share below 0 where the cell is lower than usual."""

    column: str
    share: float


@dataclass(frozen=True)
class OddRow:
    """A row with its anomaly score; rows count from 1."""

    row: int
    score: float
    label: str | None
    because: tuple[Reason, ...]
    flagged: bool = field(default=False, metadata=HIDDEN)


@dataclass(frozen=True)
class RuleMeasures:
    """The measures of a rule on the training rows."""

    support: float
    confidence: float
    lift: float


@dataclass(frozen=True)
class AssociationRule:
    """A rule with its measures on the test rows; None where it never applies."""

    when: str = field(metadata=shown("if"))
    then: str
    support: float
    confidence: float | None
    lift: float | None
    conviction: float | None
    """None where the rule is never wrong, too."""
    learned: RuleMeasures
    found_in: int | None = field(default=None, metadata=shown(optional=True))
    """In how many splits, where there are several."""


class KindFields(TypedDict, total=False):
    """The fields that kinds of task add to the record of a model."""

    oddest: tuple[OddRow, ...]
    thresholds: tuple[float, ...]
    flagged: tuple[OddRow, ...]
    rules: tuple[AssociationRule, ...]


def oddest_first(answers: ScoreAnswers) -> Rows:
    """The indices of the predictions, the oddest first; of a row scored several times the highest score."""
    order = np.argsort(-answers.score, kind="stable")
    first = np.unique(answers.rows[order], return_index=True)[1]
    return order[np.sort(first)]


def odd_rows(answers: ScoreAnswers, count: int) -> tuple[OddRow, ...]:
    """The oddest rows, with the columns that make them so."""
    rows: list[OddRow] = []
    for index in oddest_first(answers)[:count].tolist():
        truth = int(answers.truth[index])
        label = answers.classes[truth] if answers.classes and truth != UNKNOWN else None
        reasons = main_reasons(answers.columns, answers.reasons[index], answers.shares[index])
        because = tuple(Reason(column, share) for column, share in reasons)
        flagged = answers.threshold is not None and bool(answers.flagged[index])
        rows.append(OddRow(int(answers.rows[index]) + 1, float(answers.score[index]), label, because, flagged))
    return tuple(rows)


def anomaly_fields(result: ModelResult) -> KindFields:
    """The oddest rows and, where thresholds were chosen, these and every row that some split has flagged."""
    answers: ScoreAnswers = result.answers
    if answers.threshold is None:
        return {"oddest": odd_rows(answers, ODDEST)}
    flagged = answers.take(np.flatnonzero(answers.flagged))
    return {
        "oddest": odd_rows(answers, ODDEST),
        "thresholds": tuple(float(split.threshold[0]) for split in judged_answers(result.cell_result)),
        "flagged": odd_rows(flagged, len(flagged)),
    }


def rules_of(answers: RuleAnswers) -> Iterator[AssociationRule]:
    """Every rule with its measures on the test rows."""
    several = max(answers.found, default=1) > 1
    shares = [part[0].tolist() for part in rule_shares(answers, answers.weights[None, :])]
    for index, (support, when, then) in enumerate(zip(*shares, strict=True)):
        confidence = support / when if when > 0 else None
        yield AssociationRule(
            answers.when[index],
            answers.then[index],
            support,
            confidence,
            confidence / then if confidence is not None and then > 0 else None,
            None if confidence is None else conviction(confidence, then),
            RuleMeasures(answers.support[index], answers.confidence[index], answers.lift[index]),
            answers.found[index] if several else None,
        )


def association_fields(result: ModelResult) -> KindFields:
    """The rules."""
    return {"rules": tuple(rules_of(result.answers))}
