"""What a metric is: a named pure function of answers, with its direction, range and place in the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mlcli.core.answers import Answers
from mlcli.core.tables import Array


@dataclass(frozen=True)
class Undefined:
    """A metric that cannot be computed here, and why; never shown as 0."""

    why: str


Score = float | Undefined


@dataclass(frozen=True)
class Metric:
    """A named score of answers."""

    name: str
    summary: str
    answers: type[Answers]
    compute: Callable[[Any], Score]
    better: Literal["high", "low", "zero"]
    low: float | None = None
    """The smallest value it can take, if there is one."""
    high: float | None = None
    """The largest value it can take, if there is one."""
    per_row: Callable[[Any], Array] | None = None
    """The value of each row, for a metric that is the (weighted) mean of row values."""
    marks: Callable[[Any], tuple[str, ...]] | None = None
    """What a reader must know of one value, such as a class whose precision is 0/0 and counts as 0."""


@dataclass(frozen=True)
class Summary:
    """One metric over the splits of a cell: mean, spread and 95 % interval, or the reason there is none."""

    metric: str
    mean: float | None
    std: float | None = None
    low: float | None = None
    high: float | None = None
    splits: tuple[float | None, ...] = ()
    why: str = ""
    marks: tuple[str, ...] = ()
    interval: str = ""
    """How the interval was made, in a few words."""
