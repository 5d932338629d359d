"""Pairs of rows: every two rows of one group that differ in a value, the higher one first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Rows


@dataclass(frozen=True, eq=False)
class PreferencePairs:
    """Row positions of the higher and the lower row of each pair, and what the pair counts."""

    higher: Rows
    lower: Rows
    weight: Array
    """The product of the weights of its rows: rows of weight 2 and 3 are as many as 6 pairs of plain rows."""

    def __len__(self) -> int:
        return len(self.higher)

    def gaps(self, score: Array) -> Array:
        """How far the higher row of each pair is above the lower one by some score."""
        return np.asarray(score[self.higher] - score[self.lower])

    def gathered(self, value: Array, rows: int) -> Array:
        """What a value of each pair adds up to in each row: counted for the higher one, against the lower one."""
        gained, lost = (np.bincount(end, weights=value, minlength=rows) for end in (self.higher, self.lower))
        return np.asarray(gained - lost)


@dataclass(frozen=True, eq=False)
class Near:
    """For each row, the rows of its group that lie near it by a score: those of ``order`` from first to last."""

    order: Rows
    first: Rows
    count: Rows

    @property
    def size(self) -> int:
        """How many there are, of all rows together."""
        return int(self.count.sum())


def near_rows(group: Codes, score: Array, least: float, most: float) -> Near:
    """The rows whose score is lower by something between ``least`` and ``most``."""
    first = _asked_at(group, -score, least - score, before_equals=True)
    last = _asked_at(group, -score, most - score, before_equals=False)
    return Near(np.lexsort((-score, group)), first, np.maximum(last - first, 0))


def pairs_near(value: Array, weight: Array, near: Near) -> PreferencePairs:
    """The pairs of each row with those near it that have a lower value, but those of weight 0."""
    higher = np.repeat(np.arange(len(value)), near.count)
    along = np.arange(len(higher)) - np.repeat(np.cumsum(near.count) - near.count, near.count)
    lower = near.order[along + near.first[higher]]
    together = weight[higher] * weight[lower]
    kept = (value[higher] > value[lower]) & (together > 0)
    return PreferencePairs(higher[kept], lower[kept], together[kept])


def _asked_at(group: Codes, stands: Array, asks: Array, *, before_equals: bool) -> Rows:
    """How many rows, by group and place, stand before where each row asks."""
    count = len(group)
    turn = np.repeat([1, 0] if before_equals else [0, 1], count)
    order = np.lexsort((turn, np.concatenate([stands, asks]), np.tile(group, 2)))
    asking = order >= count
    found = np.empty(count, np.intp)
    found[order[asking] - count] = np.cumsum(~asking)[asking]
    return found
