"""Graphs drawn with characters: a node has a line, and a lane beside it that comes by all nodes it leads to.

rain       ──○
sprinkler  ──┼─○
wet        ──●─●
"""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.report.page import columns_of

FROM, TO, CROSSED, ACROSS, DOWN = "○", "●", "┼", "─", "│"
LEADS, JOINS = f"{FROM} leads to each {TO} of its column", f"{FROM} is joined with each {TO} of its column"
LANE = 2
"""How many characters a lane takes."""


def lanes(nodes: Sequence[str], edges: Sequence[tuple[int, int]], *, directed: bool) -> tuple[str, ...]:
    """A line for each node, and one that says how to read them; edges lead down wherever nodes are in order."""
    reached = _reached(edges, directed=directed)
    place = _places(reached)
    names, across = max(map(columns_of, nodes), default=0), LANE * (1 + max(place.values(), default=-1))
    lines = [_line(node, reached, place, across) for node in range(len(nodes))]
    labels = (name + " " * (names - columns_of(name)) for name in nodes)
    drawn = (f"{label}  {line}".rstrip() for label, line in zip(labels, lines, strict=True))
    return (*drawn, "", LEADS if directed else JOINS)


def _reached(edges: Sequence[tuple[int, int]], *, directed: bool) -> dict[int, list[int]]:
    """The nodes that each leads to; what is only joined is drawn from the upper to the lower."""
    reached: dict[int, list[int]] = {}
    for one, other in sorted(edges if directed else (tuple(sorted(edge)) for edge in edges)):
        reached.setdefault(one, []).append(other)
    return reached


def _places(reached: dict[int, list[int]]) -> dict[int, int]:
    """The lane of each node that has one: the first that is free from its upper end to its lower."""
    taken: list[int] = []
    place: dict[int, int] = {}
    for node in sorted(reached, key=lambda one: min(one, *reached[one])):
        first, last = min(node, *reached[node]), max(node, *reached[node])
        free = next((lane for lane, end in enumerate(taken) if end < first), len(taken))
        taken[free : free + 1] = [last]
        place[node] = free
    return place


def _line(node: int, reached: dict[int, list[int]], place: dict[int, int], across: int) -> str:
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
