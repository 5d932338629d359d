"""Gates: what was expected of models, what was found, and whether it passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from operator import ge, gt, le, lt
from typing import Any

from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.experiment.spec.expectations import CAUTIOUS, Beats, Bound, Expectation, NotWorse
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.difference import Difference
from mlcli.report.differences import difference_between
from mlcli.report.document import Content, Element, Field, Heading, Sentence, grid
from mlcli.report.numbers import as_equation, counted, fixed
from mlcli.report.scored import Scored, scored
from mlcli.report.scores import decimals_of

RESULTS = {True: Field("passed", "best"), False: Field("FAILED", "bad")}
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
class Judged:
    """A cell that is to meet an expectation, beside all others of its experiment."""

    one: Scored
    others: Sequence[Scored]
    run_named: RunNamed

    @property
    def metric(self) -> Metric:
        """The metric that decides: the first."""
        return self.one.metrics[0]

    def gate(self, expectation: Expectation, found: str, passed: bool) -> Gate:
        """What came of an expectation."""
        cell = self.one.cell
        return Gate(cell.dataset.name, cell.label, str(expectation), found, passed)


def gates_of(expectations: Sequence[Expectation], found: Sequence[Scored], run_named: RunNamed) -> list[Gate]:
    """A gate for each expectation and each cell that it is about; one that is about none has failed."""
    return [gate for one in expectations for gate in _gates(one, found, run_named)]


def _gates(expectation: Expectation, found: Sequence[Scored], run_named: RunNamed) -> list[Gate]:
    about = [one for one in found if _is_about(expectation, one)]
    gates = [judge(expectation, Judged(one, found, run_named)) for one in about]
    known = [gate for gate in gates if gate is not None]
    return known or [Gate("-", expectation.model or "-", str(expectation), NOTHING, passed=False)]


def _is_about(expectation: Expectation, one: Scored) -> bool:
    """Whether a model is named, or else was not put into the table only to be beaten."""
    cell = one.cell
    named = expectation.model in (cell.label, cell.model.use) if expectation.model else not one.is_baseline
    return named and expectation.data in ("", cell.dataset.name) and one.result.status != "skipped"


@singledispatch
def judge(expectation: Expectation, judged: Judged) -> Gate | None:
    """Whether a cell meets an expectation; None where it is of another kind of task."""
    raise TypeError(f"there is no gate for {type(expectation).__name__}")


@judge.register
def _bound(expectation: Bound, judged: Judged) -> Gate | None:
    if not judged.one.done:
        return judged.gate(expectation, f"its cell is {judged.one.result.status}", passed=False)
    one = _with_metric(judged.one, expectation.metric)
    if one is None:
        return None
    metric = next(metric for metric in one.metrics if metric.name == expectation.metric)
    summary = one.summaries[metric.name]
    if not expectation.relation and metric.better == "zero":
        return judged.gate(expectation, f"{metric.name} is best at 0: it has no worse side", passed=False)
    relation = expectation.relation or ("<=" if metric.better == "low" else ">=")
    end = expectation.end or CAUTIOUS[relation[0]]
    value = getattr(summary, end)
    passed = value is not None and RELATIONS[relation](value, expectation.value)
    said = Bound(metric=metric.name, relation=relation, value=expectation.value, end=end)
    return judged.gate(said, _score_found(metric, summary, end), passed)


def _with_metric(one: Scored, name: str) -> Scored | None:
    """The cell scored by a metric too, where its kind of task has it."""
    if name in one.summaries:
        return one
    again = scored(one.result, (name,))
    return again if name in again.summaries else None


def _score_found(metric: Metric, summary: Summary, end: str) -> str:
    if summary.mean is None:
        return f"undefined: {summary.why}"
    decimals = decimals_of(metric, [summary])
    mean, value = fixed(summary.mean, decimals), getattr(summary, end)
    if end == "mean":
        return mean
    return f"no interval; score {mean}" if value is None else f"{fixed(value, decimals)} (score {mean})"


@judge.register
def _beats(expectation: Beats, judged: Judged) -> Gate | None:
    cell = judged.one.cell
    others = [
        other
        for other in judged.others
        if _stand_together(other.cell, cell)
        and expectation.other in (other.cell.label, other.cell.model.use)
        and other is not judged.one
    ]
    if not others:
        return judged.gate(expectation, f"{expectation.other} is not in this experiment", passed=False)
    if not (judged.one.done and others[0].done):
        return judged.gate(expectation, "one of them has no score", passed=False)
    difference = difference_between(judged.one, others[0], judged.metric)
    gain = _gain(judged.metric, difference)
    passed = gain is not None and gain > 0 and difference.p is not None and difference.distinguishable
    return judged.gate(expectation, _difference_found(judged.metric, difference), passed)


def _stand_together(one: Cell, other: Cell) -> bool:
    """Whether two cells belong into one table; a saved model stands in all tables of its dataset."""
    saved = one.model.saved is not None or other.model.saved is not None
    same = (one.dataset.name, one.kind) == (other.dataset.name, other.kind)
    return same and (saved or one.protocol.use == other.protocol.use)


def _gain(metric: Metric, difference: Difference) -> float | None:
    """The difference so that more is better."""
    if difference.mean is None:
        return None
    return -difference.mean if metric.better == "low" else difference.mean


def _difference_found(metric: Metric, difference: Difference) -> str:
    if difference.mean is None:
        return difference.why
    p = "" if difference.p is None else f", p {as_equation(difference.p)} ({difference.test})"
    return f"{metric.name} {difference.mean:+.4g}{p}"


@judge.register
def _not_worse(expectation: NotWorse, judged: Judged) -> Gate | None:
    if not judged.one.done:
        return judged.gate(expectation, f"its cell is {judged.one.result.status}", passed=False)
    cell, metric = judged.one.cell, judged.metric
    before = [
        result
        for result in judged.run_named(expectation.run)
        if _stand_together(result.cell, cell) and result.cell.label == cell.label
    ]
    if not before:
        return judged.gate(expectation, "that run has no such model on this dataset", passed=False)
    other = scored(before[0], (metric.name,))
    if not other.done:
        return judged.gate(expectation, f"in that run its cell is {other.result.status}", passed=False)
    difference = difference_between(judged.one, other, metric)
    if difference.mean is None:
        return _beside_other_rows(expectation, judged, other)
    worst = _worst_gain(metric, difference)
    passed = worst is not None and worst >= -expectation.by
    return judged.gate(expectation, _interval_found(metric, difference), passed)


def _beside_other_rows(expectation: NotWorse, judged: Judged, other: Scored) -> Gate:
    """The scores alone, where the rows or splits have changed since that run."""
    metric = judged.metric
    now, then = (one.summaries[metric.name].mean for one in (judged.one, other))
    gain = None if now is None or then is None else _gain(metric, Difference(now - then))
    text = (
        "one of them has no score" if gain is None else f"{metric.name} {now:.4g}, then {then:.4g}, of other rows"
    )
    return judged.gate(expectation, text, passed=gain is not None and gain >= -expectation.by)


def _worst_gain(metric: Metric, difference: Difference) -> float | None:
    """The end of the interval of the gain that is the worse one; the gain itself where nothing else was seen."""
    low, high = difference.low, difference.high
    if low is None or high is None:
        return None if difference.p is None else _gain(metric, difference)
    return -high if metric.better == "low" else low


def _interval_found(metric: Metric, difference: Difference) -> str:
    if difference.mean is None or difference.low is None or difference.high is None:
        return difference.why or "no test could be made"
    return f"{metric.name} {difference.mean:+.4g} (95 % interval {difference.low:.4g} to {difference.high:.4g})"


def gates_as_elements(gates: Sequence[Gate]) -> Iterator[Element]:
    """The gates as a table, and how many failed; nothing where there are none."""
    if not gates:
        return
    yield Heading("Gates", 1)
    rows: list[list[Content]] = [
        [gate.dataset, gate.model, gate.expected, gate.found, RESULTS[gate.passed]] for gate in gates
    ]
    yield grid(["dataset", "model", "expected", "found", "result"], rows, keys=2)
    failed = sum(not gate.passed for gate in gates)
    said = (
        f"{failed} of {counted(len(gates), 'gate')} failed"
        if failed
        else f"All {counted(len(gates), 'gate')} passed"
    )
    yield Sentence(f"{said}.", "strong")


def gates_as_json(gates: Sequence[Gate]) -> list[dict[str, Any]]:
    """The gates as plain values."""
    return [dict(vars(gate)) for gate in gates]
