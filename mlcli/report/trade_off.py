"""What fairness costs: accuracy against the difference between groups, of all models of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlcli.core.findings import Points
from mlcli.metrics.fairness import CRITERIA
from mlcli.metrics.pooling import distinct, joined
from mlcli.report.document import Content, Element, Field, Heading, grid, notes
from mlcli.report.scored import Names, Scored, judged

BEST = "*"
DECIMALS = 3
READING = (
    "the largest difference over all sensitive columns, each by itself, of all answers at once",
    f"{BEST}: no other model is at least as accurate and as fair by this criterion, and better in one of them "
    "(Pareto); who answers everybody alike is fair by most of them, and of no use",
)


@dataclass(frozen=True, eq=False)
class Position:
    """One model: how accurate it is, and by criterion how far groups lie apart."""

    name: str
    method: str
    accuracy: float
    apart: Mapping[str, float | None]


def trade_off_of(found: Mapping[Scored, Sequence[Any]], names: Names) -> Iterator[Element]:
    """A table by falling accuracy, and a point for each model, those of one method in one group."""
    positions = [_position(one, by, names[one]) for one, by in found.items()]
    first = next(iter(CRITERIA))
    known = [one for one in positions if one.apart[first] is not None]
    if len(known) < 2:
        return
    known.sort(key=lambda one: (-one.accuracy, one.apart[first]))
    yield Heading("What fairness costs")
    rows: list[list[Content]] = [
        [
            Field(one.name, "strong"),
            Field(f"{one.accuracy:.{DECIMALS}f}"),
            *(_difference(one, known, criterion) for criterion in CRITERIA),
        ]
        for one in known
    ]
    yield grid(["model", "accuracy", *CRITERIA], rows, right=range(1, 2 + len(CRITERIA)))
    yield notes(*READING)
    methods = dict.fromkeys(one.method for one in known)
    points = tuple(
        (name, tuple((one.apart[first] or 0.0, one.accuracy) for one in known if one.method == name))
        for name in methods
    )
    yield Points("", f"{first} (difference; left is fairer)", "accuracy", points)


def on_front(one: Position, others: Sequence[Position], criterion: str) -> bool:
    """Whether no other is at least as good in both, and better in one."""
    own = one.apart[criterion]
    if own is None:
        return False
    for other in others:
        apart = other.apart[criterion]
        if apart is None or (apart, other.accuracy) == (own, one.accuracy):
            continue
        if apart <= own and other.accuracy >= one.accuracy:
            return False
    return True


def _position(one: Scored, by: Sequence[Any], name: str) -> Position:
    answers = distinct(joined(judged(one.result)))
    accuracy = float(((answers.truth == answers.predicted) * answers.weights).sum() / answers.weights.sum())
    apart = {criterion: _largest(by, criterion) for criterion in CRITERIA}
    return Position(name, _method(one), accuracy, apart)


def _method(one: Scored) -> str:
    """What stands in one group of points: the settings of one method, with the steps that were asked for."""
    model = one.cell.model
    steps = [step.use for step in model.steps or ()]
    return " → ".join([*steps, model.use])


def _largest(by: Sequence[Any], criterion: str) -> float | None:
    alone = [one for one in by if len(one.columns) == 1]
    values = [one.gaps[criterion].difference for one in alone]
    known = [value for value in values if value is not None]
    return max(known, default=None)


def _difference(one: Position, others: Sequence[Position], criterion: str) -> Content:
    value = one.apart[criterion]
    if value is None:
        return Field("too few", "weak")
    best = on_front(one, others, criterion)
    return Field(BEST * best + f"{value:.{DECIMALS}f}", "best" if best else "")
