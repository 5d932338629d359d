"""Scores over something: over what a protocol swept, the stages of a fit, or the values of a parameter.

A series is a cell by the values of something, with all answers there; a curve is one score of it, also
of training rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mlcli import __version__
from mlcli.core.errors import FitError, UsageError
from mlcli.core.findings import Curve
from mlcli.core.serialise import shown
from mlcli.experiment.results import each
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.spec.sweeps import Sweep
from mlcli.metrics.base import Metric, Summary, Undefined
from mlcli.metrics.bias_variance import Decomposition, bias_variance
from mlcli.metrics.declaring import defined_values
from mlcli.metrics.difference import compare
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
    """A cell by the values of something: which splits were answered at each, and what the answers were."""

    scored: ModelResult
    over: str
    places: Mapping[float, Sequence[int]]
    answers: Mapping[float, Sequence[Any]]
    kind: Literal["series", "stages"]
    training: Mapping[float, Sequence[Any]] = field(default_factory=dict)
    """The same about training rows, where models were asked about these, too."""
    line: str = ""
    """Which of several curves of the cell it is."""

    def named(self, name: str) -> str:
        """What it is called, if its cell has this name."""
        return f"{name}, {self.line}" if self.line else name

    def summary(self, metric: Metric, value: float) -> Summary:
        """A metric at a value."""
        return summarise(metric, self.answers[value], self._training_parts(value), self.scored.pooled)

    def is_like(self, other: Series, metric: Metric, value: float) -> bool:
        """Whether no test tells two cells apart at a value."""
        parts, pooled = self._training_parts(value), self.scored.pooled
        unstable = self.scored.unstable or other.scored.unstable
        found = compare(metric, self.answers[value], other.answers[value], parts, pooled, unstable=unstable)
        return not found.distinguishable

    def train_rows_at(self, value: float) -> list[int]:
        """How many rows each split has learned from."""
        return [self.scored.splits[place].train_rows for place in self.places.get(value, ())]

    def _training_parts(self, value: float) -> list[int]:
        parts = training_sizes(self.scored.cell_result)
        return [parts[place] for place in self.places[value]]


def series_of(model_result: ModelResult) -> list[Series]:
    """What a protocol has swept over, and the stages of the fits, where there are such."""
    if not model_result.done:
        return []
    lines = dict.fromkeys(at.line for at in each(model_result.splits, "coordinate") if at is not None and at.line)
    serieses = [_series_of_stages(model_result, line) for line in lines]
    if not lines:
        serieses = [_series_of_protocol(model_result), _series_of_stages(model_result)]
    return [series for series in serieses if series is not None]


def summaries_of(series: Series) -> dict[float, dict[str, Summary]]:
    """Each metric, by name, at each value."""
    metrics = series.scored.metrics
    return {value: {metric.name: series.summary(metric, value) for metric in metrics} for value in series.answers}


def _series_of_protocol(model_result: ModelResult) -> Series | None:
    """The splits by the coordinates at which their protocol has put them."""
    if not (over := coordinate_name(model_result.cell_result)):
        return None
    places: dict[float, list[int]] = {}
    for index, at in enumerate(each(model_result.splits, "coordinate")):
        places.setdefault(at.value, []).append(index)
    answers, learned = (
        {value: [given[index] for index in some] for value, some in places.items()} if given else {}
        for given in (judged_answers(model_result.cell_result), training_answers(model_result.cell_result))
    )
    return Series(model_result, over, places, answers, "series", learned)


def _series_of_stages(model_result: ModelResult, line: str = "") -> Series | None:
    """The stages at which every split has answered; a fit that ended before a stage has its last answers there.

    With a line only the splits that lie on it.
    """
    coordinates = each(model_result.splits, "coordinate")
    every = [index for index, at in enumerate(coordinates) if not line or (at is not None and at.line == line)]
    given = each(model_result.splits, "stages"), judged_answers(model_result.cell_result)
    stages, last = ([of_splits[index] for index in every] for of_splits in given)
    if not (named := next((at.name for of_split in stages for at, _ in of_split), "")):
        return None
    whole = _answers_by_stage(stages, last)
    learned = (
        {}
        if line
        else _answers_by_stage(
            each(model_result.splits, "training_stages"), training_answers(model_result.cell_result)
        )
    )
    return Series(model_result, named, dict.fromkeys(whole, every), whole, "stages", learned, line)


def _answers_by_stage(stages: Sequence[Any], last: Sequence[Any]) -> dict[float, list[Any]]:
    """The answers of all splits at each stage that all of them have."""
    by_split = [{at.value: answers for at, answers in of_split} for of_split in stages]
    at = {
        value: [
            known.get(value, last[index] if value > max(known, default=0.0) else None)
            for index, known in enumerate(by_split)
        ]
        for value in sorted({value for known in by_split for value in known})
    }
    return {value: answers for value, answers in at.items() if not any(answer is None for answer in answers)}


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
    """The value as it is written, where it is no plain number."""

    def gap(self, metric: Metric) -> float | None:
        """How much better training rows are answered than others, in the units of the score."""
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
        """The point of the best judged mean; of equals, the first."""
        known = [point for point in self.points if point.judged.mean is not None]
        return min(known, key=lambda point: badness(self.metric, point.judged.mean or 0.0), default=None)

    def per_doubling(self) -> float | None:
        """How much better the score is for twice as much of what was swept, over the last doubling."""
        known = [(point.value, point.judged.mean) for point in self.points if point.judged.mean is not None]
        if len(known) < 2 or known[0][0] <= 0:
            return None
        (start, before), (end, after) = next(
            ((one, known[-1]) for one in reversed(known[:-1]) if 2 * one[0] <= known[-1][0]), (known[0], known[-1])
        )
        better = badness(self.metric, before or 0.0) - badness(self.metric, after or 0.0)
        return better / math.log2(end / start)


def curves_over(
    model_result: ModelResult, name: str, kind: str, baseline: ModelResult | None = None
) -> Iterator[ScoreCurve]:
    """The curves of a cell: of what its protocol swept over (``series``), or of the stages of its fits."""
    metric = model_result.metrics[0]
    for series in series_of(model_result):
        if series.kind == kind:
            points = []
            for value, every in summaries_of(series).items():
                training = _training_score(metric, series.training.get(value, ()))
                points.append(CurvePoint(value, every[metric.name], every, *training))
            yield ScoreCurve(series.named(name), series.over, metric, tuple(points), _mean_score(baseline, metric))


def validation_curve(
    cells: Sequence[ModelResult], values: Sequence[Any], over: str, name: str, baseline: ModelResult | None = None
) -> ScoreCurve:
    """The curve of cells that differ in one parameter."""
    metric = cells[0].metrics[0]
    numeric = all(map(_is_number, values))
    points = []
    for number, (cell, value) in enumerate(zip(cells, values, strict=True), 1):
        results = _training_score(metric, training_answers(cell.cell_result))
        label = f"{value:.4g}" if isinstance(value, float) else str(value)
        place = float(value) if numeric else float(number)
        points.append(CurvePoint(place, cell.summaries[metric.name], cell.summaries, *results, label))
    return ScoreCurve(name, over, metric, tuple(points), _mean_score(baseline, metric), numeric)


def curve_finding(curve: ScoreCurve) -> Curve:
    """The curve as data: judged and training means, with the band of the judged ones."""
    means = tuple(point.judged.mean for point in curve.points)
    lines = [("judged", means)]
    if any(point.training is not None for point in curve.points):
        lines.append(("training", tuple(point.training for point in curve.points)))
    bands = [("judged", tuple(band(point.judged.mean, point.judged.std) for point in curve.points))]
    if len(lines) > 1:
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
    """From one spread below a mean to one above it, where both are known."""
    return None if mean is None or spread is None else (mean - spread, mean + spread)


def _training_score(metric: Metric, answers: Sequence[Any]) -> tuple[float | None, float | None]:
    result = defined_values(metric, answers)
    if not len(result) or not math.isfinite(result.mean()):
        return None, None
    return float(result.mean()), float(result.std(ddof=1)) if len(result) > 1 else None


def _mean_score(model_result: ModelResult | None, metric: Metric) -> float | None:
    known = model_result.summaries.get(metric.name) if model_result is not None else None
    return None if known is None else known.mean


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


REQUESTED = "bias_variance"
"""The parameter of a protocol that asks for it."""


def requested_decomposition(model_result: ModelResult) -> Decomposition | Undefined | None:
    """Bias and variance of a cell whose protocol asks for them; None where it does not."""
    literal = (
        model_result.done
        and model_result.cell.model.saved is None
        and model_result.cell.protocol.params.get(REQUESTED)
    )
    return bias_variance(judged_answers(model_result.cell_result)) if literal else None


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
    wanted = [result for result in group if result.cell.model.saved or result.cell.model.use in requested]
    baseline = next((result for result in group if result.is_baseline), None)
    if sweep.kind == "validation":
        yield validation_curve(wanted, sweep.values, sweep.over, wanted[0].cell.model.use, baseline)
        return
    kind = "series" if sweep.kind == "learning" else "stages"
    for result, name in group_of(wanted).items():
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
