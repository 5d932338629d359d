"""The threshold from which a detector flags rows: the rules of ``decide``, and how each derives a threshold."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core import CLOSE
from mlcli.core.moments import summed_from_the_top
from mlcli.core.params import Inside, Parameter, yaml_from_text
from mlcli.core.serialise import Json
from mlcli.core.tables import Array, Flags

if TYPE_CHECKING:
    from mlcli.tasks.anomaly import Detector

WRITTEN = re.compile(r"(threshold|top|share|p)\s*(?:[:=<]|>=?|)\s*([-+.\deE]+)")
WORDS = "own, {threshold: 3}, {top: 5}, {share: 0.05}, or p < 0.05"
FAR_OUT = 3.0
"""A score is far out if it exceeds the upper quartile by this many interquartile ranges (Tukey 1977)."""


@dataclass(frozen=True)
class Decision:
    """A rule with its amount: the threshold, the number of rows, the share of rows, or the largest p."""

    rule: str
    amount: float = 0.0

    @property
    def of_judged_rows(self) -> bool:
        """Whether it ranks the scored rows among themselves; other rules compare them with training rows."""
        return self.rule == "top"

    def problem(self) -> str | None:
        """What is wrong with the amount."""
        legal = {
            "threshold": ("a finite number", math.isfinite(self.amount)),
            "top": ("a whole number from 1 on", self.amount >= 1 and self.amount % 1 == 0),
            "share": ("between 0 and 1", 0 < self.amount < 1),
            "p": ("between 0 and 1", 0 < self.amount < 1),
        }
        words, holds = legal.get(self.rule, ("", True))
        return None if holds else f"{self.rule} must be {words}, was given {self.amount:g}"


@dataclass(frozen=True)
class Limit:
    """The lowest score that is flagged, and how it was derived."""

    threshold: float
    why: str


def threshold_in_words(threshold: float, digits: int = 6) -> str:
    """Which scores reach a threshold, in words; the smallest float above 0 stands for "above 0"."""
    return "above 0" if 0 < threshold < np.finfo(np.float64).tiny else f"at least {threshold:.{digits}g}"


def read_decision(value: object) -> Decision | None:
    """The decision that text or a mapping describes; None if it describes none."""
    if isinstance(value, Decision) or value == "own":
        return value if isinstance(value, Decision) else Decision("own")
    rule: object
    amount: object
    if isinstance(value, str) and (match := WRITTEN.fullmatch(value.strip())):
        rule, amount = match.groups()
    elif isinstance(value, Mapping) and len(value) == 1:
        ((rule, amount),) = value.items()
    else:
        return None
    if rule not in ("threshold", "top", "share", "p") or not isinstance(amount, str | int | float):
        return None
    try:
        return None if isinstance(amount, bool) else Decision(str(rule), float(amount))
    except ValueError:
        return None


@dataclass(frozen=True)
class DecisionParameter(Parameter):
    """The parameter ``decide``: text, or a mapping with one rule."""

    def problem_with(self, value: object) -> str | None:
        """What is wrong with the rule or its amount."""
        if value is None:
            return None
        decision = read_decision(value)
        return f"takes {WORDS}; was given {value!r}" if decision is None else decision.problem()

    def converted(self, value: object, inside: Inside) -> Decision | None:
        """The decision; None to choose by labels."""
        return read_decision(value)

    def plain(self, value: Decision | None) -> object:
        """The rule alone, or a mapping."""
        if value is None or value.rule == "own":
            return value and "own"
        return {value.rule: int(value.amount) if value.rule == "top" else value.amount}

    def from_text(self, text: str) -> Any:
        """A rule typed in a shell, or a mapping in YAML."""
        if text.lower() in ("none", "null", ""):
            return None
        return yaml_from_text(text, self.name) if text.startswith("{") else text

    def words(self) -> str:
        """The legal values, in words."""
        return f"{WORDS}, or none"

    def schema(self) -> Json:
        """One of the rules."""
        share: Json = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
        threshold: Json = {"type": "number"}
        amounts = {"threshold": threshold, "top": {"type": "integer", "minimum": 1}, "share": share, "p": share}
        mappings = [
            {"type": "object", "properties": {rule: amount}, "required": [rule], "additionalProperties": False}
            for rule, amount in amounts.items()
        ]
        text = {"type": "string", "pattern": f"^(own|{WRITTEN.pattern})$".replace("?:", "")}
        return {"anyOf": [text, *mappings, {"type": "null"}], "description": self.help, "default": self.default}


def decision_param(help: str) -> Any:
    """Declare the parameter; it is among the settings only where it is given."""
    declared = DecisionParameter(help, (str, dict), name="", default=None, optional=True, if_given=True)
    return dataclasses.field(
        default=None, metadata={"param": lambda name, hint: replace(declared, name=name, field=name)}
    )


@dataclass(frozen=True, eq=False)
class LearnedScores:
    """The scores of some rows with their weights, by default of the training rows."""

    score: Array
    weights: Array
    which: str = "that were learned from"

    def at_most(self, most: float, *, least_one: bool) -> float:
        """The lowest threshold that rows of at most this weight reach; ``least_one``: at least the top row."""
        falling, (reached,) = summed_from_the_top(self.score, self.weights)
        within = np.flatnonzero(reached <= most * (1 + CLOSE))
        if len(within):
            return float(falling[within[-1]])
        return float(falling[0] if least_one else np.nextafter(falling[0], np.inf))

    def quantile(self, share: float) -> float:
        """The lowest score that this share of the rows does not exceed."""
        order = np.argsort(self.score, kind="stable")
        reached = np.cumsum(self.weights[order])
        index = min(int(np.searchsorted(reached, share * reached[-1])), len(order) - 1)
        return float(self.score[order[index]])


def limit_by_rule(model: Detector, decision: Decision | None, learned: Callable[[], LearnedScores]) -> Limit:
    """The threshold of a fitted detector by a rule; by its own rule if none is given.

    ``learned`` computes the scores of the training rows, which not every rule needs.
    """
    if decision is None or decision.rule == "own":
        return _own_limit(model, learned)
    amount = decision.amount
    if decision.rule == "threshold":
        return Limit(amount, "the one that was asked for")
    if decision.rule == "p":
        return _limit_at(amount, model, learned)
    rows = learned()
    if decision.rule == "top":
        threshold = rows.at_most(amount, least_one=True)
        return Limit(threshold, f"that of the {amount:g} oddest rows of those {rows.which}")
    # at least one row, since 5 % of ten rows would be none
    threshold = rows.at_most(max(1.0, amount * rows.weights.sum()), least_one=True)
    return Limit(threshold, f"that of the oddest {100 * amount:g} % of the rows that were learned from")


def _own_limit(model: Detector, learned: Callable[[], LearnedScores]) -> Limit:
    """The method's own limit, else the score from which rows are far out."""
    limit = model.own_limit()
    if limit is not None:
        return Limit(float(np.nextafter(limit[0], np.inf)) + 0.0, f"the method's own: {limit[1]}")
    rows = learned()
    far, scale = model.far_out(rows.quantile(0.25), rows.quantile(0.75))
    why = f"the upper quartile of the rows that were learned from plus {FAR_OUT:g} times the distance of quartiles"
    return Limit(float(np.nextafter(far, np.inf)), f"{why}{scale}")


def _limit_at(p: float, model: Detector, learned: Callable[[], LearnedScores]) -> Limit:
    """By the distribution of good scores, else by ranks: p is the share of training scores that are as high."""
    limit = model.limit_at(p)
    if limit is not None:
        return Limit(float(np.nextafter(limit, np.inf)), f"where p = {p:g} by the distribution of good rows")
    rows = learned()
    below = p * float(rows.weights.sum()) * (1 - 10 * CLOSE)
    words = f"where p, the share of the rows that were learned from that are at least as odd, is below {p:g}"
    few = f" (of so few rows, {len(rows.score)}, none can be)" if below < 1 else ""
    return Limit(rows.at_most(below, least_one=False), words + few)


def threshold_by_f1(score: Array, anomalous: Flags, weight: Array) -> float | None:
    """The threshold with the highest F1; of equal ones the highest, which flags the fewest rows."""
    positive = weight * anomalous
    if not positive.sum() > 0:
        return None
    falling, (flagged, hits) = summed_from_the_top(score, weight, positive)
    f1 = 2 * hits / (flagged + positive.sum())
    return float(falling[int(np.argmax(f1))])
