"""Rows to begin a mixture with, drawn by what stands in them, so that the order of rows does not matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.draws import draws
from mlcli.core.errors import FitError
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Flags, Rows, Table

DECIMALS = 6
"""Rows that agree to so many decimals of a standard deviation are one: sums round by the order of rows."""
LARGEST_SEED = 2**62


@dataclass(frozen=True, eq=False)
class Points:
    """The different rows, in standard deviations, and what each of them counts."""

    X: Array
    weights: Array
    places: Rows
    """Where each row stands among the different ones."""

    def drawn(self, chances: Array, rng: np.random.Generator) -> int:
        """One of them, with the given chances: each draws a waiting time, and the shortest wins."""
        columns = tuple(Column(str(place)) for place in range(self.X.shape[1]))
        table = Table(columns, self.X, np.empty((len(self.X), 0), np.int32))
        with np.errstate(divide="ignore"):
            waiting = -np.log1p(-draws(table, int(rng.integers(LARGEST_SEED)))) / chances
        return int(np.argmin(np.where(chances > 0, waiting, np.inf)))


def points_of(Z: Array, weights: Array) -> Points:
    """The different rows among standardised ones."""
    different, places = np.unique(np.round(Z, DECIMALS) + 0.0, axis=0, return_inverse=True)
    places = places.reshape(-1)
    return Points(different, np.asarray(np.bincount(places, weights=weights), np.float64), places)


def _spread_out(points: Points, count: int, rng: np.random.Generator) -> list[int]:
    """k-means++ (Arthur & Vassilvitskii 2007): chances grow with the squared distance to those that are chosen."""
    chosen = [points.drawn(points.weights, rng)]
    nearest = _squared(points.X, points.X[chosen[0]])
    while len(chosen) < count:
        chosen.append(points.drawn(points.weights * nearest, rng))
        nearest = np.minimum(nearest, _squared(points.X, points.X[chosen[-1]]))
    return chosen


def _at_random(points: Points, count: int, rng: np.random.Generator) -> list[int]:
    """Different rows, each as likely as it counts."""
    chances, chosen = points.weights.copy(), []
    for _ in range(count):
        chosen.append(points.drawn(chances, rng))
        chances[chosen[-1]] = 0.0
    return chosen


STARTS: dict[str, Callable[[Points, int, np.random.Generator], list[int]]] = {
    "k-means++": _spread_out,
    "random-points": _at_random,
}


def groups_around_seeds(points: Points, count: int, start: str, rng: np.random.Generator) -> Flags:
    """Which rows (n × count) are nearest to which seed; each seed has at least itself."""
    if len(points.X) < count:
        what = f"{count} components need as many different rows, and there are {len(points.X)}"
        raise FitError(what, hint="fewer components")
    seeds = STARTS[start](points, count, rng)
    distances = np.column_stack([_squared(points.X, points.X[seed]) for seed in seeds])
    nearest = distances.argmin(axis=1)[points.places]
    return np.asarray(nearest[:, None] == np.arange(count))


def _squared(X: Array, row: Array) -> Array:
    return np.asarray(((X - row) ** 2).sum(axis=1))
