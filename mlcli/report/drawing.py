"""Pictures drawn with characters: bars, curves and histograms as tables, points, trees and merges as lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from itertools import pairwise
from typing import Any

from mlcli.core import findings
from mlcli.report.confusion import confusions_drawn
from mlcli.report.document import Content, Field, Grid, Lines, grid
from mlcli.report.lanes import lanes
from mlcli.report.layout import GAP
from mlcli.report.numbers import column_of, lined_up, short
from mlcli.report.page import columns_of, padded
from mlcli.report.planes import (
    ACROSS,
    DOWN,
    MARKS,
    SHORTEST,
    WIDEST,
    cloud_drawn,
    place_of,
    points_drawn,
    regions_drawn,
)

BAR = "█"
LONGEST = 40
"""Of the longest bar, by how wide the page is."""
INDENT = "|   "
INDENT_OF_BARS = "  "
MOST_LINES = 60
"""Of a tree."""
CERTAIN = 1e-12
JOINED, ROOT = "├", "┤"
CORNERS = {True: "┐", False: "┘"}


@singledispatch
def drawn(picture: Any, width: int | None) -> Grid | Lines:
    """A picture as a table or lines, if possible no wider than so many columns."""
    raise TypeError(f"there is no drawing of {type(picture).__name__}")


@drawn.register
def _bars(picture: findings.Bars, width: int | None) -> Grid:
    columns = [column_of(cells) for cells in (picture.values, *picture.beside)]
    return _with_bars(picture.header, [picture.labels, *columns], picture.values, width)


@drawn.register
def _histogram(picture: findings.Histogram, width: int | None) -> Grid:
    counts = [counts for _, counts in picture.counts]
    columns = [[f"{count:g}" if count else "" for count in one] for one in counts]
    header = (f"{picture.measure} from", *(name for name, _ in picture.counts))
    starts = lined_up(picture.edges[:-1])
    return _with_bars(header, [starts, *columns], list(map(sum, zip(*counts, strict=True))), width, right=0)


@drawn.register
def _boxplots(picture: findings.Boxplots, width: int | None) -> Lines:
    """A line for each box on one scale: whiskers, the box from quartile to quartile, its median."""
    ends = [end for _, box in picture.boxes for end in box]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    names = max((columns_of(name) for name, _ in picture.boxes), default=0)
    across = WIDEST if width is None else max(SHORTEST, min(WIDEST, width - names - GAP))
    indent = " " * (names + GAP)
    lines = [
        f"{padded(name, names + GAP, 'left')}{_box([place_of(end, low, high, across) for end in box], across)}"
        f"{'  ' + str(outside) + ' outside' if outside else ''}"
        for (name, box), outside in zip(picture.boxes, picture.outside, strict=True)
    ]
    first, last = lined_up([low, high])
    lines = [line.rstrip() for line in lines]
    return Lines((*lines, indent + first.strip() + last.strip().rjust(across - columns_of(first.strip()))))


def _box(places: Sequence[int], across: int) -> str:
    """The places of the five numbers, drawn."""
    low, first, middle, third, high = places
    cells = [" "] * across
    cells[low:high] = ACROSS * (high - low)
    cells[first : third + 1] = "▒" * (third + 1 - first)
    cells[low], cells[high] = (DOWN if low < first else "▒"), (DOWN if high > third else "▒")
    cells[middle] = BAR
    return "".join(cells)


@drawn.register
def _curve(picture: findings.Curve, width: int | None) -> Grid:
    known = [value for _, line in picture.series for value in line if value is not None and math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    ends = [(line[0], line[-1]) for _, line in picture.series]
    written = column_of([value for pair in ends for value in pair])
    rows: list[list[Content]] = [
        [
            Field(name, "strong"),
            written[2 * place],
            Field("", heights=_heights(line, low, high)),
            written[2 * place + 1],
        ]
        for place, (name, line) in enumerate(picture.series)
    ]
    first, last = map(short, (picture.points[0], picture.points[-1]))
    return grid([picture.over, f"at {first}", "", f"at {last}"], rows, right=(1, 3))


drawn.register(findings.Confusions, confusions_drawn)
drawn.register(findings.Points, points_drawn)
drawn.register(findings.Cloud, cloud_drawn)
drawn.register(findings.Regions, regions_drawn)


@drawn.register
def _dendrogram(picture: findings.Dendrogram, width: int | None) -> Lines:
    """Leaves at the left, every merge as far right as it is high."""
    leaves, names = len(picture.leaves), max(map(columns_of, picture.leaves))
    across = WIDEST if width is None else max(SHORTEST, min(WIDEST, width - names - leaves - 1))
    canvas = [[" "] * (across + leaves) for _ in range(2 * leaves - 1)]
    highest = max(picture.heights)
    unit = across / highest if highest > 0 else 0.0
    column, line = [0] * leaves, [2 * place for place in range(leaves)]
    for pair, height in zip(picture.merges, picture.heights, strict=True):
        top, bottom = sorted(pair, key=line.__getitem__)
        made = _free(round(height * unit), {column[top], column[bottom]})
        for part in pair:
            _draw_across(canvas[line[part]], *sorted((column[part], made)))
        line.append(_draw_down(canvas, made, line[top], line[bottom]))
        column.append(made)
    canvas[line[-1]][column[-1]] = ROOT
    labels = [name for leaf in picture.leaves for name in (leaf, "")]
    pictured = zip(labels, canvas, strict=False)
    return Lines(tuple(f"{padded(name, names, 'left')} {''.join(cells)}".rstrip() for name, cells in pictured))


@drawn.register
def _graph(picture: findings.Graph, width: int | None) -> Lines:
    """A line for each node, and a lane for each that has edges to nodes further down."""
    return Lines(lanes(picture.nodes, picture.edges, directed=picture.directed))


@drawn.register
def _critical_difference(picture: findings.CriticalDifference, width: int | None) -> Lines:
    """A line for each model with a mark at its mean rank, and a bar beside those that cannot be told apart."""
    names, ranks = max(map(columns_of, picture.names)), lined_up(picture.ranks)
    bars = [
        INDENT_OF_BARS + " ".join(DOWN if min(group) <= place <= max(group) else " " for group in picture.groups)
        for place in range(len(ranks))
    ]
    margin = names + columns_of(ranks[0]) + 2 * GAP
    across = WIDEST if width is None else max(SHORTEST, min(WIDEST, width - margin - max(map(len, bars))))
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
    return Lines(tuple(line.rstrip() for line in (scale, *lines, ruler)))


@drawn.register
def _tree(picture: findings.Tree, width: int | None) -> Lines:
    """A line for each node but the root, further in the deeper it lies."""
    leaves = [depth >= below for depth, below in pairwise([*picture.depths, 0])]
    nodes = zip(picture.depths, picture.conditions, leaves, strict=True)
    lines = [
        INDENT * (depth - 1) + condition + (": " * bool(depth) + _leaf(picture, node) if leaf else "")
        for node, (depth, condition, leaf) in enumerate(nodes)
        if depth or leaf
    ]
    more = len(lines) - MOST_LINES
    return Lines(tuple(lines if more <= 0 else [*lines[:MOST_LINES], f"… and {more} more lines"]))


def _leaf(picture: findings.Tree, node: int) -> str:
    """A leaf's answer, its share where it is not certain, and the weight of its training rows."""
    share = picture.shares[node]
    sure = "" if share > 1 - CERTAIN else f" {share:.0%}"
    return f"{picture.answers[node]}{sure} ({picture.rows[node]:.6g})"


def _with_bars(
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    values: Sequence[float],
    width: int | None,
    right: int = 1,
) -> Grid:
    """The columns, those from ``right`` on to the right, and a bar at the end of each row."""
    largest = max(values, default=0.0) or 1.0
    longest = _room_beside(header, columns, width)
    bars = (BAR * math.ceil(longest * max(value, 0.0) / largest) for value in values)
    rows = [
        [Field(label, "strong") if right else label, *cells, bar]
        for label, *cells, bar in zip(*columns, bars, strict=True)
    ]
    return grid([*header, ""], rows, right=range(right, len(header)))


def _room_beside(header: Sequence[str], columns: Sequence[Sequence[str]], width: int | None) -> int:
    if width is None:
        return LONGEST
    taken = sum(GAP + max(map(columns_of, (title, *cells))) for title, cells in zip(header, columns, strict=True))
    return max(SHORTEST, min(LONGEST, width - taken))


def _heights(line: Sequence[float | None], low: float, high: float) -> tuple[float, ...]:
    """From 0 to 1; what differs by less than a twentieth of the range is not told apart."""
    return tuple(
        math.nan if value is None or not math.isfinite(value) else round((value - low) / ((high - low) or 1.0), 1)
        for value in line
    )


def _free(column: int, taken: set[int]) -> int:
    """The column, or the next one to the right where a part ends that is almost as high."""
    return next(place for place in range(column, column + len(taken) + 1) if place not in taken)


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
