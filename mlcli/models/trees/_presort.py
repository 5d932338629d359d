"""Training rows sorted once by every feature; growing only ever filters these orders."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Flags, Rows

Ranks = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Presorted:
    """Per feature the rows in ascending order, and each row's rank among the distinct values.

    The rank of a nominal cell is its code. Missing cells come last; in an ordered feature they share one rank,
    ``missing_rank`` (-1 where none is missing).
    """

    order: Rows
    """F × n."""
    ranks: Ranks
    """F × n."""
    missing_rank: Ranks
    values: tuple[Array, ...]
    """The distinct known values of each ordered feature, by rank; empty for a nominal one."""
    ordered: Flags
    levels: Rows
    """The number of levels of each nominal feature, with the missing one; 0 for ordered features."""


def presort(cells: Array, ordered: Flags, levels: Rows) -> Presorted:
    """Sort a matrix of cells (n × F)."""
    n, width = cells.shape
    order, ranks = np.empty((width, n), np.intp), np.empty((width, n), np.int32)
    missing_rank, values = np.full(width, -1, np.int32), []
    for j in range(width):
        column = np.ascontiguousarray(cells[:, j])
        order[j] = np.argsort(column, kind="stable")
        if ordered[j]:
            ranks[j], missing_rank[j], distinct = _ranked(column, order[j])
        else:
            ranks[j], distinct = column, np.empty(0)
        values.append(distinct)
    return Presorted(order, ranks, missing_rank, tuple(values), ordered, levels)


def _ranked(column: Array, order: Rows) -> tuple[Ranks, int, Array]:
    """The rank of each row, the rank that missing cells share (or -1), and the distinct known values."""
    climbing = column[order]
    known = len(climbing) - int(np.isnan(climbing).sum())
    new = np.r_[True, climbing[1:] != climbing[:-1]][: len(climbing)]
    new[known + 1 :] = False
    ranks = np.empty(len(column), np.int32)
    ranks[order] = np.cumsum(new) - 1
    distinct = climbing[:known][new[:known]]
    return ranks, len(distinct) if known < len(climbing) else -1, distinct


def threshold_between(low: float, high: float) -> float:
    """Midway, yet never as much as the higher value, which must stay on the right."""
    middle = low / 2 + high / 2
    return low if middle >= high else middle
