"""What to try when a parameter is tuned: a range, some values, or a range that depends on the rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from mlcli.core import CLOSE
from mlcli.core.errors import MlcliWarning

Number = int | float
Simpler = Literal["low", "high", ""]
"""Which end of a range gives the simpler model; empty if neither does."""
MANY_TIMES = 100
"""A range whose end is this many times its beginning is searched on a log scale by default."""


@dataclass(frozen=True)
class Range:
    """A range of numbers, spaced evenly or, with ``log``, by equal factors."""

    low: Number
    high: Number
    log: bool = False
    simpler: Simpler = ""
    unasked: bool = True
    """Whether it is searched if a user names no parameters to tune."""
    points: int | None = None
    """The number of grid points; None: as many as the budget allows."""

    def values(self, count: int, whole: bool) -> tuple[Number, ...]:
        """``count`` numbers from end to end, or fewer if there are fewer whole numbers."""
        shares = [index / max(count - 1, 1) for index in range(count)]
        return tuple(dict.fromkeys(self.drawn(share, whole) for share in shares))

    def drawn(self, share: float, whole: bool) -> Number:
        """The number at a share of the range; a uniformly drawn share gives a random number."""
        if self.log:
            value = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        if whole:
            return round(value)
        return float(f"{min(max(value, self.low), self.high):.6g}")

    def edge(self, value: object) -> Simpler:
        """The end of the range at which a value lies; empty if it lies at neither."""
        if not isinstance(value, int | float):
            return ""
        if math.isclose(value, self.low, rel_tol=CLOSE):
            return "low"
        return "high" if math.isclose(value, self.high, rel_tol=CLOSE) else ""


@dataclass(frozen=True)
class Among:
    """Some values; where ``ordered``, the first makes the simplest model."""

    options: tuple[Any, ...]
    ordered: bool = False
    unasked: bool = True


@dataclass(frozen=True)
class ByRows:
    """A range that follows from training rows: the model says it (``SearchRanges``)."""

    simpler: Simpler = ""
    unasked: bool = True


Search = Range | Among | ByRows


def log_range(low: Number, high: Number, *, simpler: Simpler = "", unasked: bool = True) -> Range:
    """A range that is searched by equal factors."""
    return Range(low, high, log=True, simpler=simpler, unasked=unasked)


def as_search(declared: Search | Iterable[Any] | None, choices: object) -> Search | None:
    """What a parameter declares, where two numbers are short for a range and other values for themselves."""
    if declared is None or isinstance(declared, Range | Among | ByRows):
        return declared
    values = tuple(declared)
    if choices is not None or len(values) != 2 or not all(isinstance(value, int | float) for value in values):
        return Among(values)
    low, high = values
    return Range(low, high, log=low > 0 and high >= MANY_TIMES * low)


def warn_at_edge(what: str, chosen: float, tried: Iterable[float], below: str = "", above: str = "") -> None:
    """Warn if a method has chosen the smallest or largest value that it tried; two texts say what follows."""
    values = list(tried)
    beyond = "set it yourself to try others"
    for end, size, follows in ((min(values), "smallest", below), (max(values), "largest", above)):
        if chosen == end:
            text = f"{what} is the {size} of those it tries: {follows or beyond}"
            warnings.warn(text, MlcliWarning, stacklevel=4)
            return


def in_words(search: Search) -> str:
    """What is tried, such as "0.01 to 1000 by factors"; and whether it must be asked for by name."""
    if isinstance(search, Range):
        words = f"{search.low:g} to {search.high:g}{' by factors' if search.log else ''}"
    elif isinstance(search, Among):
        words = ", ".join("none" if option is None else str(option) for option in search.options)
    else:
        words = "a range that the rows tell"
    return words if search.unasked else f"{words} (where it is named)"
