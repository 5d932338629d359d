"""The verdict on one table, and remarks on the results of its models, as codes, names and figures.

``report/views/results.py`` puts both into words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from mlcli.core.serialise import HIDDEN, shown
from mlcli.experiment.results import each
from mlcli.metrics.base import Metric, distinct
from mlcli.metrics.interval_rules import TRUST, beyond_rows, fold_stability
from mlcli.metrics.summary import summarise
from mlcli.scoring.differences import (
    TableDifferences,
    badness_of,
    is_largest_class_standard,
    score_of,
    share_of_largest,
)
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    badness,
    coordinate_name,
    first_cell,
    judged_answers,
    metrics_in,
    training_sizes,
)
from mlcli.tasks.table import kind_named

VerdictCode = Literal["best", "only-model", "none-beats-baseline", "not-compared"]
SelectionCode = Literal["best-of-several", "validation-agrees", "validation-differs"]


@dataclass(frozen=True)
class ModelScore:
    """A model with its mean score and the 95 % confidence interval."""

    model: str
    mean: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class UncomparedModel:
    """A saved model that has learned from many of the scored rows."""

    model: str
    rows_learned_from: int
    rows: int


@dataclass(frozen=True)
class Selection:
    """What choosing the best of several models does to its score."""

    code: SelectionCode
    among: int
    chosen: ModelScore | None = field(default=None, metadata=shown(optional=True))
    """The model with the best score on the validation rows."""
    validation_score: float | None = field(default=None, metadata=shown(optional=True))
    nested: str = field(default="", metadata=shown(optional=True))
    """The model that chooses inside each split, so that its interval is not optimistic."""
    can_be_nested: bool = field(default=False, metadata=HIDDEN)
    """Whether ``--nested`` would choose inside each split."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the scores and tests of one table say; the code tells which fields are filled."""

    dataset: str
    kind: str
    seed: int
    metric: str
    code: VerdictCode
    best: ModelScore | None = field(default=None, metadata=shown(optional=True))
    baseline: ModelScore | None = field(default=None, metadata=shown(optional=True))
    is_largest_class: bool = field(default=False, metadata=shown(optional=True))
    """Whether the share of the largest class stands in place of the baseline."""
    gain: float | None = field(default=None, metadata=shown(optional=True))
    """The score of the best model minus that of the baseline; None where no test compares them."""
    gain_is_significant: bool = field(default=False, metadata=shown(optional=True))
    better: tuple[str, ...] = field(default=(), metadata=shown(optional=True))
    """Reference models that are significantly better."""
    alike: tuple[str, ...] = field(default=(), metadata=shown(optional=True))
    """Models that do not differ significantly from the best."""
    untested: tuple[str, ...] = field(default=(), metadata=shown(optional=True))
    selection: Selection | None = field(default=None, metadata=shown(optional=True))
    uncompared: tuple[UncomparedModel, ...] = field(default=(), metadata=shown(optional=True))
    scored_by: Metric = field(metadata=HIDDEN)


def verdict_on(group: Group, differences: TableDifferences | None) -> Verdict | None:
    """The verdict by the metric that decides; None where no model but the baseline has a score."""
    cell, metric = first_cell(group), metrics_in(group)[0]
    uncompared = tuple(
        UncomparedModel(name, result.cell.learned_rows, result.cell.labelled_rows)
        for result, name in group.items()
        if result.contaminated and score_of(result, metric) is not None
    )
    verdict = Verdict(
        dataset=cell.dataset.name,
        kind=cell.kind,
        seed=cell.seed,
        metric=metric.name,
        code="not-compared",
        uncompared=uncompared,
        scored_by=metric,
    )
    if differences is not None:
        compared = (differences.best, *differences.to_best)
        models = [result for result in compared if result is not differences.baseline]
        if models:
            models.sort(key=lambda result: badness_of(result, metric))
            return _with_best(verdict, models, differences, group)
    return verdict if uncompared else None


def _with_best(
    verdict: Verdict, models: Sequence[ModelResult], differences: TableDifferences, names: Group
) -> Verdict:
    """The verdict on models of which the best stands first."""
    metric, baseline = differences.metric, differences.baseline
    best, *others = models
    figures: dict[str, Any] = {}
    if baseline is not None:
        largest_class, gain = is_largest_class_standard(baseline), differences.to_baseline[best]
        figures["baseline"] = _score(baseline, names, metric)
        figures["is_largest_class"] = largest_class
        figures["gain"], figures["gain_is_significant"] = gain.mean, gain.distinguishable
        if largest_class:
            loses = gain.mean is not None and badness(metric, gain.mean) >= 0
        else:
            loses = badness_of(best, metric) >= badness_of(baseline, metric)
        if loses or best is not differences.best:
            return replace(verdict, code="none-beats-baseline", **figures)
    tests = {names[other]: differences.to_best[other] for other in others}
    references = {names[other]: test for other, test in differences.beside.items() if test.mean is not None}
    figures["best"] = _score(best, names, metric)
    figures["untested"] = tuple(name for name, test in tests.items() if test.mean is None)
    figures["alike"] = tuple(
        name
        for name, test in (*tests.items(), *references.items())
        if test.mean is not None and not test.distinguishable
    )
    figures["better"] = tuple(
        name for name, test in references.items() if test.distinguishable and badness(metric, test.mean or 0.0) < 0
    )
    figures["selection"] = _selection_among(models, names, metric)
    return replace(verdict, code="best" if others else "only-model", **figures)


def _selection_among(models: Sequence[ModelResult], names: Group, metric: Metric) -> Selection | None:
    """How the best was chosen: from three models on, its score is partly luck."""
    nested = [model for model in models if model.cell.model.use == "selected-model"]
    best, count = models[0], len(models) - len(nested)
    validation = {model: value for model in models if (value := _validation_mean(model, metric)) is not None}
    chosen = None
    if len(validation) >= max(2, len(models)):
        chosen = min(validation, key=lambda model: badness(metric, validation[model]))
        score = _score(chosen, names, metric)
        if chosen is best:
            return Selection("validation-agrees", len(models), score, validation[chosen])
    if best in nested or (count < 3 and chosen is None):
        return None
    if chosen is not None:
        return Selection("validation-differs", count, score, validation[chosen])
    can_be_nested = kind_named(best.cell.kind).target == "needed"
    return Selection(
        "best-of-several", count, nested=names[nested[0]] if nested else "", can_be_nested=can_be_nested
    )


def _validation_mean(result: ModelResult, metric: Metric) -> float | None:
    """The mean over the validation rows of all splits, where every split has some and it is defined."""
    answers = [split.answers["validation"] for split in result.splits if "validation" in split.answers]
    if not answers or len(answers) < len(result.splits) or result.cell.model.saved is not None:
        return None
    mean = summarise(metric, answers, training_sizes(result.cell_result), result.pooled).mean
    return mean if mean is not None and math.isfinite(mean) else None


def _score(result: ModelResult, names: Group, metric: Metric) -> ModelScore:
    summary = result.summaries[metric.name]
    return ModelScore(names[result], summary.mean, summary.low, summary.high)


RemarkCode = Literal[
    "note", "closed-form", "undefined-score", "marked-score", "infinite-score", "splits-vary", "largest-class",
    "fit-warning",
]  # fmt: skip
FEWEST_FOLDS = 3
"""With fewer folds, nothing can be said about whether one of them is an outlier."""


@dataclass(frozen=True)
class Remark:
    """One remark on the results of a model; the code tells which fields are filled."""

    code: RemarkCode
    metric: str = field(default="", metadata=shown(optional=True))
    why: str = field(default="", metadata=shown(optional=True))
    """The reason, the note, the warning, or the closed form."""
    splits: int | None = field(default=None, metadata=shown(optional=True))
    """In how many splits."""
    of_splits: int | None = field(default=None, metadata=shown(optional=True))
    beyond_rows: bool = field(default=False, metadata=shown(optional=True))
    """Whether the splits vary more than their rows explain."""
    share: float | None = field(default=None, metadata=shown(optional=True))
    """The share of the largest class."""


def remarks_of(result: ModelResult) -> tuple[Remark, ...]:
    """All remarks on a model, in the order in which they are shown."""
    return tuple(_remarks(result))


def _remarks(result: ModelResult) -> Iterator[Remark]:
    count = len(result.splits)
    for note in result.cell_result.notes:
        yield Remark("note", why=note)
    if result.done:
        for route, splits in result.cell_result.routes().items():
            yield Remark("closed-form", why=route, splits=splits, of_splits=count)
    for metric in result.metrics:
        summary = result.summaries.get(metric.name)
        if summary is None:
            continue
        if summary.mean is None:
            yield Remark("undefined-score", metric.name, summary.why)
        elif math.isinf(summary.mean):
            yield Remark("infinite-score", metric.name, metric.when_infinite or summary.why)
        else:
            for mark in summary.marks:
                yield Remark("marked-score", metric.name, mark)
    yield from _disagreement_of_splits(result)
    if is_largest_class_standard(result):
        yield Remark("largest-class", share=share_of_largest(result))
    warnings = each(result.splits, "warnings") if result.done else []
    for text in dict.fromkeys(text for of_split in warnings for text in of_split):
        yield Remark(
            "fit-warning", why=text, splits=sum(text in of_split for of_split in warnings), of_splits=count
        )


def _disagreement_of_splits(result: ModelResult) -> Iterator[Remark]:
    """Whether the accuracies of the splits disagree, or one of them is an outlier."""
    if result.pooled or coordinate_name(result.cell_result) or "accuracy" not in result.summaries:
        return
    values = [value for value in result.summaries["accuracy"].splits if value is not None]
    splits = judged_answers(result.cell_result)
    if len(values) < max(FEWEST_FOLDS, len(splits)):
        return
    stability = fold_stability(values, [len(answers) for answers in splits])
    if stability.verdict != "consistent":
        rows = len(distinct(result.answers))
        share = float(np.mean(values))
        variance = share * (1 - share) / (TRUST * rows)
        yield Remark(
            "splits-vary",
            "accuracy",
            stability.why,
            beyond_rows=beyond_rows(np.array(values), splits, variance, rows - 1),
        )
