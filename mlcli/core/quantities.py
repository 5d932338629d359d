"""Durations and sizes as people write them: 90, 60s, 2h, 1h30m; 500MB, 4GiB."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
BYTES = {"B": 1} | {f"{power}B": 1000**n for n, power in enumerate("KMGT", 1)}
BYTES |= {f"{power}iB": 1024**n for n, power in enumerate("KMGT", 1)}
BYTES_BY_WORD = {unit.casefold(): size for unit, size in BYTES.items()}
PART = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)\s*", re.IGNORECASE)
DURATION, SIZE = "a duration such as 60s, 15m or 2h", "a size such as 500MB or 4GiB"


def seconds_in(written: object) -> float | None:
    """The seconds of a duration; a number without a unit is in seconds. None if it is no duration above 0."""
    return _quantity(written, SECONDS)


def bytes_in(written: object) -> int | None:
    """The bytes of a size, which needs a unit; None if it is no size above 0."""
    size = _quantity(written, BYTES_BY_WORD) if isinstance(written, str) else None
    return None if size is None or size < 1 else int(size)


def _quantity(written: object, units: Mapping[str, float]) -> float | None:
    total = written if isinstance(written, int | float) and not isinstance(written, bool) else None
    if isinstance(written, str):
        total = number_in(written) if units is SECONDS else None
        total = _sum_of_parts(written, units) if total is None else total
    return float(total) if total is not None and 0 < total < math.inf else None


def number_in(text: str) -> float | None:
    """The number in a text; None if it is no number."""
    try:
        return float(text)
    except ValueError:
        return None


def _sum_of_parts(text: str, units: Mapping[str, float]) -> float | None:
    """The sum of the numbers times their units."""
    parts = [(float(number), unit.casefold()) for number, unit in PART.findall(text)]
    if not parts or PART.sub("", text) or not all(unit in units for _, unit in parts):
        return None
    return sum(number * units[unit] for number, unit in parts)


def duration(seconds: float) -> str:
    """Seconds in a suitable unit; from a minute on, in two units."""
    if seconds < 60:
        return f"{seconds:.3g} s" if seconds >= 1 or not seconds else f"{1000 * seconds:.3g} ms"
    for unit, lower, size in (("d", "h", 86400), ("h", "min", 3600), ("min", "s", 60)):
        if seconds >= size:
            whole, rest = divmod(round(seconds), size)
            rest //= {"h": 3600, "min": 60, "s": 1}[lower]
            return f"{whole} {unit}" + (f" {rest:02d} {lower}" if rest else "")
    raise AssertionError(seconds)


def size(count: float) -> str:
    """Bytes in a suitable unit."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if count >= BYTES[unit]:
            return f"{count / BYTES[unit]:.3g} {unit}"
    return f"{count:.0f} B"
