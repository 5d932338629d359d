"""How numbers are written: as many digits as mean something, and the same in one column."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mlcli.metrics.base import Metric

FINEST = 8
DIGITS = 4
UNIT_DECIMALS = 3
LARGE, SMALL = 1e7, 1e-4


def decimals_of(metric: Metric, values: Iterable[float]) -> int:
    """Decimals for a metric: three where it is bounded, else about four digits of its typical value."""
    bounded = metric.low is not None and metric.high is not None
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    if bounded or not sizes:
        return UNIT_DECIMALS
    before_point = math.floor(math.log10(sizes[len(sizes) // 2])) + 1
    return (
        min(FINEST, max(0, DIGITS - max(before_point, 1))) if before_point > 0 else min(FINEST, 3 - before_point)
    )


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals; one that they cannot show is written with an exponent."""
    if value and not SMALL <= abs(value) < LARGE and (abs(value) >= LARGE or abs(value) < 0.5 * 10**-decimals):
        return f"{value:.3g}"
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def short(value: float) -> str:
    """A single number in few characters, whole ones without a point."""
    if math.isfinite(value) and value == int(value) and abs(value) < LARGE:
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def share(part: float, whole: float) -> str:
    """A share in percent."""
    return f"{100 * part / whole:.0f} %" if whole else "-"


def counted(count: int, noun: str) -> str:
    """A number of things: 1 row, 2 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def seconds(duration: float) -> str:
    """A duration as a person says it."""
    if duration < 0.9995:
        return f"{1000 * duration:.0f} ms"
    return f"{duration:.1f} s" if duration < 60 else f"{int(duration) // 60} min {int(duration) % 60:02d} s"
