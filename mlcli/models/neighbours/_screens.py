"""Screens: a look at all pairs of points that ranks them nearly right and says how wrong it may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mlcli.core.blocks import row_blocks
from mlcli.core.tables import Array
from mlcli.models.neighbours._points import Points

Values = np.ndarray[Any, Any]


class Screen(Protocol):
    """Values (b × n) that grow with the distance, and the length of each asked point.

    The value of a pair of points of lengths a and b is wrong by at most ``rounding`` × (a + b)² / 2.
    """

    @property
    def rounding(self) -> float:
        """How wrong values may be; 0 when they are the distances themselves."""

    def room(self, rows: int) -> Values:
        """Room for the values of so many asked points: fresh pages cost as much as what is put there."""

    def into(self, room: Values, asked: Points) -> tuple[Values, Array]:
        """The values, in ``room`` for at least as many, and the lengths of the asked points."""

    def limit(
        self, bound: Array, lengths: Array, stretch: Array | float = 1.0, beside: Array | float = 0.0
    ) -> Array:
        """What no pair exceeds that is as near as one of value ``bound``.

        A pair at distance d counts as near up to (d + ``beside``) ``stretch`` + ``beside``.
        """


SAME = 1e-12
"""Distances closer than this, relatively, are the same: what differs is rounding."""
PIECE = 2**17
"""How many cells are prepared at once."""
TILE = 12_000
"""Pairs measured at once: what an allocator hands out again without asking the system for fresh pages."""


@dataclass(frozen=True)
class ExactScreen:
    """The distances themselves, tile by tile."""

    between: Callable[[Points, Points], Array]
    stored: Points
    rounding: float = 0.0

    def room(self, rows: int) -> Values:
        """In double precision."""
        return np.empty((rows, len(self.stored)))

    def into(self, room: Values, asked: Points) -> tuple[Values, Array]:
        """Every distance; lengths do not matter where nothing is rounded."""
        values = room[: len(asked)]
        wide = min(len(self.stored), TILE)
        high = TILE // wide
        for top in range(0, len(asked), high):
            rows, down = slice(top, top + high), asked.take(slice(top, top + high)).down()
            for left in range(0, len(self.stored), wide):
                columns = slice(left, left + wide)
                values[rows, columns] = self.between(down, self.stored.take(columns))
        return values, np.zeros(len(asked))

    def limit(
        self, bound: Array, lengths: Array, stretch: Array | float = 1.0, beside: Array | float = 0.0
    ) -> Array:
        """The distance itself, as far as it is stretched."""
        return np.asarray((stretch * (bound + beside) + beside) * (1 + 4 * SAME))


@dataclass(frozen=True)
class ProductScreen:
    """One matrix product in single precision: ‖b‖² − 2ab ranks like the distance from a to b.

    Points are moved to ``centre`` and divided by ``scale`` first, which changes no order but keeps the digits.
    """

    stored: Values
    centre: Array
    scale: float

    @property
    def rounding(self) -> float:
        """Four times the usual bound on a product of this many terms."""
        terms: int = self.stored.shape[1]
        return 4 * (terms + 4) * float(np.finfo(np.float32).eps)

    def room(self, rows: int) -> Values:
        """In single precision."""
        return np.empty((rows, len(self.stored)), np.float32)

    def into(self, room: Values, asked: Points) -> tuple[Values, Array]:
        """One block of products."""
        moved = (asked.numbers.T - self.centre) / self.scale
        beside = np.column_stack([-2 * moved, np.ones(len(moved))]).astype(np.float32)
        values = np.matmul(beside, self.stored.T, out=room[: len(beside)])
        return values, np.sqrt(_squares(moved))

    def limit(
        self, bound: Array, lengths: Array, stretch: Array | float = 1.0, beside: Array | float = 0.0
    ) -> Array:
        """A stored point is no longer than the asked one plus their distance."""
        apart = np.sqrt(np.maximum(bound + lengths**2, 0.0))
        reach = stretch * (apart + beside / self.scale) + beside / self.scale
        tiny = float(np.finfo(np.float32).tiny)
        rounded = SAME * np.abs(bound) + (self.rounding + SAME) * (2 * lengths + reach) ** 2 + tiny
        return np.asarray(bound + (reach - apart) * (reach + apart) + rounded)


def screen_by_squares(stored: Points) -> ProductScreen:
    """Squared distances without the ‖a‖² that all pairs of one asked point share."""
    rows, squares = stored.numbers.T, np.empty(len(stored))
    centre = stored.numbers.mean(axis=1)
    pieces = list(row_blocks(len(rows), len(centre), PIECE))
    for piece in pieces:
        squares[piece] = _squares(rows[piece] - centre)
    scale = float(np.sqrt(squares.max(initial=0.0))) or 1.0
    beside = np.empty((len(rows), len(centre) + 1), np.float32)
    for piece in pieces:
        beside[piece, :-1] = (rows[piece] - centre) / scale
    beside[:, -1] = squares / scale**2
    return ProductScreen(beside, centre, scale)


def _squares(moved: Array) -> Array:
    lengths: Array = np.einsum("ij,ij->i", moved, moved)
    return lengths


def not_below(limit: Array, dtype: np.dtype[Any]) -> Values:
    """The limit in the precision of a screen, rounded up; one that is no number holds nothing back."""
    rounded = np.nextafter(limit.astype(dtype), dtype.type(np.inf))
    return np.asarray(np.where(np.isnan(limit), dtype.type(np.inf), rounded))


def screen_by_angle(stored: Points) -> ProductScreen:
    """Minus twice the cosine, for points on the unit sphere."""
    unit = stored.numbers.T
    beside = np.column_stack([unit, np.zeros(len(unit))])
    return ProductScreen(beside.astype(np.float32), np.zeros(unit.shape[1]), 1.0)
