"""Figures of what branches or is joined: merges, trees, graphs, and models that cannot be told apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle, pairwise
from typing import Any

from matplotlib.figure import Figure

from mlcli.core.findings import CriticalDifference, Dendrogram, Graph, Tree
from mlcli.report.numbers import lined_up, short
from mlcli.report.pictures.figures import COLOURS, FAINT, INK, WIDTH, axes_of, cut, height_of

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
    for place, (name, rank) in enumerate(zip(names, picture.ranks, strict=True)):
        axes.plot((rank, rank), (0, place + 1), color=FAINT, linewidth=0.8)
        axes.plot(rank, 0, "o", color=COLOURS[0], markersize=5)
        is_left = rank < (1 + count) / 2
        beside: Any = {"xytext": (4 if is_left else -4, 0), "textcoords": "offset points", "fontsize": 8}
        axes.annotate(name, (rank, place + 1), ha="left" if is_left else "right", va="center", **beside)
    for place, group in enumerate(picture.groups):
        ends = picture.ranks[min(group)] - 0.03, picture.ranks[max(group)] + 0.03
        axes.plot(ends, [-0.55 - 0.4 * place] * 2, color=COLOURS[1], linewidth=3)
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
    for one, other in picture.edges:
        axes.annotate("", places[other], places[one], arrowprops=style)
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
        for one, other in picture.edges:
            layer[other] = min(max(layer[other], layer[one] + 1), len(picture.nodes))
    sizes = Counter(layer)
    seen: Counter[int] = Counter()
    places = []
    for at in layer:
        seen[at] += 1
        places.append((seen[at] / (sizes[at] + 1) + ASIDE * (at % 3 - 1), -float(at)))
    return places
