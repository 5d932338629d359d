"""What an experiment expects of its models: bounds of scores, models to beat, runs not to fall behind.

Three forms, in YAML under ``expect:``, each for all models or those that ``model`` and ``data`` name:

    accuracy.low >= 0.9                              an end of the interval, or the score itself (mean)
    beats: zero-r                                    better than another model, and not by chance
    not-worse-than: {run: 3, by: 0.01}               the interval of the difference stays above -0.01

If no end is named, it is the cautious one: the lower for >=, the upper for <=.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mlcli.core.errors import Problem, UsageError
from mlcli.core.names import number_in
from mlcli.core.strict_yaml import YamlNode
from mlcli.experiment.spec.cells import Spec

End = Literal["low", "mean", "high"]
CAUTIOUS: dict[str, End] = {">": "low", "<": "high"}
ENDS: dict[str | None, End] = {"low": "low", "mean": "mean", "high": "high"}
FORMS = "such as 'accuracy.low >= 0.9', {beats: zero-r} or {not-worse-than: {run: 3, by: 0.01}}"


@dataclass(frozen=True, kw_only=True)
class Expectation(Spec):
    """What is expected, of which model on which dataset (empty: of all)."""

    model: str = ""
    data: str = ""


@dataclass(frozen=True, kw_only=True)
class Bound(Expectation):
    """A score, or an end of its interval, stays on one side of a value; no relation: the side that is worse."""

    metric: str
    relation: str
    value: float
    end: End | None = None

    def __str__(self) -> str:
        measured = f"{self.metric}.{self.end}" if self.end else self.metric
        return f"{measured} {self.relation or 'no worse than'} {self.value:g}"


@dataclass(frozen=True, kw_only=True)
class Beats(Expectation):
    """The score is better than that of another model, and not by chance."""

    other: str

    def __str__(self) -> str:
        return f"beats {self.other}"


@dataclass(frozen=True, kw_only=True)
class NotWorse(Expectation):
    """The score is not worse than in another run, by more than a margin."""

    run: str
    by: float = 0.0

    def __str__(self) -> str:
        return f"not worse than in run {self.run} by {self.by:g}"


def fail_under(texts: Sequence[str]) -> tuple[Bound, ...]:
    """The bounds of ``--fail-under accuracy=0.9``: no score whose interval may be worse than that."""
    bounds = []
    for text in texts:
        match = re.fullmatch(r"(?P<metric>[^=]+?)(?:\.(?P<end>low|mean|high))?=(?P<value>[-+]?[\d.]\S*)", text)
        value = None if match is None else number_in(match["value"])
        if match is None or value is None:
            hint = "such as accuracy=0.9, or accuracy.mean=0.9 for the score itself"
            raise UsageError(f"--fail-under takes METRIC=VALUE, was given {text!r}", hint=hint)
        bounds.append(Bound(metric=match["metric"], relation="", value=value, end=ENDS.get(match["end"])))
    return tuple(bounds)


def expectations_of(node: YamlNode, problems: list[Problem]) -> tuple[Expectation, ...]:
    """The valid expectations of a list; the problems of the others are added to ``problems``."""
    expectations = (_expectation(item, problems) for item in node.items())
    return tuple(expectation for expectation in expectations if expectation is not None)


def _expectation(node: YamlNode, problems: list[Problem]) -> Expectation | None:
    if isinstance(node.value, str):
        return _bound(node, {}, problems)
    if not isinstance(node.value, dict):
        problems.append(node.problem(f"an expectation is text or a mapping; this is {node.given}", FORMS))
        return None
    parts = node.named()
    forms, selectors = ("score", "beats", "not-worse-than"), ("model", "data")
    present = [key for key in forms if key in parts]
    unknown = [key for key in parts if key not in (*forms, *selectors)]
    if len(present) != 1 or unknown:
        what = f"there is no key '{unknown[0]}' here" if unknown else f"takes one of {', '.join(forms)}"
        problems.append(node.problem(f"an expectation: {what}", FORMS))
        return None
    selected = {key: str(parts[key].value) for key in selectors if key in parts}
    read = {"score": _bound, "beats": _beats, "not-worse-than": _not_worse}[present[0]]
    return read(parts[present[0]], selected, problems)


def _bound(node: YamlNode, selected: dict[str, str], problems: list[Problem]) -> Expectation | None:
    pattern = (
        r"\s*(?P<metric>\S+?)(?:\.(?P<end>low|mean|high))?\s*(?P<relation>>=|<=|>|<)\s*(?P<value>[-+]?[\d.]\S*)\s*"
    )
    match = re.fullmatch(pattern, node.value) if isinstance(node.value, str) else None
    value = None if match is None else number_in(match["value"])
    if match is None or value is None:
        problems.append(node.problem(f"this is no bound of a score: {node.given}", FORMS))
        return None
    relation = match["relation"]
    end = ENDS.get(match["end"]) or CAUTIOUS[relation[0]]
    return Bound(metric=match["metric"], relation=relation, value=value, end=end, where=node.where, **selected)


def _beats(node: YamlNode, selected: dict[str, str], problems: list[Problem]) -> Expectation | None:
    if not isinstance(node.value, str) or not node.value:
        problems.append(node.problem(f"'beats' takes the name of a model, was given {node.given}"))
        return None
    return Beats(other=node.value, where=node.where, **selected)


def _not_worse(node: YamlNode, selected: dict[str, str], problems: list[Problem]) -> Expectation | None:
    value = node.value if isinstance(node.value, dict) else {"run": node.value}
    run, by = value.get("run"), value.get("by", 0.0)
    is_valid = type(run) in (int, str) and type(by) in (int, float) and by >= 0 and value.keys() <= {"run", "by"}
    if not is_valid:
        hint = "such as {run: 3, by: 0.01}: a run by its number or experiment file, and a margin"
        problems.append(node.problem(f"'not-worse-than' takes a run and a margin, was given {node.given}", hint))
        return None
    return NotWorse(run=str(run), by=float(by), where=node.where, **selected)
