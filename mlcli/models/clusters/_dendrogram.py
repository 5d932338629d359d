"""The last merges as a picture of text: leaves at the left, every merge as far right as it is high."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Codes
from mlcli.models.clusters._merging import Merges

LEAVES = 12
"""Leaves that are drawn at most; each stands for the rows that merged before."""
WIDTH = 48
LAST = 10
"""Merges that are listed."""
ACROSS, DOWN, JOINED, ROOT = "─", "│", "├", "┤"
CORNERS = {True: "┐", False: "┘"}


def last_merges(merges: Merges) -> tuple[tuple[float, ...], ...]:
    """How many groups each of the last merges leaves, its height, and the rows of its two parts."""
    rows = len(merges.heights) + 1
    sizes = np.concatenate([np.ones(rows, np.intp), merges.sizes])
    steps = range(rows - 2, max(-1, rows - 2 - LAST), -1)
    return tuple(
        (rows - 1 - step, float(merges.heights[step]), *(int(size) for size in sizes[merges.groups[step]]))
        for step in steps
    )


def dendrogram(merges: Merges, group: Codes) -> tuple[str, ...]:
    """The lines of the picture."""
    rows = len(merges.heights) + 1
    first = max(rows, 2 * rows - 1 - (LEAVES - 1))
    leaves = _leaves(merges, first)
    names = _names(merges, leaves, group)
    canvas = [[" "] * (WIDTH + len(leaves)) for _ in range(2 * len(leaves) - 1)]
    highest = float(merges.heights.max())
    unit = WIDTH / highest if highest > 0 else 0.0
    column = dict.fromkeys(leaves, 0)
    line = {leaf: 2 * place for place, leaf in enumerate(leaves)}
    for made in range(first, 2 * rows - 1):
        parts = sorted((int(part) for part in merges.groups[made - rows]), key=lambda part: line[part])
        column[made] = _free(round(merges.heights[made - rows] * unit), {column[part] for part in parts})
        for part in parts:
            _draw_across(canvas[line[part]], *sorted((column[part], column[made])))
        line[made] = _draw_down(canvas, column[made], line[parts[0]], line[parts[1]])
    canvas[line[2 * rows - 2]][column[2 * rows - 2]] = ROOT
    width = max(map(len, names))
    labels = [names[number // 2] if number % 2 == 0 else "" for number in range(len(canvas))]
    return tuple(
        f"{label:<{width}} {''.join(cells)}".rstrip() for label, cells in zip(labels, canvas, strict=True)
    )


def _leaves(merges: Merges, first: int) -> list[int]:
    """What the merges from the one that makes ``first`` on join, from top to bottom; the larger part is above."""
    rows = len(merges.heights) + 1
    sizes = np.concatenate([np.ones(rows, np.intp), merges.sizes])
    found, waiting = [], [2 * rows - 2]
    while waiting:
        node = waiting.pop()
        if node < first:
            found.append(node)
        else:
            waiting += sorted(map(int, merges.groups[node - rows]), key=lambda part: (int(sizes[part]), -part))
    return found


def _names(merges: Merges, leaves: list[int], group: Codes) -> list[str]:
    """The group of each leaf, or groups where it holds several, and its rows."""
    rows = len(group)
    members = {leaf: merges.rows_below(leaf) for leaf in leaves}
    names = []
    for leaf in leaves:
        held = np.unique(group[members[leaf]]).tolist()
        which = f"group {held[0]}" if len(held) == 1 else f"{len(held)} groups"
        size = len(members[leaf])
        names.append(f"{which}: row {leaf + 1}" if leaf < rows else f"{which}: {size} rows")
    return names


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
