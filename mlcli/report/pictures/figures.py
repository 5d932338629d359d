"""Pictures as figures of matplotlib: one function for each kind of picture, and one for a shaded table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mlcli.core.findings import (
    Bars,
    Boxplots,
    Cloud,
    Confusions,
    CriticalDifference,
    Curve,
    Dendrogram,
    Graph,
    Histogram,
    Points,
    Regions,
    Tree,
)
from mlcli.report.document import Grid
from mlcli.report.numbers import column_of, lined_up, short

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
    for index, colour in enumerate(colours.values()):
        inside = [[float(value == index) for value in line] for line in picture.answers]
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
    indices = [index for index, cell in enumerate(picture.rows[0]) if cell.shade is not None]
    shades = [[row[index].shade or 0.0 for index in indices] for row in picture.rows]
    labels = [cut(picture.header[index]) for index in indices]
    figure, axes = _heat_map(shades, [cut(row[0].text) for row in picture.rows], labels)
    for line, row in enumerate(picture.rows):
        for column, index in enumerate(indices):
            ink = "white" if shades[line][column] > DARK else INK
            text = " ".join(row[index].text.split())
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
    axes.set_xticks([index + 0.5 for index in range(len(columns))], columns)
    axes.set_yticks([index + 0.5 for index in range(len(rows))], rows)
    axes.invert_yaxis()
    return _with_labels(figure, axes, "predicted", "true"), axes


MOST_LEAVES = 60
"""Whose names are written."""
MOST_ENDS = 24
"""Branches of a tree that end in the picture: it is drawn down to a depth that has no more."""
CONDITION = 44
"""Letters of what stands on a branch."""
ASIDE = 0.09
"""How far a layer of a graph is moved, so that edges do not run through nodes."""
MOST_ANSWERS = 8
"""With more answers than these, colours mean nothing."""


def dendrogram(picture: Dendrogram) -> Figure:
    """Leaves at the left, every merge as far right as it is high."""
    leaves = len(picture.leaves)
    figure, axes = axes_of(height_of(min(leaves, MOST_LEAVES)))
    place, end = [float(leaf) for leaf in range(leaves)], [0.0] * leaves
    for (first, second), height in zip(picture.merges, picture.heights, strict=True):
        x = (end[first], height, height, end[second])
        axes.plot(x, (place[first], place[first], place[second], place[second]), color=COLOURS[0], linewidth=1.2)
        place.append((place[first] + place[second]) / 2)
        end.append(height)
    named = picture.leaves if leaves <= MOST_LEAVES else ()
    axes.set_yticks(range(len(named)), list(map(cut, named)))
    axes.invert_yaxis()
    axes.set_xlabel("height")
    return figure


def critical_difference(picture: CriticalDifference) -> Figure:
    """Demšar's diagram: models on the line of their mean ranks, those that cannot be told apart joined."""
    count = len(picture.names)
    figure, axes = axes_of(0.7 + 0.3 * (count + len(picture.groups)))
    names = [f"{cut(name)} {rank}" for name, rank in zip(picture.names, lined_up(picture.ranks), strict=True)]
    for index, (name, rank) in enumerate(zip(names, picture.ranks, strict=True)):
        axes.plot((rank, rank), (0, index + 1), color=FAINT, linewidth=0.8)
        axes.plot(rank, 0, "o", color=COLOURS[0], markersize=5)
        is_left = rank < (1 + count) / 2
        beside: Any = {"xytext": (4 if is_left else -4, 0), "textcoords": "offset points", "fontsize": 8}
        axes.annotate(name, (rank, index + 1), ha="left" if is_left else "right", va="center", **beside)
    for index, group in enumerate(picture.groups):
        ends = picture.ranks[min(group)] - 0.03, picture.ranks[max(group)] + 0.03
        axes.plot(ends, [-0.55 - 0.4 * index] * 2, color=COLOURS[1], linewidth=3)
    top = -1.1 - 0.4 * len(picture.groups)
    axes.plot((1, 1 + picture.difference), (top, top), color=INK, marker="|")
    axes.annotate(f"  critical difference {short(picture.difference)}", (1 + picture.difference, top), va="center")
    axes.set_xlim(0.9, max(count, 2) + 0.1)
    axes.set_ylim(count + 0.6, top - 0.5)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("mean rank")
    return figure


def tree(picture: Tree) -> Figure:
    """The root at the left, a line for each leaf; what leads to a node stands on its branch."""
    picture = _cut_at_depth(picture, _deepest_drawn(picture))
    leaves = picture.leaves()
    heights = _heights_of_nodes(picture.depths, leaves)
    figure, axes = axes_of(max(1.0, 0.36 * sum(leaves) + 0.3))
    figure.set_figwidth(max(WIDTH, 1.35 * (max(picture.depths) + 1.4)))
    colours = _colour_of_answer(picture.answers)
    for node, parent in enumerate(_parents(picture.depths)):
        x, y = picture.depths[node], heights[node]
        if parent is not None:
            above = picture.depths[parent], heights[parent]
            axes.plot((above[0], above[0] + 0.12, x), (above[1], y, y), color=FAINT, linewidth=1, zorder=0)
            axes.annotate(cut(picture.conditions[node], CONDITION), (x - 0.05, y - 0.1), ha="right", fontsize=7)
        if leaves[node]:
            share = f" {picture.shares[node]:.0%}" if picture.shares[node] < 1 else ""
            answer = f"{cut(picture.answers[node])}{share} ({short(picture.rows[node])})"
            axes.annotate(answer, (x + 0.08, y), va="center", fontsize=8)
        axes.plot(x, y, "o", color=colours[picture.answers[node]], markersize=6)
    axes.set_xlim(-0.2, max(picture.depths) + 1.1)
    axes.set_ylim(sum(leaves) - 0.4, -0.7)
    axes.set_axis_off()
    return figure


def _deepest_drawn(picture: Tree) -> int:
    steps = list(pairwise([*picture.depths, 0]))

    def ends(most: int) -> int:
        return sum(depth == most or below <= depth < most for depth, below in steps)

    return max((most for most in range(1, max(picture.depths) + 1) if ends(most) <= MOST_ENDS), default=1)


def _cut_at_depth(picture: Tree, deepest: int) -> Tree:
    """A tree without what lies deeper; where it went on its answer ends with three dots."""
    kept = [node for node, depth in enumerate(picture.depths) if depth <= deepest]
    goes_on = [below > deepest for below in (*picture.depths[1:], 0)]
    answers = [picture.answers[node] + " …" * goes_on[node] for node in kept]
    return Tree(
        picture.title,
        tuple(picture.depths[node] for node in kept),
        tuple(picture.conditions[node] for node in kept),
        tuple(answers),
        tuple(picture.shares[node] for node in kept),
        tuple(picture.rows[node] for node in kept),
    )


def _colour_of_answer(answers: Sequence[str]) -> dict[str, str]:
    """A colour for each answer, where these are few; the same where the tree went on."""
    bare = {answer: answer.removesuffix(" …") for answer in answers}
    distinct = dict.fromkeys(bare.values())
    colours = dict(zip(distinct, COLOURS if len(distinct) <= MOST_ANSWERS else cycle(COLOURS[:1]), strict=False))
    return {answer: colours[bare[answer]] for answer in answers}


def _parents(depths: Sequence[int]) -> Iterator[int | None]:
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
        if (parent := parents[node]) is not None:
            below.setdefault(parent, []).append(heights[node])
    return heights


def graph(picture: Graph) -> Figure:
    """Nodes below those that lead to them; where edges have no direction, in a circle."""
    angles = (2 * math.pi * node / len(picture.nodes) for node in range(len(picture.nodes)))
    circle = [(math.sin(angle), math.cos(angle)) for angle in angles]
    places = _layered_places(picture) if picture.directed else circle
    layers = len({y for _, y in places}) if picture.directed else 4
    figure, axes = axes_of(max(1.6, 0.8 * layers))
    style = {"arrowstyle": "->" if picture.directed else "-", "color": FAINT, "shrinkA": 12, "shrinkB": 12}
    for index, other in picture.edges:
        axes.annotate("", places[other], places[index], arrowprops=style)
    for name, place in zip(picture.nodes, places, strict=True):
        axes.annotate(cut(name), place, ha="center", va="center", fontsize=8, color=COLOURS[0])
        axes.plot(*place, alpha=0)
    axes.margins(0.2)
    axes.set_axis_off()
    return figure


def _layered_places(picture: Graph) -> list[tuple[float, float]]:
    """Every node below all that lead to it; those of one layer side by side."""
    layer = [0] * len(picture.nodes)
    for _ in picture.nodes:  # the longest way has no more edges than there are nodes, also where there is a circle
        for index, other in picture.edges:
            layer[other] = min(max(layer[other], layer[index] + 1), len(picture.nodes))
    sizes = Counter(layer)
    seen: Counter[int] = Counter()
    places = []
    for at in layer:
        seen[at] += 1
        places.append((seen[at] / (sizes[at] + 1) + ASIDE * (at % 3 - 1), -float(at)))
    return places
