"""How numbers are written: as many digits as mean something, and the same in one column."""

from __future__ import annotations

import math
from collections.abc import Iterable

FINEST, COARSEST = 6, 0
DIGITS = 4
LARGE, SMALL = 1e7, 1e-4


def decimals_for(values: Iterable[float]) -> int:
    """Decimals that show about four digits of the typical value of a column."""
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    if not sizes:
        return DIGITS - 1
    middle = sizes[len(sizes) // 2]
    return min(FINEST, max(COARSEST, DIGITS - 1 - math.floor(math.log10(middle))))


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
