"""The last merges, as a table and as a dendrogram whose leaves are what had merged before."""

from __future__ import annotations

import numpy as np

from mlcli.core.findings import Dendrogram
from mlcli.core.tables import Codes
from mlcli.models.clusters._merging import Merges

LEAVES = 12
"""Leaves at most; each stands for the rows that merged before."""
LAST = 10
"""Merges that are listed."""


def last_merges(merges: Merges) -> tuple[tuple[float, ...], ...]:
    """How many groups each of the last merges leaves, its height, and the rows of its two parts."""
    rows = len(merges.heights) + 1
    sizes = np.concatenate([np.ones(rows, np.intp), merges.sizes])
    steps = range(rows - 2, max(-1, rows - 2 - LAST), -1)
    return tuple(
        (rows - 1 - step, float(merges.heights[step]), *(int(size) for size in sizes[merges.groups[step]]))
        for step in steps
    )


def dendrogram(title: str, merges: Merges, group: Codes, note: str) -> Dendrogram:
    """The last merges of some rows that are cut into groups."""
    rows = len(merges.heights) + 1
    first = max(rows, 2 * rows - 1 - (LEAVES - 1))
    leaves = _leaves(merges, first)
    numbers = {part: number for number, part in enumerate([*leaves, *range(first, 2 * rows - 1)])}
    joined = [tuple(numbers[int(part)] for part in parts) for parts in merges.groups[first - rows :]]
    return Dendrogram(
        title,
        tuple(_name(merges, leaf, group) for leaf in leaves),
        tuple((min(pair), max(pair)) for pair in joined),
        tuple(merges.heights[first - rows :].tolist()),
        note=note,
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


def _name(merges: Merges, leaf: int, group: Codes) -> str:
    """The group of a leaf, or groups where it holds several, and its rows."""
    members = merges.rows_below(leaf)
    held = np.unique(group[members]).tolist()
    which = f"group {held[0]}" if len(held) == 1 else f"{len(held)} groups"
    return f"{which}: row {leaf + 1}" if leaf < len(group) else f"{which}: {len(members)} rows"
