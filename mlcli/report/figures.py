"""Pictures as figures of matplotlib: one function for each kind of picture, and one for a table that is shaded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import cycle, pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlcli.core.findings import Bars, Boxplots, CriticalDifference, Curve, Dendrogram, Histogram, Points, Tree
from mlcli.report.document import Grid
from mlcli.report.numbers import column_of, lined_up, short

INK, FAINT = "#1c2128", "#8a919c"
COLOURS = ("#2166ac", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0e7490", "#be123c", "#4d7c0f")
WIDTH, HEIGHT = 4.2, 3.0
"""Inches: on a telephone as wide as the screen, so that letters stay readable."""
LINE = 0.24
"""Inches of height for each bar, box or leaf."""
MOST_BARS, MOST_LEAVES = 40, 60
MOST_LETTERS = 28
"""Of a label beside a bar; a longer one is cut."""
FEW_POINTS = 25
"""Up to so many the points of a curve are marked."""
NAMED_GROUPS = 9
"""More names than these would hide what they name."""


@singledispatch
def figure_of(picture: Any) -> Figure:
    """A picture as a figure."""
    raise TypeError(f"there is no figure of {type(picture).__name__}")


def _axes(height: float = HEIGHT) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def _by_lines(count: int) -> float:
    """The height of a figure of so many bars or boxes."""
    return 0.75 + LINE * max(count, 2)


def _cut(label: str) -> str:
    """A label that fits beside a bar; a dollar would begin a formula."""
    short_one = label if len(label) <= MOST_LETTERS else f"{label[: MOST_LETTERS - 1]}…"
    return short_one.replace("$", r"\$")


def _columns(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    return [[point[side] for point in points] for side in (0, 1)]


def _name_groups(axes: Axes, count: int) -> None:
    """Names above the plane, where there are several and not too many."""
    if 1 < count <= NAMED_GROUPS:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=min(3, count), borderaxespad=0.2)


@figure_of.register
def _bars(picture: Bars) -> Figure:
    labels, values = picture.labels[:MOST_BARS], picture.values[:MOST_BARS]
    figure, axes = _axes(_by_lines(len(labels)))
    places = range(len(labels))
    bars = axes.barh(places, values, color=COLOURS[0], height=0.7)
    beside = column_of(values)
    axes.bar_label(bars, [text.strip() for text in beside], padding=3, fontsize=8)
    axes.set_yticks(places, list(map(_cut, labels)))
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(_cut(picture.header[1]))
    return figure


@figure_of.register
def _curve(picture: Curve) -> Figure:
    figure, axes = _axes()
    mark = "o" if len(picture.points) <= FEW_POINTS else ""
    bands = dict(picture.bands)
    for (name, line), colour in zip(picture.series, cycle(COLOURS), strict=False):
        known = [(x, y) for x, y in zip(picture.points, line, strict=True) if y is not None and math.isfinite(y)]
        axes.plot(*_columns(known), color=colour, marker=mark, markersize=3.5, label=_cut(name))
        if name in bands:
            low, high = zip(*((math.nan, math.nan) if ends is None else ends for ends in bands[name]), strict=True)
            axes.fill_between(picture.points, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.set_xlabel(_cut(picture.over))
    if len(picture.series) == 1:
        axes.set_ylabel(_cut(picture.series[0][0]))
    _name_groups(axes, len(picture.series))
    return figure


@figure_of.register
def _histogram(picture: Histogram) -> Figure:
    figure, axes = _axes()
    for (name, counts), colour in zip(picture.counts, cycle(COLOURS), strict=False):
        axes.stairs(counts, picture.edges, fill=True, color=colour, alpha=0.3)
        axes.stairs(counts, picture.edges, color=colour, label=_cut(name))
    axes.set_xlabel(_cut(picture.measure))
    axes.set_ylabel("rows")
    _name_groups(axes, len(picture.counts))
    return figure


@figure_of.register
def _boxplots(picture: Boxplots) -> Figure:
    figure, axes = _axes(_by_lines(len(picture.boxes)))
    ends = ("whislo", "q1", "med", "q3", "whishi")
    described = [{"label": _cut(name), **dict(zip(ends, box, strict=True))} for name, box in picture.boxes]
    lines = {"color": INK, "linewidth": 1.0}
    axes.bxp(
        described,
        orientation="horizontal",
        showfliers=False,
        patch_artist=True,
        widths=0.6,
        boxprops={"facecolor": COLOURS[0], "alpha": 0.45, "edgecolor": INK},
        medianprops={"color": COLOURS[1], "linewidth": 2},
        whiskerprops=lines,
        capprops=lines,
    )
    axes.invert_yaxis()
    axes.set_xlabel(_cut(picture.measure))
    return figure


@figure_of.register
def _points(picture: Points) -> Figure:
    figure, axes = _axes(0.9 * WIDTH)
    for (name, group), colour in zip(picture.groups, cycle(COLOURS), strict=False):
        x, y = _columns(group)
        if name in picture.lines:
            axes.plot(x, y, color=colour, label=_cut(name))
        else:
            axes.scatter(x, y, s=14, color=colour, alpha=0.75, linewidths=0, label=_cut(name))
    axes.set_xlabel(picture.across)
    axes.set_ylabel(picture.upwards)
    _name_groups(axes, len(picture.groups))
    return figure


@figure_of.register
def _dendrogram(picture: Dendrogram) -> Figure:
    leaves = len(picture.leaves)
    figure, axes = _axes(_by_lines(min(leaves, MOST_LEAVES)))
    place, end = [float(leaf) for leaf in range(leaves)], [0.0] * leaves
    for (first, second), height in zip(picture.merges, picture.heights, strict=True):
        x = (end[first], height, height, end[second])
        axes.plot(x, (place[first], place[first], place[second], place[second]), color=COLOURS[0], linewidth=1.2)
        place.append((place[first] + place[second]) / 2)
        end.append(height)
    if leaves <= MOST_LEAVES:
        axes.set_yticks(range(leaves), list(map(_cut, picture.leaves)))
    else:
        axes.set_yticks([])
    axes.invert_yaxis()
    axes.set_xlabel("height")
    return figure


@figure_of.register
def _critical_difference(picture: CriticalDifference) -> Figure:
    """Demšar's diagram: models on the line of their mean ranks, those that cannot be told apart joined."""
    count = len(picture.names)
    figure, axes = _axes(0.7 + 0.3 * (count + len(picture.groups)))
    names = [f"{_cut(name)} {rank}" for name, rank in zip(picture.names, lined_up(picture.ranks), strict=True)]
    for place, (name, rank) in enumerate(zip(names, picture.ranks, strict=True)):
        axes.plot((rank, rank), (0, place + 1), color=FAINT, linewidth=0.8)
        axes.plot(rank, 0, "o", color=COLOURS[0], markersize=5)
        axes.annotate(
            name, (rank, place + 1), ha="left" if rank < (1 + count) / 2 else "right", va="center", fontsize=8
        )
    for place, group in enumerate(picture.groups):
        ends = picture.ranks[min(group)] - 0.03, picture.ranks[max(group)] + 0.03
        axes.plot(ends, [-0.55 - 0.4 * place] * 2, color=COLOURS[1], linewidth=3)
    top = -1.1 - 0.4 * len(picture.groups)
    axes.plot((1, 1 + picture.difference), (top, top), color=INK, marker="|")
    axes.annotate(f" critical difference {short(picture.difference)}", (1 + picture.difference, top), va="center")
    axes.set_xlim(0.9, max(count, 2) + 0.1)
    axes.set_ylim(count + 0.6, top - 0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("mean rank")
    return figure


@figure_of.register
def _tree(picture: Tree) -> Figure:
    """The root at the left, a line for each leaf; what leads to a node stands on its branch."""
    leaves = [depth >= below for depth, below in pairwise([*picture.depths, 0])]
    heights = _heights_of_nodes(picture.depths, leaves)
    figure, axes = _axes(max(1.0, 0.36 * sum(leaves) + 0.3))
    figure.set_figwidth(max(WIDTH, 1.35 * (max(picture.depths) + 1.4)))
    colours = dict(zip(dict.fromkeys(picture.answers), cycle(COLOURS), strict=False))
    for node, parent in enumerate(_parents(picture.depths)):
        at = picture.depths[node], heights[node]
        if parent is not None:
            above = picture.depths[parent], heights[parent]
            axes.plot(
                (above[0], above[0] + 0.12, at[0]), (above[1], at[1], at[1]), color=FAINT, linewidth=1, zorder=0
            )
            axes.annotate(_cut(picture.conditions[node]), (at[0] - 0.05, at[1] - 0.1), ha="right", fontsize=7)
        if leaves[node]:
            said = f"{_cut(picture.answers[node])} {picture.shares[node]:.0%} ({short(picture.rows[node])})"
            axes.annotate(said, (at[0] + 0.08, at[1]), va="center", fontsize=8)
        axes.plot(*at, "o", color=colours[picture.answers[node]], markersize=6)
    axes.set_xlim(-0.2, max(picture.depths) + 1.1)
    axes.set_ylim(sum(leaves) - 0.4, -0.7)
    axes.set_axis_off()
    return figure


def _parents(depths: Sequence[int]) -> Iterator[int | None]:
    """The node above each."""
    path: list[int] = []
    for node, depth in enumerate(depths):
        yield path[depth - 1] if depth else None
        path[depth:] = [node]


def _heights_of_nodes(depths: Sequence[int], leaves: Sequence[bool]) -> list[float]:
    """Leaves one below the other, every other node in the middle of those right below it."""
    below: dict[int, list[float]] = {}
    heights = [0.0] * len(depths)
    place = sum(leaves) - 1.0
    parents = list(_parents(depths))
    for node in reversed(range(len(depths))):
        if leaves[node]:
            heights[node], place = place, place - 1
        else:
            heights[node] = (below[node][0] + below[node][-1]) / 2
        parent = parents[node]
        if parent is not None:
            below.setdefault(parent, []).append(heights[node])
    return heights


@figure_of.register
def _shaded(picture: Grid) -> Figure:
    """The columns of a table that are shaded, as a heat map."""
    places = [place for place, cell in enumerate(picture.rows[0]) if cell.shade is not None]
    shades = [[row[place].shade or 0.0 for place in places] for row in picture.rows]
    figure, axes = _axes(0.9 + 0.36 * len(shades))
    axes.imshow(shades, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for line, row in enumerate(picture.rows):
        for column, place in enumerate(places):
            dark = (row[place].shade or 0.0) > 0.6
            text = " ".join(row[place].text.split())
            axes.text(column, line, text, ha="center", va="center", fontsize=7, color="white" if dark else INK)
    axes.set_xticks(range(len(places)), [_cut(picture.header[place]) for place in places], rotation=20, ha="right")
    axes.set_yticks(range(len(shades)), [_cut(row[0].text) for row in picture.rows])
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    return figure
