"""Pairs of rows: every two rows of one group that differ in a value, the higher one first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Rows


@dataclass(frozen=True, eq=False)
class Pairs:
    """Row positions of the higher and the lower row of each pair, and what the pair counts."""

    higher: Rows
    lower: Rows
    weight: Array
    """The product of the weights of its rows: rows of weight 2 and 3 are as many as 6 pairs of plain rows."""

    def __len__(self) -> int:
        return len(self.higher)

    def counting(self) -> Pairs:
        """The pairs whose weight is not 0."""
        kept = self.weight > 0
        return self if kept.all() else Pairs(self.higher[kept], self.lower[kept], self.weight[kept])

    def gaps(self, score: Array) -> Array:
        """How far the higher row of each pair is above the lower one by some score."""
        return np.asarray(score[self.higher] - score[self.lower])

    def gathered(self, value: Array, rows: int) -> Array:
        """What a value of each pair adds up to in each row: counted for the higher one, against the lower one."""
        gained, lost = (np.bincount(end, weights=value, minlength=rows) for end in (self.higher, self.lower))
        return np.asarray(gained - lost)


def pairs_of(value: Array, group: Codes, weight: Array) -> Pairs:
    """Every pair, by sorting: a row is above all rows that stand before its equals in its group."""
    order = np.lexsort((value, group))
    group_start = _start_of_run(group[order])
    level_start = np.maximum(group_start, _start_of_run(value[order]))
    below = level_start - group_start
    higher = np.repeat(np.arange(len(order)), below)
    before = np.repeat(np.cumsum(below) - below, below)
    lower = np.arange(len(higher)) - before + group_start[higher]
    higher, lower = order[higher], order[lower]
    return Pairs(higher, lower, weight[higher] * weight[lower])


def _start_of_run(values: Array | Codes) -> Rows:
    """For each entry, where the run of equal values that it belongs to begins."""
    begins = np.append(True, values[1:] != values[:-1])[: len(values)]
    start: Rows = np.maximum.accumulate(np.where(begins, np.arange(len(values)), 0))
    return start
