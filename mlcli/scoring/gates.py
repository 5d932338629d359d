"""What is expected of the models of an experiment, what was found, and whether it passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from operator import ge, gt, le, lt
from typing import Literal

from mlcli.experiment.spec.cells import Cell, CellResult, Experiment
from mlcli.experiment.spec.expectations import CAUTIOUS, Beats, Bound, Expectation, NotWorse
from mlcli.metrics.base import Metric
from mlcli.metrics.difference import Difference
from mlcli.scoring.differences import difference_between
from mlcli.scoring.model_results import ModelResult, score_result

SKIPPED = "skipped"
RELATIONS: dict[str, Callable[[float, float], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt}
RunNamed = Callable[[str], Sequence[CellResult]]
"""The results of a run by its name."""
FindingCode = Literal[
    "score", "bound", "undefined", "no-worse-side", "not-done", "no-score", "no-such-model", "no-model-judged",
    "difference", "change", "change-of-other-rows", "not-comparable", "not-in-run", "not-done-in-run",
]  # fmt: skip


@dataclass(frozen=True)
class GateFinding:
    """What was found of an expectation: the code says which of the fields it fills."""

    code: FindingCode
    metric: str = ""
    value: float | None = None
    """The score, the bound of its interval, or the difference of two scores."""
    score: float | None = None
    """The score whose bound ``value`` is."""
    low: float | None = None
    high: float | None = None
    before: float | None = None
    """The score in the run that is compared with."""
    p: float | None = None
    test: str = ""
    model: str = ""
    """The model that is compared with, where it is not there."""
    status: str = ""
    """How a model ended that has no score."""
    why: str = ""


@dataclass(frozen=True)
class Gate:
    """One expectation of one model on one dataset."""

    dataset: str
    model: str
    expected: str
    found: GateFinding
    passed: bool


@dataclass(frozen=True, eq=False)
class GateSubject:
    """A model that is to meet an expectation, beside all others of its experiment."""

    result: ModelResult
    others: Sequence[ModelResult]
    run_named: RunNamed

    @property
    def metric(self) -> Metric:
        """The metric that decides: the first."""
        return self.result.metrics[0]

    def gate(self, expectation: Expectation, gate_finding: GateFinding, passed: bool = False) -> Gate:
        """The gate of this model."""
        cell = self.result.cell
        return Gate(cell.dataset.name, cell.label, str(expectation), gate_finding, passed)


def gates_of(
    expectations: Sequence[Expectation], results: Sequence[ModelResult], run_named: RunNamed
) -> list[Gate]:
    """A gate for each expectation and each model that it is about; one that is about none has failed."""
    gates: list[Gate] = []
    for expectation in expectations:
        subjects = [
            GateSubject(result, results, run_named) for result in results if _is_about(expectation, result)
        ]
        judged = [gate for subject in subjects if (gate := judge(expectation, subject)) is not None]
        nobody = Gate(
            "-", expectation.model or "-", str(expectation), GateFinding("no-model-judged"), passed=False
        )
        gates += judged or [nobody]
    return gates


def _is_about(expectation: Expectation, result: ModelResult) -> bool:
    """Whether the expectation names the model, or names none and the model is not a baseline."""
    cell = result.cell
    named = expectation.model in (cell.label, cell.model.use) if expectation.model else not result.is_baseline
    return named and expectation.data in ("", cell.dataset.name) and result.status != SKIPPED


@singledispatch
def judge(expectation: Expectation, subject: GateSubject) -> Gate | None:
    """Whether a model meets an expectation; None where it is for another kind of task."""
    raise TypeError(f"there is no gate for {type(expectation).__name__}")


@judge.register
def _gate_of_bound(expectation: Bound, subject: GateSubject) -> Gate | None:
    if not subject.result.done:
        return subject.gate(expectation, GateFinding("not-done", status=subject.result.status))
    name, result = expectation.metric, subject.result
    if name not in result.summaries:
        result = score_result(result.cell_result, (name,))
    if name not in result.summaries:
        return None
    metric = next(metric for metric in result.metrics if metric.name == name)
    summary = result.summaries[name]
    if not expectation.relation and metric.better == "zero":
        return subject.gate(expectation, GateFinding("no-worse-side", name))
    relation = expectation.relation or ("<=" if metric.better == "low" else ">=")
    end = expectation.end or CAUTIOUS[relation[0]]
    value: float | None = getattr(summary, end)
    passed = value is not None and RELATIONS[relation](value, expectation.value)
    resolved = Bound(metric=name, relation=relation, value=expectation.value, end=end)
    if summary.mean is None:
        finding = GateFinding("undefined", name, why=summary.why)
    elif end == "mean":
        finding = GateFinding("score", name, summary.mean)
    else:
        finding = GateFinding("bound", name, value, summary.mean)
    return subject.gate(resolved, finding, passed)


@judge.register
def _gate_of_beats(expectation: Beats, subject: GateSubject) -> Gate | None:
    cell = subject.result.cell
    named = (other for other in subject.others if expectation.other in (other.cell.label, other.cell.model.use))
    rivals = (result for result in named if result is not subject.result and _are_comparable(result.cell, cell))
    if not (other := next(rivals, None)):
        return subject.gate(expectation, GateFinding("no-such-model", model=expectation.other))
    if not (subject.result.done and other.done):
        return subject.gate(expectation, GateFinding("no-score"))
    difference = difference_between(subject.result, other, subject.metric)
    gain = _gain(subject.metric, difference)
    passed = gain is not None and gain > 0 and difference.p is not None and difference.distinguishable
    return subject.gate(expectation, _finding_of_difference("difference", subject.metric, difference), passed)


def _finding_of_difference(code: FindingCode, metric: Metric, difference: Difference) -> GateFinding:
    if difference.mean is None:
        return GateFinding("not-comparable", metric.name, why=difference.why)
    return GateFinding(
        code,
        metric.name,
        difference.mean,
        low=difference.low,
        high=difference.high,
        p=difference.p,
        test=difference.test,
        why=difference.why,
    )


def _are_comparable(cell: Cell, other: Cell) -> bool:
    """Whether two cells belong into one table; a saved model stands in all tables of its dataset."""
    saved = cell.model.saved is not None or other.model.saved is not None
    same = (cell.dataset.name, cell.kind) == (other.dataset.name, other.kind)
    return same and (saved or cell.protocol.use == other.protocol.use)


def _gain(metric: Metric, difference: Difference) -> float | None:
    """The difference so that more is better."""
    if difference.mean is None:
        return None
    return -difference.mean if metric.better == "low" else difference.mean


@judge.register
def _gate_of_not_worse(expectation: NotWorse, subject: GateSubject) -> Gate | None:
    if not subject.result.done:
        return subject.gate(expectation, GateFinding("not-done", status=subject.result.status))
    cell, metric = subject.result.cell, subject.metric
    named = (result for result in subject.run_named(expectation.run) if result.cell.label == cell.label)
    if not (before := next((result for result in named if _are_comparable(result.cell, cell)), None)):
        return subject.gate(expectation, GateFinding("not-in-run"))
    other = score_result(before, (metric.name,))
    if not other.done:
        return subject.gate(expectation, GateFinding("not-done-in-run", status=other.status))
    difference = difference_between(subject.result, other, metric)
    if difference.mean is None:
        return _gate_on_other_rows(expectation, subject, other)
    worst = _worst_gain(metric, difference)
    finding = _finding_of_difference("change", metric, difference)
    return subject.gate(expectation, finding, worst is not None and worst >= -expectation.by)


def _gate_on_other_rows(expectation: NotWorse, subject: GateSubject, other: ModelResult) -> Gate:
    """The scores alone, where the rows or splits have changed since that run."""
    metric = subject.metric
    now, then = (result.summaries[metric.name].mean for result in (subject.result, other))
    gain = None if now is None or then is None else _gain(metric, Difference(now - then))
    if gain is None:
        return subject.gate(expectation, GateFinding("no-score"))
    finding = GateFinding("change-of-other-rows", metric.name, now, before=then)
    return subject.gate(expectation, finding, gain >= -expectation.by)


def _worst_gain(metric: Metric, difference: Difference) -> float | None:
    """The worse end of the interval of the gain; the gain itself where there is only a p."""
    low, high = difference.low, difference.high
    if low is None or high is None:
        return None if difference.p is None else _gain(metric, difference)
    return -high if metric.better == "low" else low


@dataclass(frozen=True, eq=False)
class ExperimentOutcome:
    """The results of an experiment, with what was expected of them."""

    title: str
    cells: Sequence[ModelResult]
    gates: Sequence[Gate]
    skipped: Sequence[ModelResult]
    """Models that were requested, and skipped."""


def outcome_of(experiment: Experiment, results: Sequence[ModelResult], run_named: RunNamed) -> ExperimentOutcome:
    """The results with their gates; ``run_named`` finds the runs that expectations refer to."""
    gates = gates_of(experiment.expect, results, run_named)
    return ExperimentOutcome(experiment.title, results, gates, _skipped_models(experiment, results))


def _skipped_models(experiment: Experiment, results: Sequence[ModelResult]) -> list[ModelResult]:
    """Models that were requested and skipped, unless they did another kind of task of this experiment."""
    requested = {model.use for model in experiment.models or () if model.saved is None}
    done = {(result.cell.model.use, result.cell.kind) for result in results if result.status != SKIPPED}
    skipped: list[ModelResult] = []
    for result in results:
        model = result.cell.model
        wanted = model.saved is not None or (model.requested and model.use in requested)
        elsewhere = any(use == model.use and kind != result.cell.kind for use, kind in done)
        if result.status == SKIPPED and wanted and not elsewhere:
            skipped.append(result)
    return skipped
