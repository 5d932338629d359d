"""Scores over something: over what a protocol swept, the stages of a fit, or the values of a parameter.

A series is a result by the values of something, with all predictions there; a curve is one score of it, also
on training rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mlcli import __version__
from mlcli.core.answers import Answers
from mlcli.core.errors import FitError, UsageError
from mlcli.core.findings import Curve
from mlcli.core.serialise import shown
from mlcli.experiment.results import StagedAnswers, each
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.spec.sweeps import Sweep
from mlcli.metrics.base import Metric, Summary, Undefined
from mlcli.metrics.bias_variance import Decomposition, bias_variance
from mlcli.metrics.difference import compare
from mlcli.metrics.registry import defined_values
from mlcli.metrics.summary import summarise
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    badness,
    coordinate_name,
    first_cell,
    group_of,
    judged_answers,
    score_result,
    training_answers,
    training_sizes,
)


@dataclass(frozen=True, eq=False)
class Series:
    """A result by the values of something: which splits belong to each, and their predictions."""

    scored: ModelResult
    over: str
    splits: Mapping[float, Sequence[int]]
    answers: Mapping[float, Sequence[Answers]]
    kind: Literal["series", "stages"]
    training: Mapping[float, Sequence[Answers]] = field(default_factory=dict)
    """The same for training rows, where these were predicted, too."""
    line: str = ""
    """Which of several curves of the result it is."""

    def named(self, name: str) -> str:
        """The name of the series, if the result has this name."""
        return f"{name}, {self.line}" if self.line else name

    def summary(self, metric: Metric, value: float) -> Summary:
        """A metric at a value."""
        return summarise(metric, self.answers[value], self._training_sizes(value), self.scored.pooled)

    def is_like(self, other: Series, metric: Metric, value: float) -> bool:
        """Whether two models do not differ significantly at a value."""
        difference = compare(
            metric,
            self.answers[value],
            other.answers[value],
            self._training_sizes(value),
            self.scored.pooled,
            unstable=self.scored.unstable or other.scored.unstable,
        )
        return not difference.distinguishable

    def train_rows_at(self, value: float) -> list[int]:
        """How many rows each split has learned from."""
        return [self.scored.splits[index].train_rows for index in self.splits.get(value, ())]

    def _training_sizes(self, value: float) -> list[int]:
        sizes = training_sizes(self.scored.cell_result)
        return [sizes[index] for index in self.splits[value]]


def series_of(result: ModelResult) -> list[Series]:
    """What a protocol has swept over, and the stages of the fits, where there are such."""
    if not result.done:
        return []
    coordinates = each(result.splits, "coordinate")
    lines = dict.fromkeys(at.line for at in coordinates if at is not None and at.line)
    if lines:
        every = [_series_of_stages(result, line) for line in lines]
        return [series for series in every if series is not None]
    series: list[Series] = []
    if over := coordinate_name(result.cell_result):
        splits: dict[float, list[int]] = {}
        for index, at in enumerate(coordinates):
            splits.setdefault(at.value, []).append(index)
        answers, training = judged_answers(result.cell_result), training_answers(result.cell_result)
        at_values = {value: [answers[index] for index in indices] for value, indices in splits.items()}
        of_training = {
            value: [training[index] for index in indices] for value, indices in splits.items() if training
        }
        series.append(Series(result, over, splits, at_values, "series", of_training))
    if stages := _series_of_stages(result):
        series.append(stages)
    return series


def _series_of_stages(result: ModelResult, line: str = "") -> Series | None:
    """The stages that every split has; a fit that ended before a stage has its last predictions there.

    With a line only the splits that lie on it.
    """
    coordinates = each(result.splits, "coordinate")
    indices = [index for index, at in enumerate(coordinates) if not line or (at is not None and at.line == line)]
    every_stage, every_answer = each(result.splits, "stages"), judged_answers(result.cell_result)
    stages = [every_stage[index] for index in indices]
    name = next((at.name for of_split in stages for at, _ in of_split), "")
    if not name:
        return None
    answers = _answers_by_stage(stages, [every_answer[index] for index in indices])
    training: dict[float, list[Answers]] = {}
    if not line:
        training = _answers_by_stage(each(result.splits, "training_stages"), training_answers(result.cell_result))
    return Series(result, name, dict.fromkeys(answers, indices), answers, "stages", training, line)


def _answers_by_stage(stages: Sequence[StagedAnswers], last: Sequence[Answers]) -> dict[float, list[Answers]]:
    """The predictions of all splits at each stage that all of them have."""
    by_split = [{at.value: answers for at, answers in of_split} for of_split in stages]
    by_stage: dict[float, list[Answers]] = {}
    for value in sorted({value for of_split in by_split for value in of_split}):
        answers = [
            of_split.get(value, last[index] if value > max(of_split, default=0.0) else None)
            for index, of_split in enumerate(by_split)
        ]
        known = [of_split for of_split in answers if of_split is not None]
        if len(known) == len(answers):
            by_stage[value] = known
    return by_stage


def summaries_of(series: Series) -> dict[float, dict[str, Summary]]:
    """Each metric, by name, at each value."""
    metrics = series.scored.metrics
    return {value: {metric.name: series.summary(metric, value) for metric in metrics} for value in series.answers}


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """A score at one value of what was swept."""

    value: float
    judged: Summary
    summaries: Mapping[str, Summary]
    """All metrics there."""
    training: float | None
    training_spread: float | None
    label: str = ""
    """The value as text, where it is no plain number."""

    def gap(self, metric: Metric) -> float | None:
        """How much better the score on training rows is, in the units of the score."""
        if self.training is None or self.judged.mean is None:
            return None
        return badness(metric, self.judged.mean) - badness(metric, self.training)


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
        known = [point for point in self.points if point.judged.mean is not None]
        return min(known, key=lambda point: badness(self.metric, point.judged.mean or 0.0), default=None)

    def per_doubling(self) -> float | None:
        """How much better the score is for twice as much of what was swept, over the last doubling."""
        known = [(point.value, point.judged.mean) for point in self.points if point.judged.mean is not None]
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
    means = tuple(point.judged.mean for point in curve.points)
    lines = [("judged", means)]
    bands = [("judged", tuple(band(point.judged.mean, point.judged.std) for point in curve.points))]
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


def band(mean: float | None, spread: float | None) -> tuple[float, float] | None:
    """From one standard deviation below a mean to one above it, where both are known."""
    return None if mean is None or spread is None else (mean - spread, mean + spread)


def requested_decomposition(result: ModelResult) -> Decomposition | Undefined | None:
    """Bias and variance of a result whose protocol asks for them; None where it does not."""
    cell = result.cell
    if not result.done or cell.model.saved is not None or not cell.protocol.params.get("bias_variance"):
        return None
    return bias_variance(judged_answers(result.cell_result))


def terms_by_name(decomposition: Decomposition) -> dict[str, float]:
    """The error, and the terms that each paper has for its parts."""
    several = len(decomposition.terms) > 1
    return {f"{decomposition.loss} loss": decomposition.error} | {
        f"{paper}: {term}" if several else term: value
        for paper, terms in decomposition.terms.items()
        for term, value in terms.items()
    }


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
