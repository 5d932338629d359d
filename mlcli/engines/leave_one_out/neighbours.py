"""Leave-one-out of nearest neighbours: the distances of each row to all others, in units learned without it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.abilities import LeaveOneOutTable
from mlcli.core.tables import Array, Flags
from mlcli.engines.neighbours.distances import SAME
from mlcli.engines.neighbours.search import Pairs, sorted_pairs

CELLS = 2**17
"""How many distances are measured at once."""
ROUNDING = 8 * float(np.finfo(np.float64).eps)
MEASURED = ("euclidean", "manhattan")


def pairs_without_each_row(seen: LeaveOneOutTable, distance: str, k: int) -> Iterator[tuple[Pairs, Flags]]:
    """For blocks of rows in order: the others at least as near as the k-th nearest, and the rows to be fitted.

    A row is fitted where rounding decides whether another row is as near as the k-th.
    """
    columns, n = np.ascontiguousarray(seen.table.numbers.T), len(seen.table)
    units, size = seen.units(), max(1, CELLS // n)
    lost = np.asarray(np.isnan(units).any(axis=1))
    units[lost] = 1.0
    sizes = np.where(seen.standardised, np.abs(seen.table.numbers).max(axis=0, initial=0.0) / units, 0.0)
    rounding = ROUNDING * sizes.sum(axis=1)
    for start in range(0, n, size):
        rows = np.arange(start, min(start + size, n))
        away = np.zeros((len(rows), n))
        for column, unit in zip(columns, units[rows].T, strict=True):
            steps = column - column[rows, None]
            steps /= unit[:, None]
            away += np.multiply(steps, steps, out=steps) if distance == "euclidean" else np.abs(steps, out=steps)
        if distance == "euclidean":
            np.sqrt(away, out=away)
        away[np.arange(len(rows)), rows] = np.inf
        kth = np.partition(away, k - 1, axis=1)[:, k - 1]
        wrong = rounding[rows] + ROUNDING * kth * seen.standardised.any()
        query, stored = np.nonzero(away <= (kth * (1 + 2 * SAME) + 2 * wrong)[:, None])
        pairs = sorted_pairs(rows[query], stored, away[query, stored])
        yield (
            pairs,
            lost[rows] | _doubtful_ties(pairs, np.repeat(kth, pairs.counts), np.repeat(wrong, pairs.counts)),
        )


def _doubtful_ties(pairs: Pairs, kth: Array, wrong: Array) -> Flags:
    """The rows of which some pair may or may not be as far as the k-th."""
    apart = np.abs(pairs.distance - kth)
    wrong = np.where(pairs.distance == kth, np.where(kth == 0, 0.0, wrong), wrong)
    close = apart <= SAME * kth + wrong
    doubtful = close & (apart + wrong > SAME * kth)
    several = np.add.reduceat(close.astype(np.intp), pairs.begins) > 1
    return np.asarray(several & np.logical_or.reduceat(doubtful, pairs.begins))
