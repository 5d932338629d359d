"""Screens: a look at all pairs of points that ranks them nearly right and says how wrong it may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mlcli.core.tables import Array
from mlcli.models.neighbours._points import Points


class Screen(Protocol):
    """Values (b × n) that grow with the distance, and the length of each asked point.

    The value of a pair of points of lengths a and b is wrong by at most ``rounding`` × (a + b)² / 2.
    """

    @property
    def rounding(self) -> float:
        """How wrong values may be; 0 when they are the distances themselves."""

    def __call__(self, asked: Points) -> tuple[np.ndarray[Any, Any], Array]:
        """The values, and the lengths of the asked points."""

    def limit(
        self, bound: Array, lengths: Array, stretch: Array | float = 1.0, beside: Array | float = 0.0
    ) -> Array:
        """What no pair exceeds that is as near as one of value ``bound``.

        A pair at distance d counts as near up to (d + ``beside``) ``stretch`` + ``beside``.
        """


SAME = 1e-12
"""Distances closer than this, relatively, are the same: what differs is rounding."""
TILE = 12_000
"""Pairs measured at once: what an allocator hands out again without asking the system for fresh pages."""


@dataclass(frozen=True)
class ExactScreen:
    """The distances themselves, tile by tile."""

    between: Callable[[Points, Points], Array]
    stored: Points
    rounding: float = 0.0

    def __call__(self, asked: Points) -> tuple[Array, Array]:
        """Every distance; lengths do not matter where nothing is rounded."""
        values = np.empty((len(asked), len(self.stored)))
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

    stored: np.ndarray[Any, Any]
    centre: Array
    scale: float

    @property
    def rounding(self) -> float:
        """Four times the usual bound on a product of this many terms."""
        terms: int = self.stored.shape[1]
        return 4 * (terms + 4) * float(np.finfo(np.float32).eps)

    def __call__(self, asked: Points) -> tuple[np.ndarray[Any, Any], Array]:
        """One block of products."""
        return self.into(np.empty((len(asked), len(self.stored)), np.float32), asked)

    def into(self, room: np.ndarray[Any, Any], asked: Points) -> tuple[np.ndarray[Any, Any], Array]:
        """One block of products, in ``room`` for at least as many: fresh pages cost as much as the product."""
        moved = (asked.numbers.T - self.centre) / self.scale
        beside = np.column_stack([-2 * moved, np.ones(len(moved))]).astype(np.float32)
        values = np.matmul(beside, self.stored.T, out=room[: len(beside)])
        return values, np.sqrt((moved**2).sum(axis=1))

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
    centre = stored.numbers.mean(axis=1)
    moved = stored.numbers.T - centre
    squares = (moved**2).sum(axis=1)
    scale = float(np.sqrt(squares.max(initial=0.0))) or 1.0
    beside = np.column_stack([moved / scale, squares / scale**2])
    return ProductScreen(beside.astype(np.float32), centre, scale)


def screen_by_angle(stored: Points) -> ProductScreen:
    """Minus twice the cosine, for points on the unit sphere."""
    unit = stored.numbers.T
    beside = np.column_stack([unit, np.zeros(len(unit))])
    return ProductScreen(beside.astype(np.float32), np.zeros(unit.shape[1]), 1.0)
