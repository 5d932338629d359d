"""Times of two or more things on the same work, taken in turns so that a slow moment hits all of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter


def in_turns(things: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each thing, ``repeats`` times, alternating; one untimed round warms up."""
    times: dict[str, list[float]] = {name: [] for name in things}
    for turn in range(repeats + 1):
        for name, thing in things.items():
            start = perf_counter()
            thing()
            if turn:
                times[name].append(perf_counter() - start)
    return times


def spread(seconds: Sequence[float]) -> str:
    """Median with the range, in milliseconds."""
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    return f"{middle * 1e3:.4g} ms ({low * 1e3:.4g} to {high * 1e3:.4g})"


def ratio(peer: Sequence[float], ours: Sequence[float]) -> float:
    """How many times as fast: the median of the peer over ours."""
    return statistics.median(peer) / statistics.median(ours)


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [" | ".join(map(str, row)) for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(f"| {line} |" for line in lines)
