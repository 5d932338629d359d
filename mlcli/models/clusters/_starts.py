"""Where k-means begins: each start draws rows in an order that follows from their cells, not from the file.

Rows are drawn by where a random number falls among their summed weights, so that a row of weight 2 counts as two
rows; and rows that lie on a chosen centre are not drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.draws import draws
from mlcli.models.clusters._nearest import TIE, squared_distances, squared_lengths
from mlcli.tasks.groups import centres as means_of

DIGITS = 6
"""Rows fall into one group by chance if they agree to so many decimals of the spread of their columns."""


@dataclass(frozen=True, eq=False)
class Cloud:
    """Rows around their mean, in an order that follows from their cells."""

    X: Array
    weights: Array
    lengths: Array
    """|x|² of each row."""
    marks: Table
    """The number that each row was ordered by."""


def cloud_of(X: Array, weights: Array) -> Cloud:
    """The rows, which lie around their mean, in the order of how far each lies along a random direction."""
    spread = np.sqrt(weights @ (X * X) / weights.sum())
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    along = X @ (direction / np.where(spread > 0, spread, 1.0))
    order = np.argsort(along)
    X = X[order]
    marks = np.round(along[order], DIGITS)[:, None]
    return Cloud(X, weights[order], squared_lengths(X), _table_of(marks))


def _table_of(numbers: Array) -> Table:
    """A table of one column."""
    return Table((Column("mark"),), numbers, np.empty((len(numbers), 0), np.int32))


Start = Callable[[Cloud, int, np.random.Generator], Array]


def k_means_plus_plus(cloud: Cloud, k: int, rng: np.random.Generator) -> Array:
    """Each further centre is a row drawn by its squared distance to the chosen ones; the best of a few draws."""
    return _added(cloud, np.empty((0, cloud.X.shape[1])), k, rng, 2 + int(math.log(k)), lambda squared: squared)


def random_points(cloud: Cloud, k: int, rng: np.random.Generator) -> Array:
    """Rows that differ, drawn alike."""
    return _added(cloud, np.empty((0, cloud.X.shape[1])), k, rng, 1, lambda squared: np.sign(squared))


def random_assignment(cloud: Cloud, k: int, rng: np.random.Generator) -> Array:
    """The means of groups into which rows are dealt at random; what no row was dealt to is drawn by distance."""
    group = (draws(cloud.marks, int(rng.integers(2**62))) * k).astype(np.int32)
    means = means_of(cloud.X, group, k, cloud.weights)
    return _added(cloud, means[~np.isnan(means).any(axis=1)], k, rng, 1, lambda squared: squared)


STARTS: dict[str, Start] = {
    "k-means-plus-plus": k_means_plus_plus,
    "random-assignment": random_assignment,
    "random-points": random_points,
}


def _added(
    cloud: Cloud, centres: Array, k: int, rng: np.random.Generator, tries: int, mass: Callable[[Array], Array]
) -> Array:
    """The centres with as many drawn rows as make k, or fewer where no more rows differ.

    ``mass`` turns squared distances to the nearest centre into chances; of ``tries`` draws the one that leaves
    the smallest sum of squared distances is kept.
    """
    chosen = list(centres)
    squared = _squared(cloud, centres).min(axis=0) if chosen else np.ones(len(cloud.X))
    while len(chosen) < k and squared.any():
        summed = np.cumsum(cloud.weights * mass(squared))
        drawn = cloud.X[np.searchsorted(summed, rng.random(tries if chosen else 1) * summed[-1], side="right")]
        left = np.minimum(_squared(cloud, drawn), squared) if chosen else _squared(cloud, drawn)
        best = int(np.argmin(left @ cloud.weights))
        chosen.append(drawn[best])
        squared = left[best]
    return np.array(chosen)


def _squared(cloud: Cloud, centres: Array) -> Array:
    """Squared distances to each centre, 0 where they are no more than rounding."""
    squared = squared_distances(cloud.X, centres, cloud.lengths)
    squared[squared <= TIE * cloud.lengths.max()] = 0.0
    return squared
