"""How fair answers are: rates by group and how far groups lie apart, similar rows, and what fairness costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mlcli.core.rows import SIMILARITY, evenly_spaced, groups_by, sensitive_names
from mlcli.core.serialise import shown
from mlcli.core.tables import Table
from mlcli.data.dataset import Dataset
from mlcli.metrics.fairness import (
    CRITERIA,
    FEW,
    Gap,
    GroupRates,
    IndividualFairness,
    gap,
    gower_distances,
    individual_fairness,
    rates_by_group,
)
from mlcli.metrics.pooling import distinct, joined
from mlcli.metrics.scores.fairness import favourable_codes
from mlcli.scoring.model_results import ModelResult, judged_answers
from mlcli.tasks.classification import LabelAnswers

MOST_ROWS = 1000
"""So many rows of a split are compared with each other; of more, these at even steps."""


@dataclass(frozen=True, eq=False)
class GroupFairness:
    """What is said of the groups that some columns make, for one class against the rest."""

    JSON_PROPERTIES: ClassVar[tuple[str, ...]] = ("gaps",)
    columns: tuple[str, ...]
    label: str = field(metadata=shown("class"))
    groups: Sequence[GroupRates]

    @property
    def name(self) -> str:
        """The columns."""
        return " × ".join(self.columns)

    @property
    def gaps(self) -> dict[str, Gap]:
        """How far the groups are from each criterion."""
        return {criterion: gap(criterion, self.groups) for criterion in CRITERIA}


@dataclass(frozen=True, eq=False)
class TradeOff:
    """One model: how accurate it is, and by criterion how far groups lie apart."""

    name: str
    method: str
    """With the steps that were asked for."""
    accuracy: float
    gaps: Mapping[str, float | None]

    def is_on_front(self, others: Sequence[TradeOff], criterion: str) -> bool:
        """Whether no other is at least as good in both accuracy and criterion, and better in one (Pareto)."""
        own = self.gaps[criterion]
        known = [(apart, other.accuracy) for other in others if (apart := other.gaps[criterion]) is not None]
        beside = [one for one in known if one != (own, self.accuracy)]
        return own is not None and not any(apart <= own and right >= self.accuracy for apart, right in beside)


def fairness_by_groups(model_result: ModelResult) -> list[GroupFairness]:
    """Each sensitive column, then all of them together, for each favourable class."""
    answers = model_result.answers
    if not isinstance(answers, LabelAnswers):
        return []
    answers = distinct(answers)
    context = answers.header.context
    names = sensitive_names(context)
    makers = [(name,) for name in names] + [names] * (len(names) > 1)
    classes = answers.classes
    result: list[GroupFairness] = []
    for columns in makers:
        groups = groups_by(context, columns)
        result += [
            GroupFairness(columns, classes[code], rates_by_group(answers, groups, code))
            for code in favourable_codes(classes)
        ]
    return result


def similar_rows(model_result: ModelResult, similarity: float = SIMILARITY) -> IndividualFairness | None:
    """How similar rows of one split are answered, as the mean over splits; None where the data are not at hand."""
    dataset, answers = model_result.cell.dataset, judged_answers(model_result.compared)
    if not isinstance(dataset, Dataset) or not isinstance(answers[0], LabelAnswers):
        return None
    table = dataset.table.select(field.column.name for field in dataset.schema.with_role("feature"))
    large = [split for split in answers if len(split) > 2 * FEW] or [distinct(joined(answers))]
    individual_fairnesses = [_similarity_in_split(split, table, similarity) for split in large]
    pairs = sum(fairness.pairs for fairness in individual_fairnesses)
    return IndividualFairness(
        similarity,
        _weighted_mean([(fairness.consistency, 1) for fairness in individual_fairnesses]),
        pairs,
        sum(fairness.weight for fairness in individual_fairnesses),
        _weighted_mean([(fairness.decided_differently, fairness.weight) for fairness in individual_fairnesses]),
        _weighted_mean([(fairness.probability_difference, fairness.weight) for fairness in individual_fairnesses]),
    )


def _similarity_in_split(answers: LabelAnswers, table: Table, similarity: float) -> IndividualFairness:
    answers = answers.take(np.flatnonzero(answers.weights))
    answers = answers.take(evenly_spaced(len(answers), MOST_ROWS))
    code = favourable_codes(answers.classes)[0]
    said = (answers.predicted == code).astype(np.float64)
    probability = None if answers.probabilities is None else answers.probabilities[:, code]
    apart = gower_distances(table.take(answers.rows))
    return individual_fairness(apart, said, probability, answers.weights, similarity)


def _weighted_mean(values: Sequence[tuple[float | None, float]]) -> float | None:
    known = [(value, weight) for value, weight in values if value is not None]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


def trade_off_of(model_result: ModelResult, by: Sequence[GroupFairness], name: str) -> TradeOff:
    """The accuracy of a model beside the largest gap between groups of one sensitive column."""
    answers, model = distinct(model_result.answers), model_result.cell.model
    accuracy = float(((answers.truth == answers.predicted) * answers.weights).sum() / answers.weights.sum())
    gaps = [each.gaps for each in by if len(each.columns) == 1]
    apart: dict[str, float | None] = {}
    for criterion in CRITERIA:
        known = [of[criterion].difference for of in gaps]
        apart[criterion] = max((value for value in known if value is not None), default=None)
    method = " → ".join([*(step.use for step in model.steps or ()), model.use])
    return TradeOff(name, method, accuracy, apart)
