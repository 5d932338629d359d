"""Pictures drawn by matplotlib: one function for each kind of picture, as SVG in a page or as files.

matplotlib comes with the extra ``mlcli[report]``; this module is imported where a picture is drawn.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from io import BytesIO
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
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
from mlcli.core.processes import replacing
from mlcli.report.document import Document, Grid, Heading, Picture, column_of, lined_up, short
from mlcli.report.page import Page

INK, FAINT = "#1c2128", "#8a919c"
COLOURS = ("#2166ac", "#c2410c", "#15803d", "#7e22ce", "#b45309", "#0e7490", "#be123c", "#4d7c0f")
STYLE: Any = {
    "font.size": 9, "svg.fonttype": "none", "text.color": INK, "axes.edgecolor": FAINT,
    "axes.labelcolor": INK, "axes.spines.top": False, "axes.spines.right": False,
    "axes.linewidth": 0.8, "xtick.color": INK, "ytick.color": INK, "legend.frameon": False,
    "legend.fontsize": 8, "lines.linewidth": 1.6,
}  # fmt: skip
WIDTH = 4.2
"""Inches: on a phone as wide as the screen, so that letters stay readable."""
LINE = 0.24
"""Inches of height for each bar, box or leaf."""


def svg_of(picture: Picture | Grid, name: str) -> str:
    """A picture as an SVG element; its ids begin with a name that no other picture of the page has."""
    text = _rendered(picture, "svg", name).decode()
    head, _, rest = text[text.index("<svg") :].partition(">")
    # The page itself says size, font and style.
    rest = re.sub(r"<metadata>.*?</metadata>|<style type[^>]*>.*?</style>", "", rest, flags=re.DOTALL)
    rest = re.sub(r"<!--.*?-->|<defs>\s*</defs>", "", rest, flags=re.DOTALL)
    rest = re.sub(r'font: ([\d.]+px) [^;"]*', r"font-size: \1", rest)
    rest = re.sub(r'font-family: [^;"]*;? ?', "", rest)
    box = re.search(r'viewBox="[^"]*"', head)
    assert box
    pixels = float(box[0].split()[2]) * 96 / 72  # of a page, for the points of the figure
    # Below 0.72 of its width a picture is scrolled, so that its letters stay readable.
    svg = f'<svg {box[0]} style="width:{pixels:.0f}px;min-width:{0.72 * pixels:.0f}px">{rest}'
    # A dark page has other colours; in a notebook the colours are themselves.
    svg = svg.replace(INK, "currentColor").replace(FAINT, f"var(--faint, {FAINT})")
    for index, colour in enumerate(COLOURS):
        svg = svg.replace(colour, f"var(--c{index}, {colour})")
    # Only ids that are referred to stay.
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', svg))
    svg = re.sub(r' id="([^"]*)"', lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "", svg)
    return re.sub(r'(url\(|href=")#', rf"\1#{name}-", svg)


def save(picture: Picture | Grid, path: Path) -> None:
    """A picture as a file, of the format that its suffix names."""
    content = _rendered(picture, path.suffix[1:], path.stem)
    with replacing(path) as beside:
        beside.write_bytes(content)


def save_all(document: Document, folder: Path, suffix: str) -> list[Path]:
    """Every picture and every shaded table as a file, numbered, and named by the headings above it."""
    titles: dict[int, str] = {}
    paths: list[Path] = []
    for element in document:
        if isinstance(element, Heading):
            titles = {level: text for level, text in titles.items() if level < element.level}
            titles[element.level] = element.text
        elif isinstance(element, Picture) or (
            isinstance(element, Grid) and any(cell.shade is not None for row in element.rows for cell in row)
        ):
            words = " ".join(title.partition(":")[0] if level == 1 else title for level, title in titles.items())
            name = re.sub("[^a-z0-9]+", "-", words.lower())[:60].strip("-")
            paths.append(folder / f"{len(paths) + 1:02d}-{name or 'picture'}.{suffix}")
            save(element, paths[-1])
    return paths


def _rendered(picture: Picture | Grid, suffix: str, name: str) -> bytes:
    undated: dict[str, None] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix, {})
    content = BytesIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = FIGURES[type(picture)](_printable(picture))
        figure.savefig(content, format=suffix, transparent=suffix == "svg", dpi=160, metadata=undated)
    return content.getvalue()


def _printable(value: Any) -> Any:
    """The same picture, or part of one, without control characters, which XML does not allow."""
    if isinstance(value, str):
        return value if value.isprintable() else "\n".join(map(Page().shown, value.split("\n")))
    if isinstance(value, tuple):
        return tuple(map(_printable, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _printable(getattr(value, field.name)) for field in fields(value)})
    return value


def _plane(height: float = 3.0) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def _height_of(count: int) -> float:
    """The height of a figure of so many bars or boxes."""
    return 0.75 + LINE * max(count, 2)


def _label(text: str, letters: int = 28) -> str:
    """A label that fits beside a bar; a dollar would begin a formula."""
    shortened = text if len(text) <= letters else f"{text[: letters - 1]}…"
    return shortened.replace("$", r"\$")


def _coordinates(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    return [[point[side] for point in points] for side in (0, 1)]


def _finished(figure: Figure, axes: Axes, across: str, upwards: str) -> Figure:
    """The figure with labels of the axes and a legend, where there are several names and not too many."""
    axes.set_xlabel(across)
    axes.set_ylabel(upwards)
    names = axes.get_legend_handles_labels()[1]
    if 1 < len(names) <= 9:  # more names would hide what they name
        columns = 2 if max(map(len, names)) > 16 else 3
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0.2)
    return figure


def bars(picture: Bars) -> Figure:
    """A bar for each label, the first on top."""
    labels, values = picture.labels[:40], picture.values[:40]
    figure, axes = _plane(_height_of(len(labels)))
    positions = range(len(labels))
    drawn = axes.barh(positions, values, color=COLOURS[0], height=0.7)
    axes.bar_label(drawn, [text.strip() for text in column_of(values)], padding=3, fontsize=8)
    axes.set_yticks(positions, list(map(_label, labels)))
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(picture.header[1])
    return figure


def curve(picture: Curve) -> Figure:
    """Lines, each with its band where it has one."""
    figure, axes = _plane()
    mark = "o" if len(picture.points) <= 25 else ""
    bands = dict(picture.bands)
    for (name, line), colour in zip(picture.series, cycle(COLOURS), strict=False):
        known = [(x, y) for x, y in zip(picture.points, line, strict=True) if y is not None and math.isfinite(y)]
        axes.plot(*_coordinates(known), color=colour, marker=mark, markersize=3.5, label=_label(name))
        if name in bands:
            low, high = zip(*((math.nan, math.nan) if ends is None else ends for ends in bands[name]), strict=True)
            axes.fill_between(picture.points, low, high, color=colour, alpha=0.18, linewidth=0)
    alone = _label(picture.series[0][0]) if len(picture.series) == 1 else ""
    return _finished(figure, axes, picture.over, alone)


def histogram(picture: Histogram) -> Figure:
    """The outlines of counts, one over the other."""
    figure, axes = _plane()
    for (name, counts), colour in zip(picture.counts, cycle(COLOURS), strict=False):
        axes.stairs(counts, picture.edges, fill=True, color=colour, alpha=0.3)
        axes.stairs(counts, picture.edges, color=colour, label=_label(name))
    return _finished(figure, axes, picture.measure, "rows")


def boxplots(picture: Boxplots) -> Figure:
    """Boxes below each other."""
    figure, axes = _plane(_height_of(len(picture.boxes)))
    ends = ("whislo", "q1", "med", "q3", "whishi")
    described = [{"label": _label(name), **dict(zip(ends, box, strict=True))} for name, box in picture.boxes]
    lines = {"color": INK, "linewidth": 1.0}
    box, middle = {"facecolor": COLOURS[0], "alpha": 0.45, "edgecolor": INK}, {"color": COLOURS[1], "linewidth": 2}
    style: Any = {"boxprops": box, "medianprops": middle, "whiskerprops": lines, "capprops": lines, "widths": 0.6}
    axes.bxp(described, orientation="horizontal", showfliers=False, patch_artist=True, **style)
    axes.invert_yaxis()
    axes.set_xlabel(picture.measure)
    return figure


def points(picture: Points) -> Figure:
    """Points, and lines where they lie along one; straight lines are what others are compared with."""
    figure, axes = _plane(0.9 * WIDTH)
    for (name, group), colour in zip(picture.groups, cycle(COLOURS), strict=False):
        x, y = _coordinates(group)
        if name in picture.lines:
            width, height = x[-1] - x[0], y[-1] - y[0]
            is_straight = all(abs((px - x[0]) * height - (py - y[0]) * width) < 1e-9 for px, py in group)
            if is_straight:
                axes.plot(x, y, "--", color=FAINT, linewidth=1, label=_label(name), zorder=3)
            else:
                axes.plot(x, y, color=colour, label=_label(name))
        else:
            axes.scatter(x, y, s=14, color=colour, alpha=0.75, linewidths=0, label=_label(name))
    return _finished(figure, axes, picture.across, picture.upwards)


def cloud(picture: Cloud) -> Figure:
    """Points in space, seen from above one corner."""
    figure = Figure(figsize=(WIDTH, 0.9 * WIDTH))
    axes: Any = figure.add_axes((0.0, 0.06, 0.88, 0.84), projection="3d")
    for (name, group), colour in zip(picture.groups, cycle(COLOURS), strict=False):
        x, y, z = ([point[side] for point in group] for side in range(3))
        axes.scatter(x, y, z, s=10, color=colour, alpha=0.75, linewidths=0, label=_label(name), depthshade=False)
    across, upwards, deep = map(_label, picture.axes)
    axes.set_zlabel(deep)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0, 0, 0, 0))
    return _finished(figure, axes, across, upwards)


def regions(picture: Regions) -> Figure:
    """Classes in the colours of their points, numbers the stronger the larger."""
    figure, axes = _plane(0.9 * WIDTH)
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
        axes.scatter(x, y, s=12, color=colours.get(name, INK), alpha=0.85, linewidths=0, label=_label(name))
    return _finished(figure, axes, picture.across, picture.upwards)


def shaded(picture: Grid) -> Figure:
    """The columns of a table that are shaded, as a heat map."""
    indices = [index for index, cell in enumerate(picture.rows[0]) if cell.shade is not None]
    shades = [[row[index].shade or 0.0 for index in indices] for row in picture.rows]
    labels = [_label(picture.header[index]) for index in indices]
    figure, axes = _heat_map(shades, [_label(row[0].text) for row in picture.rows], labels)
    for line, row in enumerate(picture.rows):
        for column, index in enumerate(indices):
            ink = "white" if shades[line][column] > 0.6 else INK
            text = " ".join(row[index].text.split())
            axes.text(column + 0.5, line + 0.5, text, ha="center", va="center", fontsize=7, color=ink)
    return figure


def confusions(picture: Confusions) -> Figure:
    """A heat map of the shares of each row."""
    shades = [[count / (sum(row) or 1.0) for count in row] for row in picture.counts]
    labels = list(map(_label, picture.labels))
    figure, axes = _heat_map(shades, labels, labels)
    figure.set_figwidth(1.6 + LINE * len(shades))
    axes.tick_params(labelsize=7)
    axes.tick_params("x", rotation=90)
    return figure


def _heat_map(
    shades: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]
) -> tuple[Figure, Axes]:
    """Shares from 0 to 1, the first row on top."""
    figure, axes = _plane(1.2 + LINE * max(len(rows), 6))
    axes.pcolormesh(shades, cmap="Blues", vmin=0, vmax=1)
    axes.set_xticks([index + 0.5 for index in range(len(columns))], columns)
    axes.set_yticks([index + 0.5 for index in range(len(rows))], rows)
    axes.invert_yaxis()
    return _finished(figure, axes, "predicted", "true"), axes


def dendrogram(picture: Dendrogram) -> Figure:
    """Leaves at the left, every merge as far right as it is high; at most 60 leaves are named."""
    leaves, most = len(picture.leaves), 60
    figure, axes = _plane(_height_of(min(leaves, most)))
    y, end = [float(leaf) for leaf in range(leaves)], [0.0] * leaves
    for (first, second), height in zip(picture.merges, picture.heights, strict=True):
        x = (end[first], height, height, end[second])
        axes.plot(x, (y[first], y[first], y[second], y[second]), color=COLOURS[0], linewidth=1.2)
        y.append((y[first] + y[second]) / 2)
        end.append(height)
    named = picture.leaves if leaves <= most else ()
    axes.set_yticks(range(len(named)), list(map(_label, named)))
    axes.invert_yaxis()
    axes.set_xlabel("height")
    return figure


def critical_difference(picture: CriticalDifference) -> Figure:
    """Demšar's diagram: models on the line of their mean ranks, those that do not differ joined."""
    count = len(picture.names)
    figure, axes = _plane(0.7 + 0.3 * (count + len(picture.groups)))
    names = [f"{_label(name)} {rank}" for name, rank in zip(picture.names, lined_up(picture.ranks), strict=True)]
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
    """The root at the left, a line for each leaf; the condition of a node is written on its branch."""
    picture = _cut_tree(picture)
    leaves, depths = picture.leaves(), picture.depths
    parents: list[int | None] = []
    path: list[int] = []
    for node, depth in enumerate(depths):
        parents.append(path[depth - 1] if depth else None)
        path[depth:] = [node]
    heights = _heights_of_nodes(parents, leaves)
    figure, axes = _plane(max(1.0, 0.36 * sum(leaves) + 0.3))
    figure.set_figwidth(max(WIDTH, 1.35 * (max(depths) + 1.4)))
    # A colour for each prediction, where these are few; the same where the tree went on.
    bare = [answer.removesuffix(" …") for answer in picture.answers]
    distinct = list(dict.fromkeys(bare))
    palette = COLOURS if len(distinct) <= len(COLOURS) else cycle(COLOURS[:1])
    colours = dict(zip(distinct, palette, strict=False))
    for node, parent in enumerate(parents):
        x, y = depths[node], heights[node]
        if parent is not None:
            x_above, y_above = depths[parent], heights[parent]
            axes.plot((x_above, x_above + 0.12, x), (y_above, y, y), color=FAINT, linewidth=1, zorder=0)
            axes.annotate(_label(picture.conditions[node], 44), (x - 0.05, y - 0.1), ha="right", fontsize=7)
        if leaves[node]:
            share = f" {picture.shares[node]:.0%}" if picture.shares[node] < 1 else ""
            answer = f"{_label(picture.answers[node])}{share} ({short(picture.rows[node])})"
            axes.annotate(answer, (x + 0.08, y), va="center", fontsize=8)
        axes.plot(x, y, "o", color=colours[bare[node]], markersize=6)
    axes.set_xlim(-0.2, max(depths) + 1.1)
    axes.set_ylim(sum(leaves) - 0.4, -0.7)
    axes.set_axis_off()
    return figure


def _cut_tree(picture: Tree) -> Tree:
    """A tree down to the depth at which at most 24 branches end; where it went on its answer ends with dots."""
    steps = list(pairwise([*picture.depths, 0]))

    def ends_at(most: int) -> int:
        return sum(depth == most or below <= depth < most for depth, below in steps)

    deepest = max((most for most in range(1, max(picture.depths) + 1) if ends_at(most) <= 24), default=1)
    kept = [node for node, depth in enumerate(picture.depths) if depth <= deepest]
    return Tree(
        picture.title,
        tuple(picture.depths[node] for node in kept),
        tuple(picture.conditions[node] for node in kept),
        tuple(picture.answers[node] + " …" * (steps[node][1] > deepest) for node in kept),
        tuple(picture.shares[node] for node in kept),
        tuple(picture.rows[node] for node in kept),
    )


def _heights_of_nodes(parents: Sequence[int | None], leaves: Sequence[bool]) -> list[float]:
    """Leaves one below the other, every other node in the middle of its children."""
    children: dict[int, list[float]] = {}
    heights = [0.0] * len(parents)
    lowest = sum(leaves) - 1.0
    for node in reversed(range(len(parents))):
        if leaves[node]:
            heights[node], lowest = lowest, lowest - 1
        else:
            heights[node] = (children[node][0] + children[node][-1]) / 2
        if (parent := parents[node]) is not None:
            children.setdefault(parent, []).append(heights[node])
    return heights


def graph(picture: Graph) -> Figure:
    """Nodes below those that lead to them; where edges have no direction, in a circle."""
    if picture.directed:
        places = _layered_places(picture)
        layers = len({y for _, y in places})
    else:
        angles = [2 * math.pi * node / len(picture.nodes) for node in range(len(picture.nodes))]
        places, layers = [(math.sin(angle), math.cos(angle)) for angle in angles], 4
    figure, axes = _plane(max(1.6, 0.8 * layers))
    style = {"arrowstyle": "->" if picture.directed else "-", "color": FAINT, "shrinkA": 12, "shrinkB": 12}
    for index, other in picture.edges:
        axes.annotate("", places[other], places[index], arrowprops=style)
    for name, (x, y) in zip(picture.nodes, places, strict=True):
        axes.annotate(_label(name), (x, y), ha="center", va="center", fontsize=8, color=COLOURS[0])
        axes.plot(x, y, alpha=0)
    axes.margins(0.2)
    axes.set_axis_off()
    return figure


def _layered_places(picture: Graph) -> list[tuple[float, float]]:
    """Every node below all that lead to it; the nodes of a layer side by side."""
    layers = [0] * len(picture.nodes)
    for _ in picture.nodes:  # the longest way has no more edges than there are nodes, also where there is a circle
        for index, other in picture.edges:
            layers[other] = min(max(layers[other], layers[index] + 1), len(picture.nodes))
    sizes = Counter(layers)
    seen: Counter[int] = Counter()
    places = []
    for layer in layers:
        seen[layer] += 1
        # Every layer is moved a little, so that edges do not run through nodes.
        places.append((seen[layer] / (sizes[layer] + 1) + 0.09 * (layer % 3 - 1), -float(layer)))
    return places


FIGURES: dict[type[Any], Callable[[Any], Figure]] = {
    Bars: bars,
    Boxplots: boxplots,
    Cloud: cloud,
    Confusions: confusions,
    CriticalDifference: critical_difference,
    Curve: curve,
    Dendrogram: dendrogram,
    Graph: graph,
    Grid: shaded,
    Histogram: histogram,
    Points: points,
    Regions: regions,
    Tree: tree,
}
"""What draws each kind of picture, and a table that is shaded."""
