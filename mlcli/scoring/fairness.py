"""How fair predictions are: rates by group, differences between groups, similar rows, the cost in accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mlcli.core.rows import SIMILARITY, evenly_spaced, groups_by, sensitive_names
from mlcli.core.serialise import shown
from mlcli.data.dataset import Dataset
from mlcli.metrics.base import distinct, joined
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
from mlcli.metrics.scores.fairness import favourable_codes
from mlcli.scoring.model_results import ModelResult, judged_answers
from mlcli.tasks.supervised import LabelAnswers


@dataclass(frozen=True, eq=False)
class GroupFairness:
    """The rates of the groups that some columns make, for one class against the rest."""

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
        """The difference of the groups by each criterion."""
        return {criterion: gap(criterion, self.groups) for criterion in CRITERIA}


@dataclass(frozen=True, eq=False)
class TradeOff:
    """The accuracy of one model, and by criterion the difference between groups."""

    name: str
    method: str
    """With the steps that were requested."""
    accuracy: float
    gaps: Mapping[str, float | None]

    def is_on_front(self, others: Sequence[TradeOff], criterion: str) -> bool:
        """Whether no other is at least as good in both accuracy and criterion, and better in one (Pareto)."""
        own = self.gaps[criterion]
        points = {
            (difference, other.accuracy) for other in others if (difference := other.gaps[criterion]) is not None
        }
        points.discard((own or 0.0, self.accuracy))
        return own is not None and not any(
            difference <= own and accuracy >= self.accuracy for difference, accuracy in points
        )


def fairness_by_groups(result: ModelResult) -> list[GroupFairness]:
    """Each sensitive column, then all of them together, for each favourable class."""
    answers = result.answers
    if not isinstance(answers, LabelAnswers):
        return []
    answers = distinct(answers)
    context = answers.header.context
    names = sensitive_names(context)
    every: list[GroupFairness] = []
    for columns in [(name,) for name in names] + [names] * (len(names) > 1):
        groups = groups_by(context, columns)
        every += [
            GroupFairness(columns, answers.classes[code], rates_by_group(answers, groups, code))
            for code in favourable_codes(answers.classes)
        ]
    return every


def similar_rows(result: ModelResult, similarity: float = SIMILARITY) -> IndividualFairness | None:
    """How similar rows of one split are predicted, as the mean over splits; None without the data."""
    dataset, answers = result.cell.dataset, judged_answers(result.compared)
    if not isinstance(dataset, Dataset) or not isinstance(answers[0], LabelAnswers):
        return None
    table = dataset.table.select(field.column.name for field in dataset.schema.with_role("feature"))
    splits: list[IndividualFairness] = []
    for split in [split for split in answers if len(split) > 2 * FEW] or [distinct(joined(answers))]:
        rows: LabelAnswers = split.take(np.flatnonzero(split.weights))
        rows = rows.take(evenly_spaced(len(rows), 1000))  # at most so many are compared with each other
        code = favourable_codes(rows.classes)[0]
        predicted = (rows.predicted == code).astype(np.float64)
        probability = None if rows.probabilities is None else rows.probabilities[:, code]
        distances = gower_distances(table.take(rows.rows))
        splits.append(individual_fairness(distances, predicted, probability, rows.weights, similarity))
    return IndividualFairness(
        similarity,
        _weighted_mean([(split.consistency, 1) for split in splits]),
        sum(split.pairs for split in splits),
        sum(split.weight for split in splits),
        _weighted_mean([(split.decided_differently, split.weight) for split in splits]),
        _weighted_mean([(split.probability_difference, split.weight) for split in splits]),
    )


def _weighted_mean(values: Sequence[tuple[float | None, float]]) -> float | None:
    known = [(value, weight) for value, weight in values if value is not None]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


def trade_off_of(result: ModelResult, fairness: Sequence[GroupFairness], name: str) -> TradeOff:
    """The accuracy of a model beside the largest difference between groups of one sensitive column."""
    answers, model = distinct(result.answers), result.cell.model
    accuracy = float(((answers.truth == answers.predicted) * answers.weights).sum() / answers.weights.sum())
    gaps = [of_columns.gaps for of_columns in fairness if len(of_columns.columns) == 1]
    largest: dict[str, float | None] = {}
    for criterion in CRITERIA:
        differences = [of_columns[criterion].difference for of_columns in gaps]
        largest[criterion] = max((value for value in differences if value is not None), default=None)
    method = " → ".join([*(step.use for step in model.steps or ()), model.use])
    return TradeOff(name, method, accuracy, largest)
