"""Differences between models: from the best and the baseline of a table, and over several datasets.

Where splits make a baseline look worse than it is, the largest class stands in its place: rows that are left out
make their own class rarer, so that Zero-R is wrong about all of 50 + 50 rows left out one by one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.answers import Answers
from mlcli.experiment.spec.cells import CellResult
from mlcli.metrics.base import Metric, by_others, distinct, joined
from mlcli.metrics.difference import Difference, compare, holm
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    badness,
    coordinate_name,
    first_cell,
    groups_of,
    judged_answers,
    metrics_in,
    rounds_of,
    table_key,
    training_sizes,
)
from mlcli.tasks.supervised import LabelAnswers
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.metrics.over_datasets import OverDatasets, ScoreTable

LARGEST_CLASS = "the largest class"
_LARGEST_CLASS_ANSWERS: WeakKeyDictionary[CellResult, LabelAnswers | None] = WeakKeyDictionary()


def is_largest_class_standard(baseline: ModelResult) -> bool:
    """Whether a baseline is right far more rarely than the share of the largest class, for how rows are split."""
    return _largest_class_answers(baseline) is not None


def share_of_largest(baseline: ModelResult) -> float:
    """The share of the largest class among the test rows."""
    answers = _largest_class_answers(baseline)
    assert answers is not None
    assert answers.probabilities is not None
    return float(answers.probabilities[0].max())


def _largest_class_answers(result: ModelResult) -> LabelAnswers | None:
    """The prediction of the largest class for every row, where it stands in place of a baseline."""
    key = result.cell_result
    if key not in _LARGEST_CLASS_ANSWERS:
        is_standard = result.done and result.is_baseline and result.cell.model.requested
        _LARGEST_CLASS_ANSWERS[key] = _answers_if_misleading(result) if is_standard else None
    return _LARGEST_CLASS_ANSWERS[key]


def _answers_if_misleading(baseline: ModelResult) -> LabelAnswers | None:
    splits = judged_answers(baseline.cell_result)
    if len(splits) == 1 or type(splits[0]) is not LabelAnswers or coordinate_name(baseline.cell_result):
        return None
    answers: LabelAnswers = joined(splits)
    counts = np.bincount(answers.truth, answers.weights, len(answers.classes))
    shares = counts / counts.sum()
    accuracy = answers.weights[answers.predicted == answers.truth].sum() / counts.sum()
    # Two standard errors below the share of the largest class, how rows are split is the reason.
    chance = 2 * np.sqrt(shares.max() * (1 - shares.max()) / len(distinct(answers)))
    if accuracy >= shares.max() - chance or not by_others(splits, training_sizes(baseline.cell_result)):
        return None
    everywhere = np.full(len(answers), shares.argmax(), np.int32)
    return replace(answers, predicted=everywhere, probabilities=np.tile(shares, (len(answers), 1)))


def _compared_answers(result: ModelResult) -> Sequence[Any]:
    """The predictions of a model by split; of a misleading baseline those of the largest class."""
    splits, largest_class = judged_answers(result.compared), _largest_class_answers(result)
    if largest_class is None:
        return splits
    ends = accumulate(map(len, splits), initial=0)
    return list(largest_class.parted(slice(*pair) for pair in pairwise(ends)))


@dataclass(frozen=True, eq=False)
class TableDifferences:
    """The best and the baseline of a table, and the differences of the other models from them by one metric."""

    metric: Metric
    best: ModelResult
    baseline: ModelResult | None
    to_best: Mapping[ModelResult, Difference]
    """The score of each other model minus that of the best."""
    to_baseline: Mapping[ModelResult, Difference]
    """The score of each model minus that of the baseline."""
    beside: Mapping[ModelResult, Difference]
    """The score of each reference model minus that of the best: tests of their own, which weaken no other."""


def differences_of(group: Group, metric: Metric) -> TableDifferences | None:
    """All comparisons of one table; None where no model has a score on unseen rows."""
    every = [result for result in group if score_of(result, metric) is not None and not result.contaminated]
    requested = [result for result in every if result.cell.model.requested]
    best = best_of(requested, metric)
    if best is None:
        return None

    def differences_from(standard: ModelResult, others: Sequence[ModelResult]) -> dict[ModelResult, Difference]:
        tests = holm([difference_between(other, standard, metric) for other in others])
        return dict(zip(others, tests, strict=True))

    # What every other must beat: the first baseline of the kind that has a score
    learned = {result.cell.model.use: result for result in reversed(requested) if result.cell.model.saved is None}
    baselines = kind_named(requested[0].cell.kind).baselines
    baseline = next((learned[use] for use in baselines if use in learned), None)
    to_baseline: dict[ModelResult, Difference] = {}
    if baseline is not None:
        to_baseline = differences_from(baseline, [result for result in requested if result is not baseline])
    beside: dict[ModelResult, Difference] = {}
    for result in every:
        if not result.cell.model.requested:
            beside |= differences_from(best, [result])
    to_best = differences_from(best, [result for result in requested if result is not best])
    return TableDifferences(metric, best, baseline, to_best, to_baseline, beside)


def difference_between(result: ModelResult, other: ModelResult, metric: Metric, test: str = "") -> Difference:
    """Split by split; row by row where one of them is a saved model, which was fitted in no split.

    ``test`` names one that is made on request only.
    """
    if result.cell.protocol.use != other.cell.protocol.use:
        first, second = _answers_row_by_row(result, other)
        return compare(metric, [first], [second], [0], pooled=True, test=test)
    return compare(
        metric,
        _compared_answers(result),
        _compared_answers(other),
        training_sizes(result.compared),
        result.pooled,
        rounds_of(result.compared),
        test,
        result.unstable or other.unstable,
    )


def _answers_row_by_row(result: ModelResult, other: ModelResult) -> tuple[Answers, Answers]:
    """The first prediction of each row, in the order of the first model: sequences stay whole."""
    first, second = (distinct(joined(_compared_answers(model))) for model in (result, other))
    if not np.array_equal(np.sort(first.rows), np.sort(second.rows)):
        return first, second
    return first, second.take(second.rows.argsort()[first.rows.argsort().argsort()])


def named_pairs(differences: TableDifferences, names: Group) -> list[tuple[tuple[str, str], Difference]]:
    """Every comparison with the names of its two models: with the best first, then with the baseline."""
    pairs: list[tuple[tuple[str, str], Difference]] = []
    best, baseline = differences.best, differences.baseline
    families = ((best, differences.to_best), (best, differences.beside), (baseline, differences.to_baseline))
    for standard, tests in families:
        if standard is not None:
            standard_name = LARGEST_CLASS if is_largest_class_standard(standard) else names[standard]
            pairs += [((names[result], standard_name), test) for result, test in tests.items()]
    return pairs


def best_of(results: Iterable[ModelResult], metric: Metric) -> ModelResult | None:
    """The model with the best score, those that had seen no test rows first, baselines last among equals."""
    known = [result for result in results if result.cell.model.requested and score_of(result, metric) is not None]
    return min(
        known,
        key=lambda result: (result.contaminated, badness_of(result, metric), result.is_baseline),
        default=None,
    )


def best_in(group: Group) -> ModelResult | None:
    """The model with the best score by the metric that decides."""
    return best_of(group, metrics_in(group)[0]) if group else None


def score_of(result: ModelResult, metric: Metric) -> float | None:
    """The score of a model, where it is a number."""
    mean = result.summaries[metric.name].mean if metric.name in result.summaries else None
    return mean if mean is not None and math.isfinite(mean) else None


def badness_of(result: ModelResult, metric: Metric) -> float:
    """Smaller for a better score."""
    score = score_of(result, metric)
    assert score is not None
    return badness(metric, score)


def compared_over_datasets(results: Sequence[ModelResult]) -> list[OverDatasets]:
    """The comparison of each table of scores; none of a single dataset."""
    from mlcli.metrics.over_datasets import compare_over_datasets

    return [compare_over_datasets(table) for table in tables_over_datasets(results)]


def tables_over_datasets(results: Sequence[ModelResult], metric: str = "") -> list[ScoreTable]:
    """A table for each kind of task that several datasets share; of a metric, else of the first they have.

    Where datasets are split by several protocols, there is a table for the first of each, for the second, ...
    """
    seen: Counter[tuple[object, ...]] = Counter()
    together: dict[tuple[str, int], list[ModelResult]] = {}
    for group in groups_of(results):
        cell = first_cell(group)
        together.setdefault((cell.kind, seen[table_key(cell)]), []).extend(group)
        seen[table_key(cell)] += 1
    tables = (_score_table_of(group, metric) for group in together.values())
    return [table for table in tables if table is not None and len(table.datasets) > 1 and len(table.models) > 1]


def _score_table_of(group: Sequence[ModelResult], name: str) -> ScoreTable | None:
    """The scores of the models, without the baselines where there are two others."""
    fair = [result for result in group if result.cell.model.requested and not result.contaminated]
    models = [result for result in fair if not result.is_baseline]
    ranked = models if len({model.cell.label for model in models}) > 1 else fair
    shared = [
        metric
        for metric in (ranked[0].metrics if ranked else ())
        if name in ("", metric.name) and all(metric in result.metrics for result in ranked)
    ]
    if not shared:
        return None
    from mlcli.metrics.over_datasets import score_table

    metric = shared[0]
    means = ((result.cell, result.summaries[metric.name].mean) for result in ranked if result.done)
    rows = ((cell.dataset.name, cell.label, mean) for cell, mean in means if mean is not None)
    return score_table(rows, metric.name, metric.better, by_factors=metric.better == "low" and metric.high is None)
