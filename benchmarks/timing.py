"""Times of two or more things on the same work, taken in turns so that a slow moment hits all of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter, process_time

Times = dict[str, list[float]]


def in_turns(things: Mapping[str, Callable[[], object]], repeats: int) -> Times:
    """Seconds of each thing, ``repeats`` times, alternating; one untimed round warms up."""
    times: Times = {name: [] for name in things}
    for turn in range(repeats + 1):
        for name, thing in things.items():
            start = perf_counter()
            thing()
            if turn:
                times[name].append(perf_counter() - start)
    return times


def for_a_while(things: Mapping[str, Callable[[], object]], seconds: float, most: int) -> Times:
    """Processor time of each thing in seconds, alternating until they have taken so many or ``most`` turns.

    Everything here runs on one thread, so that other people's work on the machine does not count.
    """
    times: Times = {name: [] for name in things}
    started = process_time()
    while not times[next(iter(times))] or process_time() - started < seconds:
        for name, thing in things.items():
            start = process_time()
            thing()
            times[name].append(process_time() - start)
        if len(times[name]) == most:
            break
    return times


def spread(seconds: Sequence[float]) -> str:
    """Median with the range, in milliseconds."""
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    return f"{middle * 1e3:.4g} ms ({low * 1e3:.4g} to {high * 1e3:.4g})"


def median_ms(seconds: Sequence[float]) -> str:
    """The median alone, in milliseconds."""
    return f"{statistics.median(seconds) * 1e3:.3g} ms"


def ratio(peer: Sequence[float], ours: Sequence[float]) -> float:
    """How many times as fast: the median of the peer over ours."""
    return statistics.median(peer) / statistics.median(ours)


def ratio_of_turns(peer: Sequence[float], ours: Sequence[float]) -> str:
    """How many times as fast, turn by turn: the median, and the middle half of the turns."""
    ratios = sorted(theirs / mine for theirs, mine in zip(peer, ours, strict=True))
    low, high = ratios[len(ratios) // 4], ratios[(3 * len(ratios)) // 4]
    return f"**{statistics.median(ratios):.2f}** ({low:.2f} to {high:.2f})"


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [" | ".join(map(str, row)) for row in (header, ["---"] * len(header), *rows)]
    return "\n".join(f"| {line} |" for line in lines)
