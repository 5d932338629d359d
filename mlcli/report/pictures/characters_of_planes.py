"""Planes drawn with characters: points by their groups, and what is answered at each place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle

from mlcli.core.findings import Cloud, Points, Regions
from mlcli.report.document import Preformatted
from mlcli.report.numbers import lined_up, short
from mlcli.report.page import HEIGHTS, columns_of, height

WIDEST, SHORTEST = 48, 10
"""Of a picture without the names beside it, by how wide the page is."""
HIGHEST = 16
"""Of a plane of points, in lines."""
MARKS = ".ox+*#%@&"
"""Of points by their groups; of two in one place the later is seen."""
ACROSS, DOWN = "─", "│"


def points(picture: Points, width: int | None) -> Preformatted:
    """A plane with its ends written beside it, and what the marks of several groups mean below."""
    known = [point for _, group in picture.groups for point in group if all(map(math.isfinite, point))]
    if not known:
        return Preformatted(("no points",))
    (left, right), (low, high) = ((min(ends), max(ends)) for ends in zip(*known, strict=True))
    heights = lined_up([high, low])
    across = picture_width(width, _margin(heights) + 1)
    canvas = [[" "] * across for _ in range(HIGHEST)]
    for (_, group), mark in zip(picture.groups, cycle(MARKS), strict=False):
        for x, y in group:
            if math.isfinite(x) and math.isfinite(y):
                canvas[place_of(y, high, low, HIGHEST)][place_of(x, left, right, across)] = mark
    named = [f"{mark} {name}" for (name, _), mark in zip(picture.groups, cycle(MARKS), strict=False)]
    meaning = ", ".join(named) if len(named) > 1 else ""
    return _framed(picture, ["".join(line) for line in canvas], heights, lined_up([left, right]), meaning)


def cloud(picture: Cloud, width: int | None) -> Preformatted:
    """From the two sides that the plane of its first two axes, which stands before it, does not show."""
    across, upwards = (points(picture.seen_along(side), width).lines for side in (1, 0))
    return Preformatted((*across, "", *upwards))


def regions(picture: Regions, width: int | None) -> Preformatted:
    """The plane with a mark for each class, or higher signs for larger numbers; its points are left out."""
    known = [value for line in picture.answers for value in line]
    low, high = min(known), max(known)
    marks = dict(zip(picture.names, cycle(MARKS), strict=False))
    signs = list(marks.values())
    lines = ["".join(_sign_of(value, low, high, signs) for value in line) for line in reversed(picture.answers)]
    named = ", ".join(f"{mark} {name}" for name, mark in marks.items())
    meaning = named or f"from {HEIGHTS[0]} {short(low)} to {HEIGHTS[-1]} {short(high)}"
    heights, widths = lined_up([picture.y[-1], picture.y[0]]), lined_up([picture.x[0], picture.x[-1]])
    return _framed(picture, lines, heights, widths, meaning)


def _framed(
    picture: Points | Regions, lines: Sequence[str], heights: Sequence[str], widths: Sequence[str], meaning: str
) -> Preformatted:
    """The lines of a plane between its axes, with the ends of both, what they are, and what the marks mean."""
    margin = _margin(heights)
    labels = dict(zip((0, len(lines) - 1), heights, strict=True))
    plane = (f"{labels.get(place, ''):>{margin}}{DOWN}{line}" for place, line in enumerate(lines))
    across = len(lines[0])
    below = (
        ACROSS * across,
        widths[0] + widths[1].rjust(across - columns_of(widths[0])),
        f"upwards: {picture.upwards}; across: {picture.across}",
        *[meaning] * bool(meaning),
    )
    indent = " " * (margin + 1)
    return Preformatted(tuple(line.rstrip() for line in (*plane, *(indent + line for line in below))))


def _margin(heights: Sequence[str]) -> int:
    """How wide the ends of the upward axis are."""
    return max(map(columns_of, heights))


def _sign_of(value: float, low: float, high: float, marks: Sequence[str]) -> str:
    return marks[int(value)] if marks else height((value - low) / ((high - low) or 1.0))


def picture_width(width: int | None, taken: int) -> int:
    """How wide a picture is drawn on a page of which so much is taken."""
    return WIDEST if width is None else max(SHORTEST, min(WIDEST, width - taken))


def place_of(value: float, first: float, last: float, places: int) -> int:
    """Where a value lies among so many places from the first to the last."""
    return round((value - first) / ((last - first) or 1.0) * (places - 1))
