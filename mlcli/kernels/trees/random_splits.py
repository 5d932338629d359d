"""Compiled splits of a node by one column, drawn at random."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.trees.records import Binned, Bins, Bytes, Ids, Words, Workspace
from mlcli.kernels.trees.splits import ParentNode, best_cut, fill_scores
from mlcli.kernels.trees.sums import add_up
from mlcli.kernels.without_counting import compiled, inlined


@compiled
def random_below(state: Rows, end: int) -> int:
    """A whole number from 0 to ``end - 1``, all alike; ``state[0]`` must not be 0 (xorshift, Marsaglia 2003)."""
    x = state[0]
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    state[0] = x
    drawn: int = (x * end) >> 32
    return drawn


@compiled
def random_share(state: Rows) -> float:
    """A number in [0, 1)."""
    return random_below(state, int(np.int64(1 << 30))) / (1 << 30)


@inlined
def random_split(
    columns: Binned, feature: int, rows: Ids, parent: ParentNode, space: Workspace, room: Bins
) -> tuple[float, int, int, int, float]:
    """A threshold anywhere between the smallest and the largest value, or a level against the rest.

    For classes it is one of the levels, all alike, for values the one that gains most.
    After the split comes the number that was drawn; its bin is the last from ``low`` on that begins below it,
    before ``high``. Missing cells go to the better side, and a single known value is split from them. ``room`` is
    for the bins of rows.
    """
    known, codes, lowest = int(columns.known[feature]), room[: len(rows)], columns.lowest[feature]
    if not columns.ordered[feature] and parent.scale.bits == 0:
        add_up(columns, feature, rows, space, space.along)
        score, level, _ = best_cut(space.along, known + 1, False, parent, 0, space)
        return score, level, level, 0, np.inf
    first, last, missing = extreme_bins(columns.bins[feature], rows, known, codes)
    low, high, cut, goes = last, known, np.inf, space.goes[: len(codes)]
    if not columns.ordered[feature]:
        low, missing = random_level(codes, known + 1, space.state), False
        for i in range(len(codes)):
            goes[i] = codes[i] == low
    elif first > last or (first == last and not missing):
        return -np.inf, 0, 0, 0, np.nan
    else:
        if first < last:
            low, high = first, last
            cut = lowest[first] + random_share(space.state) * (columns.highest[feature, last] - lowest[first])
        for i in range(len(codes)):
            goes[i] = (lowest[codes[i]] <= cut) & (codes[i] < high)
    best, side = score_of_marked(space.parts, goes, parent, space), 0
    if missing and first < last:
        for i in range(len(codes)):
            goes[i] |= codes[i] == known
        score = score_of_marked(space.parts, goes, parent, space)
        if score > best + parent.tolerance:
            best, side = score, 1
    return best, low, high, side, cut


@inlined
def extreme_bins(column: Bins, rows: Ids, known: int, codes: Bins) -> tuple[int, int, bool]:
    """Fill ``codes`` with the bins of a node's rows; the first and the last of known values, and if some are not.

    Without known values the last comes before the first.
    """
    for i in range(len(codes)):
        codes[i] = column[rows[i]]
    first, last = codes[0], codes[0]
    for i in range(len(codes)):
        first = codes[i] if codes[i] < first else first
        last = codes[i] if codes[i] > last else last
    if last < known:
        return int(first), int(last), False
    highest = -1
    for i in range(len(codes)):
        highest = max(highest, int(codes[i]) if codes[i] < known else -1)
    return int(first), highest, True


@inlined
def bin_of(lowest: Array, cut: float, first: int, last: int) -> int:
    """The last bin before ``last`` that begins at or below the cut."""
    low, high = first, last - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if lowest[middle] <= cut:
            low = middle
        else:
            high = middle - 1
    return low


@inlined
def score_of_marked(parts: Words, goes: Bytes, parent: ParentNode, space: Workspace) -> float:
    """What both sides score where marked rows go left."""
    for w in range(len(space.along)):
        total, own = np.int64(0), parts[w]
        for i in range(len(goes)):
            total += own[i] * goes[i]
        space.along[w, 0] = total
    fill_scores(space.along, space.lost[0], 1, parent, 0, space.scores[0], space)
    return float(space.scores[0, 0])


@inlined
def random_level(codes: Bins, levels: int, state: Rows) -> int:
    """One of the levels of some rows, all alike."""
    while True:
        level = random_below(state, levels)
        for i in range(len(codes)):
            if codes[i] == level:
                return level
