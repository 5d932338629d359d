"""Centres of clusters of rows: which is nearest to a row, and where a search for good ones begins.

Starts draw rows in an order that follows from their cells, not from the file, and by where a random number falls
among their summed weights, so that a row of weight 2 counts as two rows. Rows that lie on a chosen centre are not
drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.random_by_content import draws
from mlcli.tasks.cluster_profiles import centres as means_of

TIE = 64 * np.finfo(np.float64).eps
"""Squared distances that differ by less than this share of the largest squared length are equal."""
BLOCK_CELLS = 2_000_000
"""Distances that are held at once, so that memory grows with the rows alone."""
STEPS = 100
"""Centres that only serve as landmarks have settled after so many steps."""
DIGITS = 6
"""Rows fall into one cluster by chance if they agree to so many decimals of the spread of their columns."""


class NearestCentres(NamedTuple):
    """One entry per row; the next centre is infinitely far where there is only one."""

    cluster: Codes
    own: Array
    """Distance to the nearest centre."""
    next: Array
    """Distance to the nearest of the others."""


def squared_lengths(X: Array) -> Array:
    """|x|² of each row."""
    return np.asarray(np.einsum("ij,ij->i", X, X))


def nearest_centres(X: Array, centres: Array, lengths: Array, tie: float = TIE) -> NearestCentres:
    """The centre nearest to each row; of equally near ones the first. ``lengths`` are |x|² of each row."""
    step = max(1, BLOCK_CELLS // len(centres))
    starts = range(0, max(1, len(X)), step)
    blocks = [_nearest(X[at : at + step], centres, lengths[at : at + step], tie) for at in starts]
    return NearestCentres(*map(np.concatenate, zip(*blocks, strict=True)))


def squared_distances(X: Array, centres: Array, lengths: Array) -> Array:
    """|c|² − 2 c·x + |x|², one row per centre."""
    squared = (-2.0 * centres) @ X.T
    squared += squared_lengths(centres)[:, None]
    squared += lengths
    return squared


def squared_differences(one: Array, other: Array) -> Array:
    """|a − b|² of each row of one and each of the other, column by column: equal rows are at 0."""
    apart = np.zeros((len(one), len(other)))
    for a, b in zip(one.T, other.T, strict=True):
        apart += np.subtract.outer(a, b) ** 2
    return apart


def squared_from_mean(X: Array, points: Array) -> Array:
    """Squared distances (rows × points), measured from the mean of the points, to keep digits."""
    middle = points.mean(axis=0)
    X, Z = X - middle, points - middle
    return np.maximum(squared_distances(Z, X, squared_lengths(Z)), 0.0)


def _nearest(X: Array, centres: Array, lengths: Array, tie: float) -> NearestCentres:
    squared = squared_distances(X, centres, lengths)
    margin = tie * (lengths + squared_lengths(centres).max())
    cluster, own, further = np.zeros(len(X), np.int32), squared[0], np.full(len(X), np.inf)
    for place in range(1, len(centres)):
        candidate = squared[place]
        closer = candidate < own - margin
        further = np.minimum(further, np.where(closer, own, candidate))
        own = np.where(closer, candidate, own)
        cluster[closer] = place
    return NearestCentres(cluster, np.sqrt(np.maximum(own, 0.0)), np.sqrt(np.maximum(further, 0.0)))


@dataclass(frozen=True, eq=False)
class CentredRows:
    """Rows around their mean, in an order that follows from their cells."""

    X: Array
    weights: Array
    lengths: Array
    """|x|² of each row."""
    marks: Table
    """The number that each row was ordered by."""


def centred_rows(X: Array, weights: Array) -> CentredRows:
    """The rows, which lie around their mean, in the order of how far each lies along a random direction."""
    spread = np.sqrt(weights @ (X * X) / weights.sum())
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    along = X @ (direction / np.where(spread > 0, spread, 1.0))
    order = np.argsort(along)
    X = X[order]
    marks = np.round(along[order], DIGITS)[:, None]
    marked = Table((Column("mark"),), marks, np.empty((len(marks), 0), np.int32))
    return CentredRows(X, weights[order], squared_lengths(X), marked)


def settled(cloud: CentredRows, centres: Array, steps: int = STEPS, still: float = 0.0) -> Array:
    """Lloyd's algorithm: centres go to the mean of their rows until no larger share of these changes cluster.

    Where no row is nearest the centre stays.
    """
    cluster = nearest_centres(cloud.X, centres, cloud.lengths).cluster
    for _ in range(steps):
        means = means_of(cloud.X, cluster, len(centres), cloud.weights)
        centres = np.where(np.isnan(means), centres, means)
        before, cluster = cluster, nearest_centres(cloud.X, centres, cloud.lengths).cluster
        if np.count_nonzero(cluster != before) <= still * len(cluster):
            break
    return centres


def means_settled(X: Array, weights: Array, k: int, rng: np.random.Generator) -> Array:
    """The centres at which k-means ends from one good start; fewer where fewer rows differ."""
    middle = np.average(X, axis=0, weights=weights)
    cloud = centred_rows(X - middle, weights)
    return np.asarray(settled(cloud, k_means_plus_plus(cloud, k, rng)) + middle)


Start = Callable[[CentredRows, int, np.random.Generator], Array]


def k_means_plus_plus(cloud: CentredRows, k: int, rng: np.random.Generator) -> Array:
    """Each further centre is a row drawn by its squared distance to the chosen ones; the best of a few draws."""
    return _added(cloud, np.empty((0, cloud.X.shape[1])), k, rng, 2 + int(math.log(k)), lambda squared: squared)


def random_points(cloud: CentredRows, k: int, rng: np.random.Generator) -> Array:
    """Rows that differ, drawn alike."""
    return _added(cloud, np.empty((0, cloud.X.shape[1])), k, rng, 1, lambda squared: np.sign(squared))


def random_assignment(cloud: CentredRows, k: int, rng: np.random.Generator) -> Array:
    """The means of clusters into which rows are dealt at random; what no row was dealt to is drawn by distance."""
    cluster = (draws(cloud.marks, int(rng.integers(2**62))) * k).astype(np.int32)
    means = means_of(cloud.X, cluster, k, cloud.weights)
    return _added(cloud, means[~np.isnan(means).any(axis=1)], k, rng, 1, lambda squared: squared)


STARTS: dict[str, Start] = {
    "k-means-plus-plus": k_means_plus_plus,
    "random-assignment": random_assignment,
    "random-points": random_points,
}


def _added(
    cloud: CentredRows,
    centres: Array,
    k: int,
    rng: np.random.Generator,
    tries: int,
    mass: Callable[[Array], Array],
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


def _squared(cloud: CentredRows, centres: Array) -> Array:
    """Squared distances to each centre, 0 where they are no more than rounding."""
    squared = squared_distances(cloud.X, centres, cloud.lengths)
    squared[squared <= TIE * cloud.lengths.max()] = 0.0
    return squared
