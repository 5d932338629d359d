"""What an experiment expects of its models: bounds of scores, models to beat, runs not to fall behind.

Three forms, in YAML under ``expect:``, each for all models or those that ``model`` and ``data`` name:

    accuracy.low >= 0.9                              an end of the interval, or the score itself (mean)
    beats: zero-r                                    better than another model, and not by chance
    not-worse-than: {run: 3, by: 0.01}               the interval of the difference stays above -0.01

Where no end is said, it is the cautious one: the lower for >=, the upper for <=.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from mlcli.core.errors import Problem, UsageError
from mlcli.core.quantities import number_in
from mlcli.core.strict_yaml import YamlNode
from mlcli.experiment.spec.cells import Spec

End = Literal["low", "mean", "high"]
BOUND = re.compile(
    r"\s*(?P<metric>\S+?)(?:\.(?P<end>low|mean|high))?\s*(?P<relation>>=|<=|>|<)\s*(?P<value>[-+]?[\d.]\S*)\s*"
)
SHORT = re.compile(r"(?P<metric>[^=]+?)(?:\.(?P<end>low|mean|high))?=(?P<value>[-+]?[\d.]\S*)")
CAUTIOUS: dict[str, End] = {">": "low", "<": "high"}
FORMS = "such as 'accuracy.low >= 0.9', {beats: zero-r} or {not-worse-than: {run: 3, by: 0.01}}"
ASKED = ("score", "beats", "not-worse-than")
ONLY = ("model", "data")


@dataclass(frozen=True, kw_only=True)
class Expectation(Spec):
    """What is expected, of which model on which dataset (empty: of all that were asked for)."""

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


def expectations_of(written: YamlNode, problems: list[Problem]) -> tuple[Expectation, ...]:
    """The expectations of a list; whatever is wrong is added to ``problems``."""
    legal = (_expectation(item, problems) for item in written.items())
    return tuple(expectation for expectation in legal if expectation is not None)


def fail_under(texts: Sequence[str]) -> tuple[Bound, ...]:
    """What ``--fail-under accuracy=0.9`` asks: no score whose interval may be worse than that."""
    return tuple(map(_fail_under, texts))


def _fail_under(text: str) -> Bound:
    match = SHORT.fullmatch(text)
    value = None if match is None else number_in(match["value"])
    if match is None or value is None:
        hint = "such as accuracy=0.9, or accuracy.mean=0.9 for the score itself"
        raise UsageError(f"--fail-under takes METRIC=VALUE, was given {text!r}", hint=hint)
    return Bound(metric=match["metric"], relation="", value=value, end=_end(match["end"]))


def _expectation(written: YamlNode, problems: list[Problem]) -> Expectation | None:
    if isinstance(written.value, str):
        return _bound(written, {}, problems)
    if not isinstance(written.value, dict):
        problems.append(written.problem(f"an expectation is text or a mapping; this is {written.given}", FORMS))
        return None
    parts = written.named()
    asked = [key for key in ASKED if key in parts]
    unknown = [key for key in parts if key not in (*ASKED, *ONLY)]
    if len(asked) != 1 or unknown:
        what = f"there is no key '{unknown[0]}' here" if unknown else f"takes one of {', '.join(ASKED)}"
        problems.append(written.problem(f"an expectation: {what}", FORMS))
        return None
    only = {key: str(parts[key].value) for key in ONLY if key in parts}
    return READERS[asked[0]](parts[asked[0]], only, problems)


def _bound(written: YamlNode, only: dict[str, str], problems: list[Problem]) -> Bound | None:
    match = BOUND.fullmatch(written.value) if isinstance(written.value, str) else None
    value = None if match is None else number_in(match["value"])
    if match is None or value is None:
        problems.append(written.problem(f"this is no bound of a score: {written.given}", FORMS))
        return None
    metric, relation = match["metric"], match["relation"]
    end = _end(match["end"]) or CAUTIOUS[relation[0]]
    return Bound(metric=metric, relation=relation, value=value, end=end, where=written.where, **only)


def _beats(written: YamlNode, only: dict[str, str], problems: list[Problem]) -> Beats | None:
    if not isinstance(written.value, str) or not written.value:
        problems.append(written.problem(f"'beats' takes the name of a model, was given {written.given}"))
        return None
    return Beats(other=written.value, where=written.where, **only)


def _not_worse(written: YamlNode, only: dict[str, str], problems: list[Problem]) -> NotWorse | None:
    value = written.value if isinstance(written.value, dict) else {"run": written.value}
    run, by = value.get("run"), value.get("by", 0.0)
    fits = type(run) in (int, str) and type(by) in (int, float) and by >= 0 and value.keys() <= {"run", "by"}
    if not fits:
        hint = "such as {run: 3, by: 0.01}: a run by its number or experiment file, and a margin"
        what = f"'not-worse-than' takes a run and a margin, was given {written.given}"
        problems.append(written.problem(what, hint))
        return None
    return NotWorse(run=str(run), by=float(by), where=written.where, **only)


Reader = Callable[[YamlNode, dict[str, str], list[Problem]], Expectation | None]
READERS: dict[str, Reader] = {"score": _bound, "beats": _beats, "not-worse-than": _not_worse}


def _end(text: str | None) -> End | None:
    ends: dict[str | None, End] = {"low": "low", "mean": "mean", "high": "high"}
    return ends.get(text)
