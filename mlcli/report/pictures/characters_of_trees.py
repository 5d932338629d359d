"""Trees, merges, graphs and mean ranks drawn with characters."""

from __future__ import annotations

from mlcli.core.findings import CriticalDifference, Dendrogram, Graph, Tree
from mlcli.report.document import Preformatted
from mlcli.report.numbers import lined_up, short
from mlcli.report.page import GAP, columns_of, padded
from mlcli.report.pictures.characters_of_planes import ACROSS, DOWN, MARKS, picture_width, place_of

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
    column, line = [0] * leaves, [2 * place for place in range(leaves)]
    for pair, height in zip(picture.merges, picture.heights, strict=True):
        top, bottom = sorted(pair, key=line.__getitem__)
        taken = {column[top], column[bottom]}
        made = round(height * unit)
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
        INDENT_OF_BARS + " ".join(DOWN if min(group) <= place <= max(group) else " " for group in picture.groups)
        for place in range(len(ranks))
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
    place = _lane_of_node(reached)
    names, across = max(map(columns_of, nodes), default=0), LANE * (1 + max(place.values(), default=-1))
    lines = [_lanes_at(node, reached, place, across) for node in range(len(nodes))]
    labels = (name + " " * (names - columns_of(name)) for name in nodes)
    drawn = (f"{label}  {line}".rstrip() for label, line in zip(labels, lines, strict=True))
    return Preformatted((*drawn, "", LEADS if picture.directed else JOINS))


def _reached_nodes(picture: Graph) -> dict[int, list[int]]:
    """The nodes that each leads to; what is only joined is drawn from the upper to the lower."""
    reached: dict[int, list[int]] = {}
    edges = picture.edges if picture.directed else [(min(edge), max(edge)) for edge in picture.edges]
    for one, other in sorted(edges):
        reached.setdefault(one, []).append(other)
    return reached


def _lane_of_node(reached: dict[int, list[int]]) -> dict[int, int]:
    """The lane of each node that has one: the first that is free from its upper end to its lower."""
    taken: list[int] = []
    place: dict[int, int] = {}
    for node in sorted(reached, key=lambda one: min(one, *reached[one])):
        first, last = min(node, *reached[node]), max(node, *reached[node])
        free = next((lane for lane, end in enumerate(taken) if end < first), len(taken))
        taken[free : free + 1] = [last]
        place[node] = free
    return place


def _lanes_at(node: int, reached: dict[int, list[int]], place: dict[int, int], across: int) -> str:
    """The lanes beside a node: those that it is on, those that come by, and the way to the last that it is on."""
    cells = [" "] * across
    on = [place[one] for one in reached if node == one or node in reached[one]]
    cells[: LANE * (max(on, default=-1) + 1)] = ACROSS * (LANE * (max(on, default=-1) + 1))
    for one, others in reached.items():
        at = LANE * place[one] + LANE - 1
        if node == one or node in others:
            cells[at] = FROM if node == one else TO
        elif min(one, *others) < node < max(one, *others):
            cells[at] = CROSSED if cells[at] == ACROSS else DOWN
    return "".join(cells)
