"""What is expected of the models of an experiment, what was found, and whether it passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    "score", "bound", "undefined", "no-worse-side", "not-done", "no-score", "no-such-model", "no-model-scored",
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


def gates_of(
    expectations: Sequence[Expectation], results: Sequence[ModelResult], run_named: RunNamed
) -> list[Gate]:
    """A gate for each expectation and each model that it is about; one that is about none has failed."""
    gates: list[Gate] = []
    for expectation in expectations:
        of_expectation: list[Gate] = []
        for result in results:
            cell = result.cell
            named = expectation.model in (cell.label, cell.model.use)
            is_about = named if expectation.model else not result.is_baseline
            if is_about and expectation.data in ("", cell.dataset.name) and result.status != SKIPPED:
                gate = _gate(expectation, result, results, run_named)
                of_expectation += [] if gate is None else [gate]
        no_model = Gate("-", expectation.model or "-", str(expectation), GateFinding("no-model-scored"), False)
        gates += of_expectation or [no_model]
    return gates


def _gate(
    expectation: Expectation, result: ModelResult, others: Sequence[ModelResult], run_named: RunNamed
) -> Gate | None:
    """Whether a model meets an expectation; None where it is for another kind of task."""
    expected: Expectation = expectation
    if isinstance(expectation, Bound):
        bound = _find_bound(expectation, result)
        if bound is None:
            return None
        expected, finding, passed = bound
    elif isinstance(expectation, Beats):
        finding, passed = _find_rival(expectation, result, others)
    elif isinstance(expectation, NotWorse):
        finding, passed = _find_change(expectation, result, run_named(expectation.run))
    else:
        raise TypeError(f"there is no gate for {type(expectation).__name__}")
    return Gate(result.cell.dataset.name, result.cell.label, str(expected), finding, passed)


def _find_bound(expectation: Bound, result: ModelResult) -> tuple[Bound, GateFinding, bool] | None:
    """A score, or the bound of its interval, beside a value; the expectation gets what it left open."""
    if not result.done:
        return expectation, GateFinding("not-done", status=result.status), False
    name = expectation.metric
    if name not in result.summaries:
        result = score_result(result.cell_result, (name,))
    if name not in result.summaries:
        return None
    metric = next(metric for metric in result.metrics if metric.name == name)
    summary = result.summaries[name]
    if not expectation.relation and metric.better == "zero":
        return expectation, GateFinding("no-worse-side", name), False
    relation = expectation.relation or ("<=" if metric.better == "low" else ">=")
    end = expectation.end or CAUTIOUS[relation[0]]
    value = {"mean": summary.mean, "low": summary.low, "high": summary.high}[end]
    passed = value is not None and RELATIONS[relation](value, expectation.value)
    if summary.mean is None:
        finding = GateFinding("undefined", name, why=summary.why)
    elif end == "mean":
        finding = GateFinding("score", name, summary.mean)
    else:
        finding = GateFinding("bound", name, value, summary.mean)
    return Bound(metric=name, relation=relation, value=expectation.value, end=end), finding, passed


def _find_rival(
    expectation: Beats, result: ModelResult, others: Sequence[ModelResult]
) -> tuple[GateFinding, bool]:
    """The difference from another model, which must be better and significant."""
    cell, metric = result.cell, result.metrics[0]
    named = (other for other in others if expectation.other in (other.cell.label, other.cell.model.use))
    rival = next((other for other in named if other is not result and _are_comparable(other.cell, cell)), None)
    if rival is None:
        return GateFinding("no-such-model", model=expectation.other), False
    if not (result.done and rival.done):
        return GateFinding("no-score"), False
    difference = difference_between(result, rival, metric)
    is_better = difference.mean is not None and _gain(metric, difference.mean) > 0
    passed = is_better and difference.p is not None and difference.distinguishable
    return _finding_of("difference", metric, difference), passed


def _find_change(
    expectation: NotWorse, result: ModelResult, run: Sequence[CellResult]
) -> tuple[GateFinding, bool]:
    """The change since another run, whose worse end must be small enough."""
    if not result.done:
        return GateFinding("not-done", status=result.status), False
    cell, metric = result.cell, result.metrics[0]
    same_label = (other for other in run if other.cell.label == cell.label)
    before = next((other for other in same_label if _are_comparable(other.cell, cell)), None)
    if before is None:
        return GateFinding("not-in-run"), False
    other = score_result(before, (metric.name,))
    if not other.done:
        return GateFinding("not-done-in-run", status=other.status), False
    difference = difference_between(result, other, metric)
    if difference.mean is None:  # the rows or splits have changed since that run: the scores alone
        now, then = (scored.summaries[metric.name].mean for scored in (result, other))
        if now is None or then is None:
            return GateFinding("no-score"), False
        finding = GateFinding("change-of-other-rows", metric.name, now, before=then)
        return finding, _gain(metric, now - then) >= -expectation.by
    if difference.low is not None and difference.high is not None:
        worst = min(_gain(metric, difference.low), _gain(metric, difference.high))
        passed = worst >= -expectation.by
    else:
        passed = difference.p is not None and _gain(metric, difference.mean) >= -expectation.by
    return _finding_of("change", metric, difference), passed


def _finding_of(code: FindingCode, metric: Metric, difference: Difference) -> GateFinding:
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


def _gain(metric: Metric, difference: float) -> float:
    """The difference so that more is better."""
    return -difference if metric.better == "low" else difference


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
    # A requested model that was skipped, unless it did another kind of task of this experiment
    requested = {model.use for model in experiment.models or () if model.saved is None}
    done = {(result.cell.model.use, result.cell.kind) for result in results if result.status != SKIPPED}
    skipped: list[ModelResult] = []
    for result in results:
        model = result.cell.model
        is_requested = model.saved is not None or (model.requested and model.use in requested)
        is_done_elsewhere = any(use == model.use and kind != result.cell.kind for use, kind in done)
        if result.status == SKIPPED and is_requested and not is_done_elsewhere:
            skipped.append(result)
    return ExperimentOutcome(experiment.title, results, gates, skipped)
