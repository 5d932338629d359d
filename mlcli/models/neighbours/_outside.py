"""Search for the neighbours of all rows of a round at once: of each row, those outside its part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from mlcli.core.held_out import Round
from mlcli.core.tables import Array, Rows
from mlcli.models.neighbours._compiled import Question, Ruler, nearest, pays
from mlcli.models.neighbours._search import Pairs, gathered, in_order, measured, near, pairs_of, rows_at_once
from mlcli.models.neighbours._spaces import Space


@dataclass(frozen=True, eq=False)
class Order:
    """Rows part by part, so that what a row must not see is one stretch of the stored rows."""

    asked: Rows
    stored: Rows
    begin: Rows
    """For each part where its stored rows begin."""
    end: Rows

    @classmethod
    def of(cls, round_: Round, weights: Array) -> Order:
        """The order of a round; rows of weight 0 are asked, but not stored."""
        by_part = np.argsort(round_.part, kind="stable").astype(np.intp)
        stored = by_part[weights[by_part] > 0]
        parts, part_of = np.arange(round_.parts), round_.part[stored]
        begin, end = (np.searchsorted(part_of, parts, side) for side in ("left", "right"))
        return cls(by_part[round_.part[by_part] >= 0], stored, begin, end)

    @property
    def fewest(self) -> int:
        """How many stored rows are outside the largest part."""
        return int(len(self.stored) - (self.end - self.begin).max())


def candidates_outside(space: Space, order: Order, count: int) -> Iterator[Pairs]:
    """For rows, by their place in the order: all stored rows outside their part as near as the ``count`` nearest.

    There may be a few more pairs.
    """
    if space.distance.compiled and pays(len(order.asked) * len(order.stored)):
        yield from pairs_of(nearest(_question(space, order, count), _ruler(space, order), order.stored))
        return
    for here, there in gathered(_near_places(space, order, count)):
        asked, stored = order.asked[here], order.stored[there]
        outside = space.part[asked] != space.part[stored]
        here, asked, stored = here[outside], asked[outside], stored[outside]
        yield in_order(here, stored, measured(space.between, asked, stored, len(space.scales.columns)))


def _question(space: Space, order: Order, count: int) -> Question:
    lines, part = np.ascontiguousarray(space.points.numbers.T), space.part[order.asked]
    beside = space.beside[part] + space.rounding[order.asked]
    asked, stored = lines[order.asked], lines[order.stored]
    return Question(asked, stored, count, order.begin[part], order.end[part], space.stretch[part], beside)


def _ruler(space: Space, order: Order) -> Ruler:
    scales, part = space.scales, space.part[order.asked].astype(np.intp)
    lines, none = np.ascontiguousarray(scales.columns.T), np.empty((0, 0))
    filled = scales.gaps.any()
    gaps = np.ascontiguousarray(scales.gaps.T) if filled else none
    asked_gaps = gaps[order.asked] if filled else none
    fill, beside = scales.fill if filled else none, 4 * space.rounding[order.asked]
    return Ruler(lines[order.asked], lines, asked_gaps, gaps, scales.unit, fill, part, beside)


def _near_places(space: Space, order: Order, count: int) -> Iterator[tuple[Rows, Rows]]:
    screen = space.distance.screen(space.points.take(order.stored))
    size = rows_at_once(len(order.stored))
    room = screen.room(size)
    for start in range(0, len(order.asked), size):
        rows = order.asked[start : start + size]
        part = space.part[rows]
        values, lengths = screen.into(room, space.points.take(rows))
        _blank(values, order.begin[part], order.end[part])
        beside = space.beside[part] + space.rounding[rows]
        limit_of = partial(screen.limit, lengths=lengths, stretch=space.stretch[part], beside=beside)
        here, there = near(values, count, limit_of)
        yield here + start, there


def _blank(values: Array, begin: Rows, end: Rows) -> None:
    """Put what each row must not see out of reach."""
    changes = np.flatnonzero(begin[1:] != begin[:-1]) + 1
    for first, last in zip([0, *changes.tolist()], [*changes.tolist(), len(begin)], strict=True):
        values[first:last, begin[first] : end[first]] = np.inf
