"""Neighbours of all rows of a round from one search, remembered for cells that only count them differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from mlcli.core.held_out import Remembered, Round
from mlcli.core.step import Step
from mlcli.core.tables import Array
from mlcli.models.neighbours._distances import DISTANCES
from mlcli.models.neighbours._outside import Order, candidates_outside
from mlcli.models.neighbours._scales import scales_outside
from mlcli.models.neighbours._search import Pairs
from mlcli.models.neighbours._spaces import ROUNDING, Space
from mlcli.models.neighbours._votes import seats_needed
from mlcli.tasks.supervised import SupervisedRows

SHARED = 8
"""At least so many neighbours are looked for, so that the next cell may find them, too."""
KEPT_PAIRS = 2_000_000
"""How many pairs are remembered for the same rows."""
BY_SCALES = ("euclidean", "manhattan")
"""The distances whose neighbours are known nearly before scales are."""


@dataclass(eq=False)
class Searched:
    """The rows of a round as each part sees them, and the pairs that may be neighbours, once they are found."""

    space: Space
    order: Order
    count: int = 0
    _kept: tuple[Pairs, ...] = field(default=())

    def pairs(self, count: int) -> Iterator[Pairs]:
        """For rows in order: all rows outside their part as near as the ``count`` nearest, and perhaps more."""
        if count <= self.count:
            yield from self._kept
            return
        found: list[Pairs] = []
        for pairs in candidates_outside(self.space, self.order, count):
            yield pairs
            if sum(len(one.asked) for one in found) <= KEPT_PAIRS:
                found.append(pairs)
        if sum(len(one.asked) for one in found) <= KEPT_PAIRS:
            self.count, self._kept = count, tuple(found)

    def rounding(self, pairs: Pairs) -> Array:
        """How wrong each distance may be; equal rows are at distance 0, however they are scaled."""
        sizes = self.space.rounding[self.order.asked[pairs.asked]] + ROUNDING * pairs.distance
        return np.where(pairs.distance == 0, 0.0, sizes) if not self.space.scales.gaps.any() else sizes


_SEARCHES: Remembered[Searched | None] = Remembered()


def searched(data: SupervisedRows, round_: Round, steps: Sequence[Step], distance: str) -> Searched | None:
    """The search that a round needs; None where only a fit to each part can tell.

    It is remembered with the rows, until another round, or other steps, are asked for.
    """
    wanted = (round_.part.tobytes(), round_.parts, distance, repr(steps))
    return _SEARCHES.of(data, wanted, lambda: _prepared(data, round_, steps, distance))


def _prepared(data: SupervisedRows, round_: Round, steps: Sequence[Step], distance: str) -> Searched | None:
    if distance not in BY_SCALES or (round_.sizes == 0).any():
        return None
    scales = scales_outside(data.table, steps, data.weights, round_)
    if scales is None:
        return None
    return Searched(Space(DISTANCES[distance], scales, round_.part), Order.of(round_, data.weights))


def rows_to_find(searched: Searched, weights: Array, k: int) -> int | None:
    """How many rows always hold k seats; None where some part has fewer outside."""
    counted = weights[weights > 0]
    fewest = searched.order.fewest
    needed = seats_needed(counted, k)
    return None if needed > fewest else max(needed, min(seats_needed(counted, SHARED), fewest))
