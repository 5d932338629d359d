"""Pictures drawn with characters: bars, boxes, curves, histograms, planes, trees and graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from mlcli.core import findings
from mlcli.core.findings import Cloud, CriticalDifference, Dendrogram, Graph, Points, Regions, Tree
from mlcli.report.document import (
    Content,
    Grid,
    GridCell,
    Preformatted,
    column_of,
    grid,
    lined_up,
    rate_text,
    short,
    strong,
)
from mlcli.report.page import GAP, HEIGHTS, columns_of, height, padded

SHORTEST = 10
"""The least width of a picture without the names beside it."""
MARKS = ".ox+*#%@&"
"""The marks of groups of points; of two in one place the later is seen."""
ACROSS, DOWN, JOINED, ROOT, BAR = "─", "│", "├", "┤", "█"


def drawn(picture: findings.Finding, width: int | None) -> Grid | Preformatted:
    """A picture as a table or lines, if possible no wider than ``width`` columns."""
    return DRAWINGS[type(picture)](picture, width)


def points(picture: Points, width: int | None) -> Preformatted:
    """A plane with its ends written beside it, and what the marks of several groups mean below."""
    finite = [point for _, group in picture.groups for point in group if all(map(math.isfinite, point))]
    if not finite:
        return Preformatted(("no points",))
    (left, right), (low, high) = ((min(ends), max(ends)) for ends in zip(*finite, strict=True))
    labels = lined_up([high, low])
    lines = 16
    across = _picture_width(width, max(map(columns_of, labels)) + 1)
    canvas = [[" "] * across for _ in range(lines)]
    for (_, group), mark in zip(picture.groups, cycle(MARKS), strict=False):
        for x, y in group:
            if math.isfinite(x) and math.isfinite(y):
                canvas[_scaled(y, high, low, lines)][_scaled(x, left, right, across)] = mark
    named = [f"{mark} {name}" for (name, _), mark in zip(picture.groups, cycle(MARKS), strict=False)]
    meaning = ", ".join(named) if len(named) > 1 else ""
    return _framed(picture, ["".join(line) for line in canvas], labels, lined_up([left, right]), meaning)


def cloud(picture: Cloud, width: int | None) -> Preformatted:
    """From the two sides that the plane of its first two axes, which stands before it, does not show."""
    across, upwards = (points(picture.seen_along(side), width).lines for side in (1, 0))
    return Preformatted((*across, "", *upwards))


def regions(picture: Regions, width: int | None) -> Preformatted:
    """The plane with a mark for each class, or higher signs for larger numbers; its points are left out."""
    values = [value for line in picture.answers for value in line]
    low, high = min(values), max(values)
    marks = dict(zip(picture.names, cycle(MARKS), strict=False))
    if marks:
        signs = list(marks.values())
        lines = ["".join(signs[int(value)] for value in line) for line in reversed(picture.answers)]
        meaning = ", ".join(f"{mark} {name}" for name, mark in marks.items())
    else:
        span = (high - low) or 1.0
        lines = ["".join(height((value - low) / span) for value in line) for line in reversed(picture.answers)]
        meaning = f"from {HEIGHTS[0]} {short(low)} to {HEIGHTS[-1]} {short(high)}"
    upwards, across = lined_up([picture.y[-1], picture.y[0]]), lined_up([picture.x[0], picture.x[-1]])
    return _framed(picture, lines, upwards, across, meaning)


def _framed(
    picture: Points | Regions, lines: Sequence[str], upwards: Sequence[str], across: Sequence[str], meaning: str
) -> Preformatted:
    """The lines of a plane between its axes, with the ends of both, their names, and what the marks mean."""
    margin = max(map(columns_of, upwards))
    labels = dict(zip((0, len(lines) - 1), upwards, strict=True))
    plane = [f"{labels.get(index, ''):>{margin}}{DOWN}{line}" for index, line in enumerate(lines)]
    width = len(lines[0])
    below = [
        ACROSS * width,
        across[0] + across[1].rjust(width - columns_of(across[0])),
        f"upwards: {picture.upwards}; across: {picture.across}",
        *[meaning] * bool(meaning),
    ]
    indent = " " * (margin + 1)
    return Preformatted(tuple(line.rstrip() for line in (*plane, *(indent + line for line in below))))


def _picture_width(width: int | None, beside: int) -> int:
    """How wide a picture is drawn on a page of which so many columns are taken."""
    widest = 48
    return widest if width is None else max(SHORTEST, min(widest, width - beside))


def _scaled(value: float, first: float, last: float, count: int) -> int:
    """The position of a value among so many from the first to the last."""
    return round((value - first) / ((last - first) or 1.0) * (count - 1))


def dendrogram(picture: Dendrogram, width: int | None) -> Preformatted:
    """Leaves at the left, every merge as far right as it is high."""
    leaves, names = len(picture.leaves), max(map(columns_of, picture.leaves))
    across = _picture_width(width, names + leaves + 1)
    canvas = [[" "] * (across + leaves) for _ in range(2 * leaves - 1)]
    highest = max(picture.heights)
    unit = across / highest if highest > 0 else 0.0
    column, line = [0] * leaves, [2 * index for index in range(leaves)]
    for pair, merge_height in zip(picture.merges, picture.heights, strict=True):
        top, bottom = sorted(line[part] for part in pair)
        end = round(merge_height * unit)
        while end in {column[part] for part in pair}:  # a part ends there that is almost as high
            end += 1
        for part in pair:
            start, stop = sorted((column[part], end))
            cells = canvas[line[part]]
            cells[start:stop] = [ACROSS if cell == " " else cell for cell in cells[start:stop]]
        middle = (top + bottom) // 2
        for between in range(top + 1, bottom):
            canvas[between][end] = DOWN
        canvas[top][end], canvas[bottom][end], canvas[middle][end] = "┐", "┘", JOINED
        line.append(middle)
        column.append(end)
    canvas[line[-1]][column[-1]] = ROOT
    labels = [name for leaf in picture.leaves for name in (leaf, "")]
    rows = zip(labels, canvas, strict=False)
    return Preformatted(tuple(f"{padded(name, names, 'left')} {''.join(cells)}".rstrip() for name, cells in rows))


def critical_difference(picture: CriticalDifference, width: int | None) -> Preformatted:
    """A line for each model with a mark at its mean rank, and a bar beside those that do not differ."""
    names, ranks = max(map(columns_of, picture.names)), lined_up(picture.ranks)
    bars = [
        "  " + " ".join(DOWN if min(group) <= index <= max(group) else " " for group in picture.groups)
        for index in range(len(ranks))
    ]
    margin = names + columns_of(ranks[0]) + 2 * GAP
    across = _picture_width(width, margin + max(map(len, bars)))
    last = max(len(ranks), 2)
    indent = " " * margin
    lines = [indent + "1" + str(last).rjust(across - 1)]
    for name, rank, position, bar in zip(picture.names, ranks, picture.ranks, bars, strict=True):
        mark = (" " * _scaled(position, 1, last, across) + MARKS[1]).ljust(across)
        lines.append(f"{padded(name, names + GAP, 'left')}{rank}{' ' * GAP}{mark}{bar}")
    length = min(across, 1 + _scaled(1 + picture.difference, 1, last, across))
    difference = short(picture.difference)
    lines.append(f"{indent}{JOINED}{ACROSS * (length - 2)}{ROOT} critical difference {difference}")
    return Preformatted(tuple(line.rstrip() for line in lines))


def tree(picture: Tree, width: int | None) -> Preformatted:
    """A line for each node but the root, further in the deeper it lies; a leaf has its prediction and weight."""
    lines: list[str] = []
    nodes = zip(picture.depths, picture.conditions, picture.leaves(), strict=True)
    for node, (depth, condition, is_leaf) in enumerate(nodes):
        if not (depth or is_leaf):
            continue
        line = "|   " * (depth - 1) + condition
        if is_leaf:
            share = picture.shares[node]
            certainty = "" if share > 1 - 1e-12 else f" {share:.0%}"  # 1 but for rounding
            line += f"{': ' * bool(depth)}{picture.answers[node]}{certainty} ({picture.rows[node]:.6g})"
        lines.append(line)
    most = 60
    if len(lines) > most:
        lines[most:] = [f"… and {len(lines) - most} more lines"]
    return Preformatted(tuple(lines))


def graph(picture: Graph, width: int | None) -> Preformatted:
    """A line for each node, and a lane beside it that passes all nodes it leads to, further down where possible.

    rain       ──○
    sprinkler  ──┼─○
    wet        ──●─●
    """
    nodes = picture.nodes
    # What is only joined is drawn from the upper node to the lower.
    edges = picture.edges if picture.directed else [(min(edge), max(edge)) for edge in picture.edges]
    reached: dict[int, list[int]] = {}
    for node, other in sorted(edges):
        reached.setdefault(node, []).append(other)
    # The lane of each node is the first that is free from its upper end to its lower.
    ends_of_lanes: list[int] = []
    lane_of: dict[int, int] = {}
    for node in sorted(reached, key=lambda node: min(node, *reached[node])):
        first, last = min(node, *reached[node]), max(node, *reached[node])
        lane = next((lane for lane, end in enumerate(ends_of_lanes) if end < first), len(ends_of_lanes))
        ends_of_lanes[lane : lane + 1] = [last]
        lane_of[node] = lane
    names = max(map(columns_of, nodes), default=0)
    lines: list[str] = []
    for node, name in enumerate(nodes):
        cells = [" "] * (2 * len(ends_of_lanes))  # a lane takes two columns
        lanes = [lane_of[start] for start, others in reached.items() if node == start or node in others]
        way = 2 * (max(lanes, default=-1) + 1)  # from the name to the last lane that the node is on
        cells[:way] = ACROSS * way
        for start, others in reached.items():
            at = 2 * lane_of[start] + 1
            if node == start or node in others:
                cells[at] = "○" if node == start else "●"
            elif min(start, *others) < node < max(start, *others):
                cells[at] = "┼" if cells[at] == ACROSS else DOWN
        lines.append(f"{padded(name, names, 'left')}  {''.join(cells)}".rstrip())
    relation = "leads to" if picture.directed else "is joined with"
    return Preformatted((*lines, "", f"○ {relation} each ● of its column"))


def bars(picture: findings.Bars, width: int | None) -> Grid:
    """A line for each label, with what is written beside it and its bar."""
    columns = [column_of(cells) for cells in (picture.values, *picture.beside)]
    return _with_bars(picture.header, [picture.labels, *columns], picture.values, width)


def histogram(picture: findings.Histogram, width: int | None) -> Grid:
    """A line for each bin, with a bar of all its counts."""
    counts = [counts for _, counts in picture.counts]
    columns = [[f"{count:g}" if count else "" for count in of_part] for of_part in counts]
    header = (f"{picture.measure} from", *(name for name, _ in picture.counts))
    starts = lined_up(picture.edges[:-1])
    return _with_bars(header, [starts, *columns], list(map(sum, zip(*counts, strict=True))), width, right=0)


def _with_bars(
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    values: Sequence[float],
    width: int | None,
    right: int = 1,
) -> Grid:
    """The columns, those from ``right`` on to the right, and a bar at the end of each row."""
    largest = max(values, default=0.0) or 1.0
    longest = 40
    if width is not None:
        widths = (max(map(columns_of, (title, *cells))) for title, cells in zip(header, columns, strict=True))
        longest = max(SHORTEST, min(longest, width - sum(GAP + width for width in widths)))
    lengths = (math.ceil(longest * max(value, 0.0) / largest) for value in values)
    rows = (
        [strong(label) if right else label, *cells, BAR * length]
        for length, (label, *cells) in zip(lengths, zip(*columns, strict=True), strict=True)
    )
    return grid([*header, ""], rows, right=range(right, len(header)))


def boxplots(picture: findings.Boxplots, width: int | None) -> Preformatted:
    """A line for each box on one scale: whiskers, the box from quartile to quartile, its median."""
    ends = [end for _, box in picture.boxes for end in box]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    names = max((columns_of(name) for name, _ in picture.boxes), default=0)
    across = _picture_width(width, names + GAP)
    lines = []
    for (name, box), outside in zip(picture.boxes, picture.outside, strict=True):
        whisker, first, middle, third, end = (_scaled(value, low, high, across) for value in box)
        cells = [" "] * across
        cells[whisker:end] = ACROSS * (end - whisker)
        cells[first : third + 1] = "▒" * (third + 1 - first)
        cells[whisker], cells[end] = (DOWN if whisker < first else "▒"), (DOWN if end > third else "▒")
        cells[middle] = BAR
        beside = f"  {outside} outside" if outside else ""
        lines.append(f"{padded(name, names + GAP, 'left')}{''.join(cells)}{beside}".rstrip())
    left, right = (end.strip() for end in lined_up([low, high]))
    return Preformatted((*lines, " " * (names + GAP) + left + right.rjust(across - columns_of(left))))


def curve(picture: findings.Curve, width: int | None) -> Grid:
    """A line for each series: its ends, and between them its shape."""
    known = [value for _, line in picture.series for value in line if value is not None and math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    starts, ends = zip(*((line[0], line[-1]) for _, line in picture.series), strict=True)
    numbers = column_of([*starts, *ends])
    rows: list[list[Content]] = []
    for index, (name, line) in enumerate(picture.series):
        # At most 60 points, at equal distances from the first to the last
        count = min(len(line), 60)
        shown = [line[round(at * (len(line) - 1) / max(count - 1, 1))] for at in range(count)]
        # Heights from 0 to 1; what differs by less than a twentieth of the range looks the same.
        heights = tuple(
            math.nan
            if value is None or not math.isfinite(value)
            else round((value - low) / ((high - low) or 1.0), 1)
            for value in shown
        )
        rows.append([strong(name), numbers[index], GridCell("", heights=heights), numbers[len(starts) + index]])
    first, last = short(picture.points[0]), short(picture.points[-1])
    return grid([picture.over, f"at {first}", "", f"at {last}"], rows, right=(1, 3))


def confusions(picture: findings.Confusions, width: int | None) -> Grid:
    """One line per class: how many are right, and every class that others were taken for."""
    rows: list[list[Content]] = []
    for true, (label, counts) in enumerate(zip(picture.labels, picture.counts, strict=True)):
        right, total, predicted = counts[true], sum(counts), sum(row[true] for row in picture.counts)
        rates = (rate_text(right / of if of else None) for of in (total, predicted))
        wrong = ", ".join(f"{name} {short(count)}" for name, count in picture.taken_for(true))
        rows.append([strong(label), f"{short(right)}/{short(total)}", *rates, wrong])
    return grid(["true class", "right", "recall", "precision", "taken for"], rows, right=(1, 2, 3))


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
