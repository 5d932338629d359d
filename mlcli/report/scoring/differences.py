"""Each model beside the best of its table and the baseline, with p corrected for the number of comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.metrics.base import Metric
from mlcli.metrics.difference import Difference, compare, holm
from mlcli.metrics.pooling import distinct, joined
from mlcli.report.scoring.largest_class import LARGEST_CLASS, compared_answers, is_largest_class_standard
from mlcli.report.scoring.scored import Group, Scored, badness, metrics_in, rounds_of, training_sizes
from mlcli.tasks.table import kind_named


@dataclass(frozen=True, eq=False)
class TableDifferences:
    """The best and the baseline of a table, and how far each other model is from them by one metric."""

    metric: Metric
    best: Scored
    baseline: Scored | None
    to_best: Mapping[Scored, Difference]
    """The score of each other model minus that of the best."""
    to_baseline: Mapping[Scored, Difference]
    """The score of each model minus that of the baseline."""
    beside: Mapping[Scored, Difference]
    """The score of each yardstick minus that of the best: tests of their own, which weaken no other."""


def differences_of(group: Group, metric: Metric) -> TableDifferences | None:
    """All comparisons of one table; nothing where no model has a score that says something of other rows."""
    every = [one for one in group if score_of(one, metric) is not None and not one.contaminated]
    known = [one for one in every if one.cell.model.asked]
    best = best_of(known, metric)
    if best is None:
        return None
    baseline = _baseline_of(known)
    others = [one for one in known if one is not best]
    models = [one for one in known if one is not baseline]
    to_best = _differences_to(best, others, metric)
    to_baseline = _differences_to(baseline, models, metric) if baseline else {}
    alone = [_differences_to(best, [one], metric) for one in every if not one.cell.model.asked]
    beside = {one: test for tests in alone for one, test in tests.items()}
    return TableDifferences(metric, best, baseline, to_best, to_baseline, beside)


def _differences_to(standard: Scored, others: Sequence[Scored], metric: Metric) -> dict[Scored, Difference]:
    tests = holm([difference_between(one, standard, metric) for one in others])
    return dict(zip(others, tests, strict=True))


def difference_between(one: Scored, other: Scored, metric: Metric, test: str = "") -> Difference:
    """Split by split; row by row where one of them is a saved model, which no split has taught.

    ``test`` names one that is made on request only.
    """
    if one.cell.protocol.use != other.cell.protocol.use:
        first, second = _answers_row_by_row(one, other)
        return compare(metric, [first], [second], [0], pooled=True, test=test)
    pooled, rounds = one.result.pooled, rounds_of(one.compared)
    answers = compared_answers(one), compared_answers(other)
    unsteady = one.unsteady or other.unsteady
    return compare(metric, *answers, training_sizes(one.compared), pooled, rounds, test, unsteady)


def differences_as_json(differences: TableDifferences, names: Group) -> list[dict[str, Any]]:
    """Every comparison as plain values: with the best first, then with the baseline."""

    def compared(one: Scored) -> str:
        return LARGEST_CLASS if is_largest_class_standard(one) else names[one]

    best, baseline = differences.best, differences.baseline
    beside = ((best, differences.to_best), (best, differences.beside), (baseline, differences.to_baseline))
    pairs = ((compared(one), other, test) for other, tests in beside if other for one, test in tests.items())
    return [pair_as_json(one, compared(other), test) for one, other, test in pairs]


def pair_as_json(name: str, other: str, difference: Difference) -> dict[str, Any]:
    """The comparison of two models as plain values."""
    return {
        "models": [name, other],
        "difference": difference.mean,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p,
        "corrected_p": difference.corrected,
        "distinguishable": difference.distinguishable,
        "test": difference.test,
        **({"why": difference.why} if difference.why else {}),
    }


def best_of(scored: Iterable[Scored], metric: Metric) -> Scored | None:
    """The one with the best score, those that knew no judged rows first, baselines last among equals."""
    known = [one for one in scored if one.cell.model.asked and score_of(one, metric) is not None]
    return min(known, key=lambda one: (one.contaminated, badness_of(one, metric), one.is_baseline), default=None)


def best_in(group: Group) -> Scored | None:
    """The one with the best score by the metric that decides."""
    return best_of(group, metrics_in(group)[0]) if group else None


def _baseline_of(with_scores: Sequence[Scored]) -> Scored | None:
    """What every other must beat: the first baseline of the kind that has a score."""
    learned = {one.cell.model.use: one for one in reversed(with_scores) if one.cell.model.saved is None}
    baselines = kind_named(with_scores[0].cell.kind).baselines if with_scores else ()
    return next((learned[use] for use in baselines if use in learned), None)


def score_of(one: Scored, metric: Metric) -> float | None:
    """The score of a model, where it is a number."""
    mean = one.summaries[metric.name].mean if metric.name in one.summaries else None
    return mean if mean is not None and math.isfinite(mean) else None


def badness_of(one: Scored, metric: Metric) -> float:
    """Smaller for a better score."""
    score = score_of(one, metric)
    assert score is not None
    return badness(metric, score)


def _answers_row_by_row(one: Scored, other: Scored) -> tuple[Any, Any]:
    """The first answer to each row, in the order in which the first was asked: sequences stay whole."""
    first, second = (distinct(joined(compared_answers(scored))) for scored in (one, other))
    if not np.array_equal(np.sort(first.rows), np.sort(second.rows)):
        return first, second
    return first, second.take(second.rows.argsort()[first.rows.argsort().argsort()])
