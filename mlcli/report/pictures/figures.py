"""Pictures as figures of matplotlib: one function for each kind of picture, and one for a table that is shaded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlcli.core.findings import Bars, Boxplots, Cloud, Confusions, Curve, Histogram, Points, Regions
from mlcli.report.document import Grid
from mlcli.report.numbers import column_of

INK, FAINT = "#1c2128", "#8a919c"
COLOURS = ("#2166ac", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0e7490", "#be123c", "#4d7c0f")
WIDTH, HEIGHT = 4.2, 3.0
"""Inches: on a telephone as wide as the screen, so that letters stay readable."""
LINE = 0.24
"""Inches of height for each bar, box or leaf."""
MOST_BARS = 40
MOST_LETTERS, LONGEST_NAME = 28, 16
"""Of a label beside a bar, which is cut where it is longer; of names of which three stand side by side."""
STRAIGHT = 1e-9
DARK = 0.6
"""The shade from which letters on it are white."""
FEW_POINTS = 25
"""Up to so many the points of a curve are marked."""
NAMED_GROUPS = 9
"""More names than these would hide what they name."""


def axes_of(height: float = HEIGHT) -> tuple[Figure, Axes]:
    """An empty figure with one plane."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def height_of(count: int) -> float:
    """The height of a figure of so many bars or boxes."""
    return 0.75 + LINE * max(count, 2)


def cut(label: str, letters: int = MOST_LETTERS) -> str:
    """A label that fits beside a bar; a dollar would begin a formula."""
    short_one = label if len(label) <= letters else f"{label[: letters - 1]}…"
    return short_one.replace("$", r"\$")


def _coordinates(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    return [[point[side] for point in points] for side in (0, 1)]


def _with_labels(figure: Figure, axes: Axes, across: str, upwards: str) -> Figure:
    """With what its axes are, and names above the plane, where there are several and not too many."""
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    names = axes.get_legend_handles_labels()[1]
    side_by_side = 2 if max(map(len, names), default=0) > LONGEST_NAME else 3
    if 1 < len(names) <= NAMED_GROUPS:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=side_by_side, borderaxespad=0.2)
    return figure


def _is_straight(points: Sequence[tuple[float, float]]) -> bool:
    """Whether a line is one that others are compared with."""
    (x, y), (x_end, y_end) = points[0], points[-1]
    return all(abs((px - x) * (y_end - y) - (py - y) * (x_end - x)) < STRAIGHT for px, py in points)


def bars(picture: Bars) -> Figure:
    """A bar for each label, the first on top."""
    labels, values = picture.labels[:MOST_BARS], picture.values[:MOST_BARS]
    figure, axes = axes_of(height_of(len(labels)))
    places = range(len(labels))
    drawn = axes.barh(places, values, color=COLOURS[0], height=0.7)
    beside = column_of(values)
    axes.bar_label(drawn, [text.strip() for text in beside], padding=3, fontsize=8)
    axes.set_yticks(places, list(map(cut, labels)))
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(picture.header[1])
    return figure


def curve(picture: Curve) -> Figure:
    """Lines, each with its band where it has one."""
    figure, axes = axes_of()
    mark = "o" if len(picture.points) <= FEW_POINTS else ""
    bands = dict(picture.bands)
    for (name, line), colour in zip(picture.series, cycle(COLOURS), strict=False):
        known = [(x, y) for x, y in zip(picture.points, line, strict=True) if y is not None and math.isfinite(y)]
        axes.plot(*_coordinates(known), color=colour, marker=mark, markersize=3.5, label=cut(name))
        if name in bands:
            low, high = zip(*((math.nan, math.nan) if ends is None else ends for ends in bands[name]), strict=True)
            axes.fill_between(picture.points, low, high, color=colour, alpha=0.18, linewidth=0)
    alone = cut(picture.series[0][0]) if len(picture.series) == 1 else ""
    return _with_labels(figure, axes, picture.over, alone)


def histogram(picture: Histogram) -> Figure:
    """The outlines of counts, one over the other."""
    figure, axes = axes_of()
    for (name, counts), colour in zip(picture.counts, cycle(COLOURS), strict=False):
        axes.stairs(counts, picture.edges, fill=True, color=colour, alpha=0.3)
        axes.stairs(counts, picture.edges, color=colour, label=cut(name))
    return _with_labels(figure, axes, picture.measure, "rows")


def boxplots(picture: Boxplots) -> Figure:
    """Boxes below each other."""
    figure, axes = axes_of(height_of(len(picture.boxes)))
    ends = ("whislo", "q1", "med", "q3", "whishi")
    described = [{"label": cut(name), **dict(zip(ends, box, strict=True))} for name, box in picture.boxes]
    lines = {"color": INK, "linewidth": 1.0}
    box, middle = {"facecolor": COLOURS[0], "alpha": 0.45, "edgecolor": INK}, {"color": COLOURS[1], "linewidth": 2}
    style: Any = {"boxprops": box, "medianprops": middle, "whiskerprops": lines, "capprops": lines, "widths": 0.6}
    axes.bxp(described, orientation="horizontal", showfliers=False, patch_artist=True, **style)
    axes.invert_yaxis()
    axes.set_xlabel(picture.measure)
    return figure


def points(picture: Points) -> Figure:
    """Points, and lines where they lie along one."""
    figure, axes = axes_of(0.9 * WIDTH)
    for (name, group), colour in zip(picture.groups, cycle(COLOURS), strict=False):
        x, y = _coordinates(group)
        if name in picture.lines and _is_straight(group):
            axes.plot(x, y, "--", color=FAINT, linewidth=1, label=cut(name), zorder=3)
        elif name in picture.lines:
            axes.plot(x, y, color=colour, label=cut(name))
        else:
            axes.scatter(x, y, s=14, color=colour, alpha=0.75, linewidths=0, label=cut(name))
    return _with_labels(figure, axes, picture.across, picture.upwards)


def cloud(picture: Cloud) -> Figure:
    """Points in space, seen from above one corner."""
    figure = Figure(figsize=(WIDTH, 0.9 * WIDTH))
    axes: Any = figure.add_axes((0.0, 0.06, 0.88, 0.84), projection="3d")
    for (name, group), colour in zip(picture.groups, cycle(COLOURS), strict=False):
        x, y, z = ([point[side] for point in group] for side in range(3))
        axes.scatter(x, y, z, s=10, color=colour, alpha=0.75, linewidths=0, label=cut(name), depthshade=False)
    across, upwards, deep = map(cut, picture.axes)
    axes.set_zlabel(deep)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0, 0, 0, 0))
    return _with_labels(figure, axes, across, upwards)


def regions(picture: Regions) -> Figure:
    """Classes in the colours of their points, numbers the stronger the larger."""
    figure, axes = axes_of(0.9 * WIDTH)
    colours = dict(zip(picture.names, cycle(COLOURS), strict=False))
    for place, colour in enumerate(colours.values()):
        inside = [[float(value == place) for value in line] for line in picture.answers]
        if any(map(any, inside)):
            axes.contourf(picture.x, picture.y, inside, levels=(0.5, 1.5), colors=[colour], alpha=0.22)
    if not colours:
        levels = axes.contourf(picture.x, picture.y, picture.answers, levels=9, cmap="Blues", alpha=0.8)
        figure.colorbar(levels, ax=axes)
    for name, group in picture.groups:
        x, y = _coordinates(group)
        axes.scatter(x, y, s=12, color=colours.get(name, INK), alpha=0.85, linewidths=0, label=cut(name))
    return _with_labels(figure, axes, picture.across, picture.upwards)


def shaded(picture: Grid) -> Figure:
    """The columns of a table that are shaded, as a heat map."""
    places = [place for place, cell in enumerate(picture.rows[0]) if cell.shade is not None]
    shades = [[row[place].shade or 0.0 for place in places] for row in picture.rows]
    labels = [cut(picture.header[place]) for place in places]
    figure, axes = _heat_map(shades, [cut(row[0].text) for row in picture.rows], labels)
    for line, row in enumerate(picture.rows):
        for column, place in enumerate(places):
            ink = "white" if shades[line][column] > DARK else INK
            text = " ".join(row[place].text.split())
            axes.text(column + 0.5, line + 0.5, text, ha="center", va="center", fontsize=7, color=ink)
    return figure


def confusions(picture: Confusions) -> Figure:
    """A heat map of the shares of each row."""
    shades = [[count / (sum(row) or 1.0) for count in row] for row in picture.counts]
    figure, axes = _heat_map(shades, list(map(cut, picture.labels)), list(map(cut, picture.labels)))
    figure.set_figwidth(1.6 + LINE * len(shades))
    axes.tick_params(labelsize=7)
    axes.tick_params("x", rotation=90)
    return figure


def _heat_map(
    shades: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]
) -> tuple[Figure, Axes]:
    """Shares from 0 to 1, the first row on top."""
    figure, axes = axes_of(1.2 + LINE * max(len(rows), 6))
    axes.pcolormesh(shades, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks([place + 0.5 for place in range(len(columns))], columns)
    axes.set_yticks([place + 0.5 for place in range(len(rows))], rows)
    axes.invert_yaxis()
    return _with_labels(figure, axes, "predicted", "true"), axes
