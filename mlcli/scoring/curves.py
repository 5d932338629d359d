"""Scores over something: over what a protocol swept, the stages of a fit, or the values of a parameter.

A curve is one score of a series, also on training rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlcli import __version__
from mlcli.core.answers import Answers
from mlcli.core.errors import FitError, UsageError
from mlcli.core.findings import Curve
from mlcli.core.serialise import shown
from mlcli.experiment.spec.cells import CellResult
from mlcli.metrics.base import Metric, Summary, Undefined
from mlcli.metrics.bias_variance import Decomposition, bias_variance
from mlcli.metrics.registry import defined_values
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    badness,
    band,
    first_cell,
    group_of,
    judged_answers,
    score_result,
    series_of,
    summaries_of,
    training_answers,
)

if TYPE_CHECKING:
    from mlcli.experiment.spec.sweeps import Sweep


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """A score at one value of what was swept."""

    value: float
    test: Summary
    summaries: Mapping[str, Summary]
    """All metrics there."""
    training: float | None
    training_spread: float | None
    label: str = ""
    """The value as text, where it is no plain number."""

    def gap(self, metric: Metric) -> float | None:
        """How much better the score on training rows is, in the units of the score."""
        if self.training is None or self.test.mean is None:
            return None
        return badness(metric, self.test.mean) - badness(metric, self.training)


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """One metric of one model over something."""

    title: str
    over: str
    metric: Metric
    points: tuple[CurvePoint, ...]
    baseline: float | None = None
    of_numbers: bool = False
    """Whether it is over numbers that a parameter takes."""

    @property
    def best_is_at_end(self) -> bool:
        """Whether a parameter is best at the smallest or largest of three numbers or more."""
        if not self.of_numbers or self.best is None or len(self.points) < 3:
            return False
        values = [point.value for point in self.points]
        return self.best.value in (min(values), max(values))

    @property
    def best(self) -> CurvePoint | None:
        """The point with the best mean; of equals, the first."""
        known = [point for point in self.points if point.test.mean is not None]
        return min(known, key=lambda point: badness(self.metric, point.test.mean or 0.0), default=None)

    def per_doubling(self) -> float | None:
        """How much better the score is for twice as much of what was swept, over the last doubling."""
        known = [(point.value, point.test.mean) for point in self.points if point.test.mean is not None]
        if len(known) < 2 or known[0][0] <= 0:
            return None
        end, after = known[-1]
        halves = [point for point in known[:-1] if 2 * point[0] <= end]
        start, before = halves[-1] if halves else known[0]
        return (badness(self.metric, before) - badness(self.metric, after)) / math.log2(end / start)


def curves_over(
    result: ModelResult, name: str, kind: str, baseline: ModelResult | None = None
) -> Iterator[ScoreCurve]:
    """The curves of a result: over what its protocol swept (``series``), or over the stages of its fits."""
    metric = result.metrics[0]
    for series in series_of(result):
        if series.kind == kind:
            points = tuple(
                CurvePoint(
                    value,
                    summaries[metric.name],
                    summaries,
                    *_training_score(metric, series.training.get(value, ())),
                )
                for value, summaries in summaries_of(series).items()
            )
            yield ScoreCurve(series.named(name), series.over, metric, points, _mean_score(baseline, metric))


def validation_curve(
    results: Sequence[ModelResult],
    values: Sequence[object],
    over: str,
    name: str,
    baseline: ModelResult | None = None,
) -> ScoreCurve:
    """The curve of results that differ in one parameter."""
    metric = results[0].metrics[0]
    numbers = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    is_numeric = len(numbers) == len(values)
    places = numbers if is_numeric else [float(number) for number in range(1, len(values) + 1)]
    points = tuple(
        CurvePoint(
            place,
            result.summaries[metric.name],
            result.summaries,
            *_training_score(metric, training_answers(result.cell_result)),
            f"{value:.4g}" if isinstance(value, float) else str(value),
        )
        for place, result, value in zip(places, results, values, strict=True)
    )
    return ScoreCurve(name, over, metric, points, _mean_score(baseline, metric), is_numeric)


def _training_score(metric: Metric, answers: Sequence[Answers]) -> tuple[float | None, float | None]:
    """The mean over the training rows of the splits, and its standard deviation."""
    values = defined_values(metric, answers)
    if not len(values) or not math.isfinite(values.mean()):
        return None, None
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None


def _mean_score(result: ModelResult | None, metric: Metric) -> float | None:
    return None if result is None or metric.name not in result.summaries else result.summaries[metric.name].mean


def curve_finding(curve: ScoreCurve) -> Curve:
    """The curve as data: test and training means, each with a band."""
    means = tuple(point.test.mean for point in curve.points)
    lines = [("test", means)]
    bands = [("test", tuple(band(point.test.mean, point.test.std) for point in curve.points))]
    if any(point.training is not None for point in curve.points):
        lines.append(("training", tuple(point.training for point in curve.points)))
        of_training = tuple(band(point.training, point.training_spread) for point in curve.points)
        bands.append(("training", of_training))
    return Curve(
        f"{curve.metric.name} by {curve.over}",
        curve.over,
        tuple(point.value for point in curve.points),
        tuple(lines),
        bands=tuple(bands),
        note="bands: mean ± standard deviation over splits",
    )


def swept_results(sweep: Sweep, results: Sequence[CellResult]) -> Group:
    """The results of a sweep with their scores; one that did not end well has no curve, and says why."""
    for result in results:
        if result.status == "skipped":
            raise UsageError(result.cell.skipped or result.why)
        if result.status != "done":
            raise FitError(f"{result.cell.label}: {result.why}")
    return group_of([score_result(result, sweep.experiment.metrics) for result in results])


def curves_in(sweep: Sweep, group: Group) -> Iterator[ScoreCurve]:
    """The curves of the models that were requested; the baseline stands beside them."""
    requested = {model.use for model in sweep.experiment.models or ()}
    models = [result for result in group if result.cell.model.saved or result.cell.model.use in requested]
    baseline = next((result for result in group if result.is_baseline), None)
    if sweep.kind == "validation":
        yield validation_curve(models, sweep.values, sweep.over, models[0].cell.model.use, baseline)
        return
    kind = "series" if sweep.kind == "learning" else "stages"
    for result, name in group_of(models).items():
        yield from curves_over(result, name, kind, baseline)


def decompositions_of(group: Group) -> dict[str, Decomposition]:
    """The bias and variance of each model, by its name."""
    decompositions: dict[str, Decomposition] = {}
    for result, name in group.items():
        decomposition = bias_variance(judged_answers(result.cell_result))
        if isinstance(decomposition, Undefined):
            raise UsageError(decomposition.why, hint=decomposition.hint)
        decompositions[name] = decomposition
    return decompositions


@dataclass(frozen=True)
class TrainingScore:
    """A score of training rows."""

    mean: float | None
    std: float | None


@dataclass(frozen=True)
class CurvePointRecord:
    """All metrics at one point of a curve."""

    value: float
    label: str = field(metadata=shown(optional=True))
    metrics: Mapping[str, Summary]
    training: TrainingScore


@dataclass(frozen=True)
class CurveRecord:
    """A score of a model over something."""

    model: str
    over: str
    metric: str
    best: float | None
    """The value at which the score is best."""
    per_doubling: float | None
    """How much better the score gets over the last doubling of what was swept."""
    baseline: float | None
    points: tuple[CurvePointRecord, ...]
    findings: tuple[Curve, ...]


@dataclass(frozen=True)
class DecompositionRecord:
    """The bias and variance of a model."""

    model: str
    decomposition: Decomposition = field(metadata=shown(merged=True))


@dataclass(frozen=True)
class SweepRecord:
    """What ``--json`` writes of curves."""

    version: str
    dataset: str
    curve: str
    curves: tuple[CurveRecord, ...] | None = field(default=None, metadata=shown(optional=True))
    models: tuple[DecompositionRecord, ...] | None = field(default=None, metadata=shown(optional=True))


def curve_record(curve: ScoreCurve) -> CurveRecord:
    """A curve with its points."""
    return CurveRecord(
        curve.title,
        curve.over,
        curve.metric.name,
        None if curve.best is None else curve.best.value,
        curve.per_doubling(),
        curve.baseline,
        tuple(
            CurvePointRecord(
                point.value, point.label, point.summaries, TrainingScore(point.training, point.training_spread)
            )
            for point in curve.points
        ),
        (curve_finding(curve),),
    )


def sweep_record(sweep: Sweep, results: Sequence[CellResult]) -> SweepRecord:
    """The curves of a sweep, or the bias and variance of its models."""
    group = swept_results(sweep, results)
    dataset = first_cell(group).dataset.name
    if sweep.kind == "bias-variance":
        models = tuple(
            DecompositionRecord(name, decomposition) for name, decomposition in decompositions_of(group).items()
        )
        return SweepRecord(__version__, dataset, sweep.kind, models=models)
    return SweepRecord(__version__, dataset, sweep.kind, tuple(map(curve_record, curves_in(sweep, group))))
