"""Pictures drawn with characters: bars, boxes, curves, histograms, planes, trees and graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from mlcli.core import findings
from mlcli.core.findings import Cloud, CriticalDifference, Dendrogram, Graph, Points, Regions, Tree
from mlcli.report.document import Content, Grid, GridCell, Preformatted, grid, strong
from mlcli.report.numbers import column_of, lined_up, rate_text, short
from mlcli.report.page import GAP, HEIGHTS, columns_of, height, padded

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
    plane = (f"{labels.get(index, ''):>{margin}}{DOWN}{line}" for index, line in enumerate(lines))
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


INDENT = "|   "
INDENT_OF_BARS = "  "
MOST_LINES = 60
"""Of a tree."""
CERTAIN = 1e-12
JOINED, ROOT = "├", "┤"
CORNERS = {True: "┐", False: "┘"}
FROM, TO, CROSSED = "○", "●", "┼"
LEADS, JOINS = f"{FROM} leads to each {TO} of its column", f"{FROM} is joined with each {TO} of its column"
LANE = 2
"""How many characters a lane takes."""


def dendrogram(picture: Dendrogram, width: int | None) -> Preformatted:
    """Leaves at the left, every merge as far right as it is high."""
    leaves, names = len(picture.leaves), max(map(columns_of, picture.leaves))
    across = picture_width(width, names + leaves + 1)
    canvas = [[" "] * (across + leaves) for _ in range(2 * leaves - 1)]
    highest = max(picture.heights)
    unit = across / highest if highest > 0 else 0.0
    column, line = [0] * leaves, [2 * index for index in range(leaves)]
    for pair, merge_height in zip(picture.merges, picture.heights, strict=True):
        top, bottom = sorted(pair, key=line.__getitem__)
        taken = {column[top], column[bottom]}
        made = round(merge_height * unit)
        while made in taken:  # a part ends there that is almost as high
            made += 1
        for part in pair:
            _draw_across(canvas[line[part]], *sorted((column[part], made)))
        line.append(_draw_down(canvas, made, line[top], line[bottom]))
        column.append(made)
    canvas[line[-1]][column[-1]] = ROOT
    labels = [name for leaf in picture.leaves for name in (leaf, "")]
    named = zip(labels, canvas, strict=False)
    lines = (f"{padded(name, names, 'left')} {''.join(cells)}".rstrip() for name, cells in named)
    return Preformatted(tuple(lines))


def critical_difference(picture: CriticalDifference, width: int | None) -> Preformatted:
    """A line for each model with a mark at its mean rank, and a bar beside those that cannot be told apart."""
    names, ranks = max(map(columns_of, picture.names)), lined_up(picture.ranks)
    bars = [
        INDENT_OF_BARS + " ".join(DOWN if min(group) <= index <= max(group) else " " for group in picture.groups)
        for index in range(len(ranks))
    ]
    margin = names + columns_of(ranks[0]) + 2 * GAP
    across = picture_width(width, margin + max(map(len, bars)))
    last = max(len(ranks), 2)
    marks = [(" " * place_of(rank, 1, last, across) + MARKS[1]).ljust(across) for rank in picture.ranks]
    lines = [
        f"{padded(name, names + GAP, 'left')}{rank}{' ' * GAP}{mark}{bar}"
        for name, rank, mark, bar in zip(picture.names, ranks, marks, bars, strict=True)
    ]
    indent = " " * margin
    length = min(across, 1 + place_of(1 + picture.difference, 1, last, across))
    scale = indent + "1" + str(last).rjust(across - 1)
    ruler = f"{indent}{JOINED}{ACROSS * (length - 2)}{ROOT} critical difference {short(picture.difference)}"
    return Preformatted(tuple(line.rstrip() for line in (scale, *lines, ruler)))


def tree(picture: Tree, width: int | None) -> Preformatted:
    """A line for each node but the root, further in the deeper it lies."""
    leaves = picture.leaves()
    nodes = zip(picture.depths, picture.conditions, leaves, strict=True)
    lines = [
        INDENT * (depth - 1) + condition + (": " * bool(depth) + _leaf_text(picture, node) if leaf else "")
        for node, (depth, condition, leaf) in enumerate(nodes)
        if depth or leaf
    ]
    more = len(lines) - MOST_LINES
    return Preformatted(tuple(lines if more <= 0 else [*lines[:MOST_LINES], f"… and {more} more lines"]))


def _leaf_text(picture: Tree, node: int) -> str:
    """A leaf's answer, its share where it is not certain, and the weight of its training rows."""
    share = picture.shares[node]
    sure = "" if share > 1 - CERTAIN else f" {share:.0%}"
    return f"{picture.answers[node]}{sure} ({picture.rows[node]:.6g})"


def _draw_across(cells: list[str], start: int, end: int) -> None:
    for column in range(start, end):
        cells[column] = ACROSS if cells[column] == " " else cells[column]


def _draw_down(canvas: list[list[str]], column: int, top: int, bottom: int) -> int:
    """The line that joins two others; its middle, where the next one begins."""
    middle = (top + bottom) // 2
    for line in range(top + 1, bottom):
        canvas[line][column] = DOWN
    canvas[top][column], canvas[bottom][column] = CORNERS[True], CORNERS[False]
    canvas[middle][column] = JOINED
    return middle


def graph(picture: Graph, width: int | None) -> Preformatted:
    """A line for each node, and a lane beside it that comes by all nodes it leads to, further down where possible.

    rain       ──○
    sprinkler  ──┼─○
    wet        ──●─●
    """
    nodes, reached = picture.nodes, _reached_nodes(picture)
    index_of = _lane_of_node(reached)
    names, across = max(map(columns_of, nodes), default=0), LANE * (1 + max(index_of.values(), default=-1))
    lines = [_lanes_at(node, reached, index_of, across) for node in range(len(nodes))]
    labels = (name + " " * (names - columns_of(name)) for name in nodes)
    drawn = (f"{label}  {line}".rstrip() for label, line in zip(labels, lines, strict=True))
    return Preformatted((*drawn, "", LEADS if picture.directed else JOINS))


def _reached_nodes(picture: Graph) -> dict[int, list[int]]:
    """The nodes that each leads to; what is only joined is drawn from the upper to the lower."""
    reached: dict[int, list[int]] = {}
    edges = picture.edges if picture.directed else [(min(edge), max(edge)) for edge in picture.edges]
    for index, other in sorted(edges):
        reached.setdefault(index, []).append(other)
    return reached


def _lane_of_node(reached: dict[int, list[int]]) -> dict[int, int]:
    """The lane of each node that has one: the first that is free from its upper end to its lower."""
    taken: list[int] = []
    index_of: dict[int, int] = {}
    for node in sorted(reached, key=lambda index: min(index, *reached[index])):
        first, last = min(node, *reached[node]), max(node, *reached[node])
        free = next((lane for lane, end in enumerate(taken) if end < first), len(taken))
        taken[free : free + 1] = [last]
        index_of[node] = free
    return index_of


def _lanes_at(node: int, reached: dict[int, list[int]], index_of: dict[int, int], across: int) -> str:
    """The lanes beside a node: those that it is on, those that come by, and the way to the last that it is on."""
    cells = [" "] * across
    on = [index_of[index] for index in reached if node == index or node in reached[index]]
    cells[: LANE * (max(on, default=-1) + 1)] = ACROSS * (LANE * (max(on, default=-1) + 1))
    for index, others in reached.items():
        at = LANE * index_of[index] + LANE - 1
        if node == index or node in others:
            cells[at] = FROM if node == index else TO
        elif min(index, *others) < node < max(index, *others):
            cells[at] = CROSSED if cells[at] == ACROSS else DOWN
    return "".join(cells)


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


def _box_line(indices: Sequence[int], across: int) -> str:
    low, first, middle, third, high = indices
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
        longest = max(SHORTEST, min(LONGEST, width - sum(GAP + width for width in widths)))
    bars = (BAR * math.ceil(longest * max(value, 0.0) / largest) for value in values)
    rows = (
        [strong(label) if right else label, *cells, bar] for label, *cells, bar in zip(*columns, bars, strict=True)
    )
    return grid([*header, ""], rows, right=range(right, len(header)))


def _thinned(line: Sequence[float | None]) -> list[float | None]:
    """So many points that they stand in a line, at equal distances from the first to the last."""
    shown = min(len(line), MOST_HEIGHTS)
    return [line[round(index * (len(line) - 1) / max(shown - 1, 1))] for index in range(shown)]


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
