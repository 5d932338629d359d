"""Compiled ordering: the places of rows by a column that has been sorted."""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.tree_layout import (
    RANK,
    Places,
)
from mlcli.kernels.without_counting import compiled


@compiled
def rank_rows(cells: Array, order: Rows, column: int, levels: int, places: Places, ends: Rows, ranks: Rows) -> int:
    """Fill the places of a column (a row of ``cells``) whose cells ascend in ``order``; the rank of missing ones.

    Equal cells stand in the order of rows. Where there are levels the rank is the code. Without missing cells: -1.
    """
    rank, missing = -1, -1
    for i in range(len(ends)):
        ends[i] = 0
    for i in range(len(ranks)):
        row = order[i]
        cell = cells[column, row]
        if levels:
            rank = int(cell)
        elif missing < 0 and (i == 0 or cell != cells[column, order[i - 1]]):
            rank += 1
            missing = rank if np.isnan(cell) else -1
        ranks[row] = rank
        ends[rank + 1] += 1
    for i in range(1, len(ends)):
        ends[i] += ends[i - 1]
    for row in range(len(ranks)):
        rank = ranks[row]
        places[0, column, ends[rank]] = (rank << RANK) | row
        ends[rank] += 1
    return missing
