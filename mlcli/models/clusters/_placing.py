"""The two routes by which rows are placed while centres move: NumPy for small work, compiled loops for large.

Rows that cannot have come nearer to another centre are not looked at again (Hamerly 2010): a row's own centre has
come no further away than it has moved, the others no nearer than the farthest of them has moved, and a row that is
nearer to its centre than half of the way to the next one stays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.models.clusters._nearest import nearest

COMPILED_FROM = 5_000_000
"""From how many rows × columns × clusters × restarts on loading the compiled loops (0.3 s) begins to pay."""

Place = Callable[..., int]


def placing_for(work: int) -> Place:
    """The faster route for so much work; both find the same groups."""
    if work < COMPILED_FROM:
        return place
    from mlcli.kernels.clusters.nearest_centres import place as compiled

    return compiled


def place(
    X: Array, lengths: Array, weights: Array, centres: Array, moved: Array, half_way: Array,
    tie: float, slack: float,
    group: Codes, own: Array, further: Array, counts: Rows, totals: Array, sums: Array,
) -> int:  # fmt: skip
    """Place the rows again, keeping the last six arrays up to date; how many change group.

    ``moved`` is how far each centre has gone since, ``half_way`` half of its distance to the nearest other one.
    """
    own += moved[group]
    further -= moved.max()
    rows = np.flatnonzero(own + slack >= np.maximum(further, half_way[group]))
    found = nearest(X[rows], centres, lengths[rows], tie)
    different = found.group != group[rows]
    changing, before, now = rows[different], group[rows][different], found.group[different]
    group[rows], own[rows], further[rows] = found
    groups = np.arange(len(centres))[:, None]
    joined = (groups == now).astype(np.float64) - (groups == before)
    counts += joined.sum(axis=1).astype(np.intp)
    totals += joined @ weights[changing]
    sums += (joined * weights[changing]) @ X[changing]
    return len(changing)
