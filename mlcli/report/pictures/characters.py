"""Pictures drawn with characters: bars, boxes, curves and histograms, beside planes and what branches."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mlcli.core import findings
from mlcli.report.document import Content, Grid, GridCell, Preformatted, grid, strong
from mlcli.report.numbers import column_of, lined_up, rate_text, short
from mlcli.report.page import GAP, columns_of, padded
from mlcli.report.pictures.characters_of_planes import (
    ACROSS,
    DOWN,
    SHORTEST,
    cloud,
    picture_width,
    place_of,
    points,
    regions,
)
from mlcli.report.pictures.characters_of_trees import critical_difference, dendrogram, graph, tree

BAR = "█"
LONGEST = 40
"""Of the longest bar, by how wide the page is."""
MOST_HEIGHTS = 60
"""Of how many points of a curve the heights are drawn."""


def drawn(picture: Any, width: int | None) -> Grid | Preformatted:
    """A picture as a table or lines, if possible no wider than so many columns."""
    return DRAWINGS[type(picture)](picture, width)


def bars(picture: findings.Bars, width: int | None) -> Grid:
    """A line for each label, with what is written beside it and its bar."""
    columns = [column_of(cells) for cells in (picture.values, *picture.beside)]
    return _with_bars(picture.header, [picture.labels, *columns], picture.values, width)


def histogram(picture: findings.Histogram, width: int | None) -> Grid:
    """A line for each bin, with a bar of all its counts."""
    counts = [counts for _, counts in picture.counts]
    columns = [[f"{count:g}" if count else "" for count in one] for one in counts]
    header = (f"{picture.measure} from", *(name for name, _ in picture.counts))
    starts = lined_up(picture.edges[:-1])
    return _with_bars(header, [starts, *columns], list(map(sum, zip(*counts, strict=True))), width, right=0)


def boxplots(picture: findings.Boxplots, width: int | None) -> Preformatted:
    """A line for each box on one scale: whiskers, the box from quartile to quartile, its median."""
    ends = [end for _, box in picture.boxes for end in box]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    names = max((columns_of(name) for name, _ in picture.boxes), default=0)
    across = picture_width(width, names + GAP)
    lines = []
    for (name, box), outside in zip(picture.boxes, picture.outside, strict=True):
        drawing = _box_line([place_of(end, low, high, across) for end in box], across)
        beside = f"  {outside} outside" if outside else ""
        lines.append(f"{padded(name, names + GAP, 'left')}{drawing}{beside}".rstrip())
    first, last = (end.strip() for end in lined_up([low, high]))
    return Preformatted((*lines, " " * (names + GAP) + first + last.rjust(across - columns_of(first))))


def _box_line(places: Sequence[int], across: int) -> str:
    low, first, middle, third, high = places
    cells = [" "] * across
    cells[low:high] = ACROSS * (high - low)
    cells[first : third + 1] = "▒" * (third + 1 - first)
    cells[low], cells[high] = (DOWN if low < first else "▒"), (DOWN if high > third else "▒")
    cells[middle] = BAR
    return "".join(cells)


def curve(picture: findings.Curve, width: int | None) -> Grid:
    """A line for each series: its ends, and between them its shape."""
    known = [value for _, line in picture.series for value in line if value is not None and math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    starts, ends = zip(*((line[0], line[-1]) for _, line in picture.series), strict=True)
    written = column_of([*starts, *ends])
    shapes = (GridCell("", heights=_heights(_thinned(line), low, high)) for _, line in picture.series)
    names = (strong(name) for name, _ in picture.series)
    first, last = map(short, (picture.points[0], picture.points[-1]))
    rows = zip(names, written[: len(starts)], shapes, written[len(starts) :], strict=True)
    return grid([picture.over, f"at {first}", "", f"at {last}"], rows, right=(1, 3))


def confusions(picture: findings.Confusions, width: int | None) -> Grid:
    """One line per class: how many are right, and every class that others were taken for."""
    rows: list[list[Content]] = []
    for true, (label, counts) in enumerate(zip(picture.labels, picture.counts, strict=True)):
        right, total, answered = counts[true], sum(counts), sum(row[true] for row in picture.counts)
        rates = (rate_text(right / of if of else None) for of in (total, answered))
        wrong = ", ".join(f"{name} {short(count)}" for name, count in picture.taken_for(true))
        rows.append([strong(label), f"{short(right)}/{short(total)}", *rates, wrong])
    return grid(["true class", "right", "recall", "precision", "taken for"], rows, right=(1, 2, 3))


def _with_bars(
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    values: Sequence[float],
    width: int | None,
    right: int = 1,
) -> Grid:
    """The columns, those from ``right`` on to the right, and a bar at the end of each row."""
    largest = max(values, default=0.0) or 1.0
    longest = LONGEST
    if width is not None:
        widths = (max(map(columns_of, (title, *cells))) for title, cells in zip(header, columns, strict=True))
        longest = max(SHORTEST, min(LONGEST, width - sum(GAP + one for one in widths)))
    bars = (BAR * math.ceil(longest * max(value, 0.0) / largest) for value in values)
    rows = (
        [strong(label) if right else label, *cells, bar] for label, *cells, bar in zip(*columns, bars, strict=True)
    )
    return grid([*header, ""], rows, right=range(right, len(header)))


def _thinned(line: Sequence[float | None]) -> list[float | None]:
    """So many points that they stand in a line, at equal distances from the first to the last."""
    shown = min(len(line), MOST_HEIGHTS)
    return [line[round(place * (len(line) - 1) / max(shown - 1, 1))] for place in range(shown)]


def _heights(line: Sequence[float | None], low: float, high: float) -> tuple[float, ...]:
    """From 0 to 1; what differs by less than a twentieth of the range is not told apart."""
    return tuple(
        math.nan if value is None or not math.isfinite(value) else round((value - low) / ((high - low) or 1.0), 1)
        for value in line
    )


DRAWINGS: dict[type[Any], Callable[[Any, int | None], Grid | Preformatted]] = {
    findings.Bars: bars,
    findings.Boxplots: boxplots,
    findings.Cloud: cloud,
    findings.Confusions: confusions,
    findings.CriticalDifference: critical_difference,
    findings.Curve: curve,
    findings.Dendrogram: dendrogram,
    findings.Graph: graph,
    findings.Histogram: histogram,
    findings.Points: points,
    findings.Regions: regions,
    findings.Tree: tree,
}
"""What draws each kind of picture."""
