"""How far models of one table are from its best and from the baseline, with p corrected for several comparisons.

Where splits make a baseline look worse than it is, the largest class stands in its place: rows that are left out
make their own class rarer, so that Zero-R is wrong about all of 50 + 50 rows left out one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.experiment.spec.cells import CellResult
from mlcli.metrics.base import Metric
from mlcli.metrics.difference import Difference, compare, holm
from mlcli.metrics.pooling import by_others, distinct, joined
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    badness,
    coordinate_name,
    judged_answers,
    metrics_in,
    rounds_of,
    training_sizes,
)
from mlcli.tasks.classification import LabelAnswers
from mlcli.tasks.table import kind_named

LARGEST_CLASS = "the largest class"
BEYOND_CHANCE = 2
"""Below the share of the largest class by so many standard errors, how rows are split is the reason."""
_OF_BASELINE: WeakKeyDictionary[CellResult, LabelAnswers | None] = WeakKeyDictionary()


def is_largest_class_standard(baseline: ModelResult) -> bool:
    """Whether a baseline is right far more rarely than the share of the largest class, for how rows are split."""
    return _largest_class_answers(baseline) is not None


def share_of_largest(baseline: ModelResult) -> float:
    """The share of the largest class among the judged rows."""
    answers = _largest_class_answers(baseline)
    assert answers is not None
    assert answers.probabilities is not None
    return float(answers.probabilities[0].max())


def compared_answers(model_result: ModelResult) -> Sequence[Any]:
    """The answers of a model by split; of such a baseline those of the largest class."""
    splits, instead = judged_answers(model_result.compared), _largest_class_answers(model_result)
    if instead is None:
        return splits
    ends = accumulate(map(len, splits), initial=0)
    return list(instead.parted(slice(*pair) for pair in pairwise(ends)))


def _largest_class_answers(model_result: ModelResult) -> LabelAnswers | None:
    if model_result.cell_result not in _OF_BASELINE:
        one_to_beat = model_result.done and model_result.is_baseline and model_result.cell.model.requested
        _OF_BASELINE[model_result.cell_result] = _if_largest_class(model_result) if one_to_beat else None
    return _OF_BASELINE[model_result.cell_result]


def _if_largest_class(baseline: ModelResult) -> LabelAnswers | None:
    splits = judged_answers(baseline.cell_result)
    if len(splits) == 1 or type(splits[0]) is not LabelAnswers or coordinate_name(baseline.cell_result):
        return None
    answers: LabelAnswers = joined(splits)
    counts = np.bincount(answers.truth, answers.weights, len(answers.classes))
    shares, right = counts / counts.sum(), answers.weights[answers.predicted == answers.truth].sum() / counts.sum()
    chance = BEYOND_CHANCE * np.sqrt(shares.max() * (1 - shares.max()) / len(distinct(answers)))
    if right >= shares.max() - chance or not by_others(splits, training_sizes(baseline.cell_result)):
        return None
    everywhere = np.full(len(answers), shares.argmax(), np.int32)
    return replace(answers, predicted=everywhere, probabilities=np.tile(shares, (len(answers), 1)))


@dataclass(frozen=True, eq=False)
class TableDifferences:
    """The best and the baseline of a table, and how far each other model is from them by one metric."""

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
    """All comparisons of one table; nothing where no model has a score that says something of other rows."""
    every = [result for result in group if score_of(result, metric) is not None and not result.contaminated]
    known = [result for result in every if result.cell.model.requested]
    best = best_of(known, metric)
    if best is None:
        return None
    baseline = _baseline_of(known)
    others = [result for result in known if result is not best]
    models = [result for result in known if result is not baseline]
    to_best = _differences_to(best, others, metric)
    to_baseline = _differences_to(baseline, models, metric) if baseline else {}
    alone = [_differences_to(best, [result], metric) for result in every if not result.cell.model.requested]
    beside = {result: test for tests in alone for result, test in tests.items()}
    return TableDifferences(metric, best, baseline, to_best, to_baseline, beside)


def _differences_to(
    standard: ModelResult, others: Sequence[ModelResult], metric: Metric
) -> dict[ModelResult, Difference]:
    tests = holm([difference_between(other, standard, metric) for other in others])
    return dict(zip(others, tests, strict=True))


def difference_between(
    model_result: ModelResult, other: ModelResult, metric: Metric, test: str = ""
) -> Difference:
    """Split by split; row by row where one of them is a saved model, which no split has taught.

    ``test`` names one that is made on request only.
    """
    if model_result.cell.protocol.use != other.cell.protocol.use:
        first, second = _answers_row_by_row(model_result, other)
        return compare(metric, [first], [second], [0], pooled=True, test=test)
    pooled, rounds = model_result.pooled, rounds_of(model_result.compared)
    answers = compared_answers(model_result), compared_answers(other)
    unstable = model_result.unstable or other.unstable
    return compare(metric, *answers, training_sizes(model_result.compared), pooled, rounds, test, unstable)


def named_pairs(differences: TableDifferences, names: Group) -> list[tuple[tuple[str, str], Difference]]:
    """Every comparison with the names of its two models: with the best first, then with the baseline."""

    def name_of(result: ModelResult) -> str:
        return LARGEST_CLASS if is_largest_class_standard(result) else names[result]

    best, baseline = differences.best, differences.baseline
    families = ((best, differences.to_best), (best, differences.beside), (baseline, differences.to_baseline))
    return [
        ((names[result], name_of(standard)), test)
        for standard, tests in families
        if standard is not None
        for result, test in tests.items()
    ]


def best_of(scored: Iterable[ModelResult], metric: Metric) -> ModelResult | None:
    """The one with the best score, those that knew no judged rows first, baselines last among equals."""
    known = [result for result in scored if result.cell.model.requested and score_of(result, metric) is not None]
    return min(
        known,
        key=lambda result: (result.contaminated, badness_of(result, metric), result.is_baseline),
        default=None,
    )


def best_in(group: Group) -> ModelResult | None:
    """The one with the best score by the metric that decides."""
    return best_of(group, metrics_in(group)[0]) if group else None


def _baseline_of(with_scores: Sequence[ModelResult]) -> ModelResult | None:
    """What every other must beat: the first baseline of the kind that has a score."""
    learned = {
        with_score.cell.model.use: with_score
        for with_score in reversed(with_scores)
        if with_score.cell.model.saved is None
    }
    baselines = kind_named(with_scores[0].cell.kind).baselines if with_scores else ()
    return next((learned[use] for use in baselines if use in learned), None)


def score_of(model_result: ModelResult, metric: Metric) -> float | None:
    """The score of a model, where it is a number."""
    mean = model_result.summaries[metric.name].mean if metric.name in model_result.summaries else None
    return mean if mean is not None and math.isfinite(mean) else None


def badness_of(model_result: ModelResult, metric: Metric) -> float:
    """Smaller for a better score."""
    score = score_of(model_result, metric)
    assert score is not None
    return badness(metric, score)


def _answers_row_by_row(model_result: ModelResult, other: ModelResult) -> tuple[Any, Any]:
    """The first answer to each row, in the order in which the first was asked: sequences stay whole."""
    first, second = (distinct(joined(compared_answers(scored))) for scored in (model_result, other))
    if not np.array_equal(np.sort(first.rows), np.sort(second.rows)):
        return first, second
    return first, second.take(second.rows.argsort()[first.rows.argsort().argsort()])
