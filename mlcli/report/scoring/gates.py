"""How an experiment went for who asked: what was expected of models, what was found, and whether it passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any

from mlcli.experiment.spec.cells import Cell, CellResult, Experiment
from mlcli.experiment.spec.expectations import CAUTIOUS, Beats, Bound, Expectation, NotWorse
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.difference import Difference
from mlcli.report.numbers import as_equation, decimals_of, fixed
from mlcli.report.scoring.differences import difference_between
from mlcli.report.scoring.scored import Scored, scored

SKIPPED = "skipped"
RELATIONS: dict[str, Callable[[float, float], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt}
NOTHING = "no model of this experiment can be judged so"
RunNamed = Callable[[str], Sequence[CellResult]]
"""The results of a run by its name."""


@dataclass(frozen=True)
class Gate:
    """One expectation of one model on one dataset."""

    dataset: str
    model: str
    expected: str
    found: str
    passed: bool


@dataclass(frozen=True, eq=False)
class GateSubject:
    """A cell that is to meet an expectation, beside all others of its experiment."""

    scored: Scored
    others: Sequence[Scored]
    run_named: RunNamed

    @property
    def metric(self) -> Metric:
        """The metric that decides: the first."""
        return self.scored.metrics[0]

    def gate(self, expectation: Expectation, found: str, passed: bool = False) -> Gate:
        """What came of an expectation."""
        cell = self.scored.cell
        return Gate(cell.dataset.name, cell.label, str(expectation), found, passed)


def gates_of(expectations: Sequence[Expectation], cells: Sequence[Scored], run_named: RunNamed) -> list[Gate]:
    """A gate for each expectation and each cell that it is about; one that is about none has failed."""
    return [gate for one in expectations for gate in _gates_for(one, cells, run_named)]


def _gates_for(expectation: Expectation, cells: Sequence[Scored], run_named: RunNamed) -> list[Gate]:
    about = [one for one in cells if _is_about(expectation, one)]
    gates = [judge(expectation, GateSubject(one, cells, run_named)) for one in about]
    known = [gate for gate in gates if gate is not None]
    return known or [Gate("-", expectation.model or "-", str(expectation), NOTHING, passed=False)]


def _is_about(expectation: Expectation, one: Scored) -> bool:
    """Whether a model is named, or else was not put into the table only to be beaten."""
    cell = one.cell
    named = expectation.model in (cell.label, cell.model.use) if expectation.model else not one.is_baseline
    return named and expectation.data in ("", cell.dataset.name) and one.result.status != SKIPPED


@singledispatch
def judge(expectation: Expectation, subject: GateSubject) -> Gate | None:
    """Whether a cell meets an expectation; None where it is of another kind of task."""
    raise TypeError(f"there is no gate for {type(expectation).__name__}")


@judge.register
def _gate_of_bound(expectation: Bound, subject: GateSubject) -> Gate | None:
    if not subject.scored.done:
        return subject.gate(expectation, f"its cell is {subject.scored.result.status}")
    one = _scored_by(subject.scored, expectation.metric)
    if one is None:
        return None
    metric = next(metric for metric in one.metrics if metric.name == expectation.metric)
    summary = one.summaries[metric.name]
    if not expectation.relation and metric.better == "zero":
        return subject.gate(expectation, f"{metric.name} is best at 0: it has no worse side")
    relation = expectation.relation or ("<=" if metric.better == "low" else ">=")
    end = expectation.end or CAUTIOUS[relation[0]]
    value = getattr(summary, end)
    passed = value is not None and RELATIONS[relation](value, expectation.value)
    said = Bound(metric=metric.name, relation=relation, value=expectation.value, end=end)
    return subject.gate(said, _score_text(metric, summary, end), passed)


def _scored_by(one: Scored, name: str) -> Scored | None:
    if name in one.summaries:
        return one
    again = scored(one.result, (name,))
    return again if name in again.summaries else None


def _score_text(metric: Metric, summary: Summary, end: str) -> str:
    if summary.mean is None:
        return f"undefined: {summary.why}"
    decimals = decimals_of(metric, [summary])
    mean, value = fixed(summary.mean, decimals), getattr(summary, end)
    if end == "mean":
        return mean
    return f"no interval; score {mean}" if value is None else f"{fixed(value, decimals)} (score {mean})"


@judge.register
def _gate_of_beats(expectation: Beats, subject: GateSubject) -> Gate | None:
    cell = subject.scored.cell
    called = (one for one in subject.others if expectation.other in (one.cell.label, one.cell.model.use))
    beside = (one for one in called if one is not subject.scored and _are_comparable(one.cell, cell))
    if not (other := next(beside, None)):
        return subject.gate(expectation, f"{expectation.other} is not in this experiment")
    if not (subject.scored.done and other.done):
        return subject.gate(expectation, "one of them has no score")
    difference = difference_between(subject.scored, other, subject.metric)
    gain = _gain(subject.metric, difference)
    passed = gain is not None and gain > 0 and difference.p is not None and difference.distinguishable
    return subject.gate(expectation, _difference_text(subject.metric, difference), passed)


def _are_comparable(one: Cell, other: Cell) -> bool:
    """Whether two cells belong into one table; a saved model stands in all tables of its dataset."""
    saved = one.model.saved is not None or other.model.saved is not None
    same = (one.dataset.name, one.kind) == (other.dataset.name, other.kind)
    return same and (saved or one.protocol.use == other.protocol.use)


def _gain(metric: Metric, difference: Difference) -> float | None:
    """The difference so that more is better."""
    if difference.mean is None:
        return None
    return -difference.mean if metric.better == "low" else difference.mean


def _difference_text(metric: Metric, difference: Difference) -> str:
    if difference.mean is None:
        return difference.why
    p = "" if difference.p is None else f", p {as_equation(difference.p)} ({difference.test})"
    return f"{metric.name} {difference.mean:+.4g}{p}"


@judge.register
def _gate_of_not_worse(expectation: NotWorse, subject: GateSubject) -> Gate | None:
    if not subject.scored.done:
        return subject.gate(expectation, f"its cell is {subject.scored.result.status}")
    cell, metric = subject.scored.cell, subject.metric
    called = (result for result in subject.run_named(expectation.run) if result.cell.label == cell.label)
    if not (before := next((result for result in called if _are_comparable(result.cell, cell)), None)):
        return subject.gate(expectation, "that run has no such model on this dataset")
    other = scored(before, (metric.name,))
    if not other.done:
        return subject.gate(expectation, f"in that run its cell is {other.result.status}")
    difference = difference_between(subject.scored, other, metric)
    if difference.mean is None:
        return _gate_on_other_rows(expectation, subject, other)
    worst = _worst_gain(metric, difference)
    low, high, found = difference.low, difference.high, difference.why or "no test could be made"
    if low is not None and high is not None:
        found = f"{metric.name} {difference.mean:+.4g} (95 % interval {low:.4g} to {high:.4g})"
    return subject.gate(expectation, found, worst is not None and worst >= -expectation.by)


def _gate_on_other_rows(expectation: NotWorse, subject: GateSubject, other: Scored) -> Gate:
    """The scores alone, where the rows or splits have changed since that run."""
    metric = subject.metric
    now, then = (one.summaries[metric.name].mean for one in (subject.scored, other))
    gain = None if now is None or then is None else _gain(metric, Difference(now - then))
    if gain is None:
        return subject.gate(expectation, "one of them has no score")
    return subject.gate(
        expectation, f"{metric.name} {now:.4g}, then {then:.4g}, of other rows", gain >= -expectation.by
    )


def _worst_gain(metric: Metric, difference: Difference) -> float | None:
    """The end of the interval of the gain that is the worse one; the gain itself where nothing else was seen."""
    low, high = difference.low, difference.high
    if low is None or high is None:
        return None if difference.p is None else _gain(metric, difference)
    return -high if metric.better == "low" else low


def gates_as_json(gates: Sequence[Gate]) -> list[dict[str, Any]]:
    """The gates as plain values."""
    return [dict(vars(gate)) for gate in gates]


@dataclass(frozen=True, eq=False)
class ExperimentOutcome:
    """How an experiment went for who asked."""

    title: str
    cells: Sequence[Scored]
    gates: Sequence[Gate]
    skipped: Sequence[Scored]
    """Cells of models that were asked for, and skipped."""


def outcome_of(experiment: Experiment, cells: Sequence[Scored], store: Path | None) -> ExperimentOutcome:
    """The cells with what was expected of them; runs that are referred to are in the store."""

    @lru_cache
    def run_named(name: str) -> Sequence[CellResult]:
        from mlcli.experiment.store.store import named_run

        return named_run(name, store)[1]

    gates = gates_of(experiment.expect, cells, run_named)
    return ExperimentOutcome(experiment.title, cells, gates, _skipped_cells(experiment, cells))


def _skipped_cells(experiment: Experiment, cells: Sequence[Scored]) -> list[Scored]:
    """Cells of models that were asked for and skipped, but where the model does another kind that is here, too."""
    asked = {model.use for model in experiment.models or () if model.saved is None}
    done = {(one.cell.model.use, one.cell.kind) for one in cells if one.result.status != SKIPPED}
    return [
        one
        for one in cells
        if one.result.status == SKIPPED
        and (one.cell.model.saved or (one.cell.model.asked and one.cell.model.use in asked))
        and not any(use == one.cell.model.use and kind != one.cell.kind for use, kind in done)
    ]
