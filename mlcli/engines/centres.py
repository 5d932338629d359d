"""Centres of clusters: the nearest one to each row, starts for a search, and Lloyd's algorithm.

Starts draw rows in an order that depends on their cells, not on the file, by where a random number falls among
their cumulative weights, so that a row of weight 2 counts as two rows. Rows on a chosen centre are not drawn
again.

Lloyd's algorithm assigns rows to the nearest centre and moves centres to the mean of their rows, in turn. It skips
rows that cannot have come nearer to another centre (Hamerly 2010): the distance to a row's own centre grows by at
most the move of this centre, the distance to the others shrinks by at most the longest move, and a row that is
nearer to its centre than half the way to the next centre stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.content_seeds import draws
from mlcli.tasks.clustering import centres as means_of

TIE = 64 * np.finfo(np.float64).eps
"""Squared distances that differ by less than this share of the largest squared length are equal."""
COMPILED_FROM = 5_000_000
"""From this product of rows, columns, clusters and restarts on, loading compiled loops (0.3 s) pays."""


class NearestCentres(NamedTuple):
    """For each row its nearest centre; the next one is infinitely far if there is only one."""

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
    rows = len(X)
    cluster, own, further = np.zeros(rows, np.int32), np.empty(rows), np.empty(rows)
    step, longest = max(1, 2_000_000 // len(centres)), squared_lengths(centres).max()  # distances held at once
    for start in range(0, rows, step):
        block = slice(start, start + step)
        squared = squared_distances(X[block], centres, lengths[block])
        margin = tie * (lengths[block] + longest)
        nearest, next_nearest = squared[0], np.full(len(margin), np.inf)
        for index in range(1, len(centres)):
            candidate = squared[index]
            closer = candidate < nearest - margin
            next_nearest = np.minimum(next_nearest, np.where(closer, nearest, candidate))
            nearest = np.where(closer, candidate, nearest)
            cluster[block][closer] = index
        own[block], further[block] = np.sqrt(np.maximum(nearest, 0.0)), np.sqrt(np.maximum(next_nearest, 0.0))
    return NearestCentres(cluster, own, further)


def squared_distances(X: Array, centres: Array, lengths: Array) -> Array:
    """|c|² − 2 c·x + |x|², one row per centre."""
    squared = (-2.0 * centres) @ X.T
    squared += squared_lengths(centres)[:, None]
    squared += lengths
    return squared


def squared_differences(values: Array, other: Array) -> Array:
    """|a − b|² of all pairs of rows, summed column by column, so that equal rows are at 0."""
    squares = np.zeros((len(values), len(other)))
    for a, b in zip(values.T, other.T, strict=True):
        squares += np.subtract.outer(a, b) ** 2
    return squares


def squared_from_mean(X: Array, points: Array) -> Array:
    """Squared distances (rows × points), centred at the mean of the points to keep digits."""
    centre = points.mean(axis=0)
    X, Z = X - centre, points - centre
    return np.maximum(squared_distances(Z, X, squared_lengths(Z)), 0.0)


@dataclass(frozen=True, eq=False)
class CentredRows:
    """Centred rows in an order that depends on their cells."""

    X: Array
    weights: Array
    lengths: Array
    """|x|² of each row."""
    marks: Table
    """The number that each row was ordered by."""


def centred_rows(X: Array, weights: Array) -> CentredRows:
    """Centred rows, in their order along a random direction."""
    spread = np.sqrt(weights @ (X * X) / weights.sum())
    direction = np.random.default_rng(0).normal(size=X.shape[1])
    along = X @ (direction / np.where(spread > 0, spread, 1.0))
    order = np.argsort(along)
    X = X[order]
    marks = np.round(along[order], 6)[:, None]  # rows that agree so far are assigned to the same cluster
    marked = Table((Column("mark"),), marks, np.empty((len(marks), 0), np.int32))
    return CentredRows(X, weights[order], squared_lengths(X), marked)


def settled(cloud: CentredRows, centres: Array, steps: int = 100, still: float = 0.0) -> Array:
    """The centres after Lloyd's algorithm, which ends if at most a share ``still`` of the rows changes cluster."""
    lloyd = Lloyd(cloud, centres, placing_for(cloud.X.size * len(centres)))
    lloyd.run(Stop(moved=0.0, changes=int(still * len(cloud.X)), steps=steps))
    return lloyd.centres


def means_settled(X: Array, weights: Array, k: int, rng: np.random.Generator) -> Array:
    """The centres of k-means from one good start; fewer if fewer rows differ."""
    mean = np.average(X, axis=0, weights=weights)
    cloud = centred_rows(X - mean, weights)
    return np.asarray(settled(cloud, k_means_plus_plus(cloud, k, rng)) + mean)


Start = Callable[[CentredRows, int, np.random.Generator], Array]


def k_means_plus_plus(cloud: CentredRows, k: int, rng: np.random.Generator) -> Array:
    """Each further centre is a row drawn in proportion to its squared distance; the best of a few draws."""
    return _added(cloud, np.empty((0, cloud.X.shape[1])), k, rng, 2 + int(math.log(k)), lambda squared: squared)


def random_points(cloud: CentredRows, k: int, rng: np.random.Generator) -> Array:
    """Distinct rows, all with the same chance."""
    return _added(cloud, np.empty((0, cloud.X.shape[1])), k, rng, 1, lambda squared: np.sign(squared))


def random_assignment(cloud: CentredRows, k: int, rng: np.random.Generator) -> Array:
    """The means of random clusters; in place of an empty one a row is drawn by distance."""
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
    """The centres and drawn rows, k together, or fewer if no more rows differ.

    ``mass`` turns squared distances to the nearest centre into chances; of ``tries`` draws the one with the
    smallest sum of squared distances is kept.
    """
    chosen = list(centres)
    squared = _squared(cloud, centres).min(axis=0) if chosen else np.ones(len(cloud.X))
    while len(chosen) < k and squared.any():
        summed = np.cumsum(cloud.weights * mass(squared))
        drawn = cloud.X[np.searchsorted(summed, rng.random(tries if chosen else 1) * summed[-1], side="right")]
        with_each = np.minimum(_squared(cloud, drawn), squared) if chosen else _squared(cloud, drawn)
        best = int(np.argmin(with_each @ cloud.weights))
        chosen.append(drawn[best])
        squared = with_each[best]
    return np.array(chosen)


def _squared(cloud: CentredRows, centres: Array) -> Array:
    """Squared distances to each centre, 0 if they are rounding errors."""
    squared = squared_distances(cloud.X, centres, cloud.lengths)
    squared[squared <= TIE * cloud.lengths.max()] = 0.0
    return squared


Place = Callable[..., int]
"""``place`` below, or its compiled twin."""


@dataclass(frozen=True)
class Stop:
    """When the centres have converged: at most this much has changed in a step."""

    moved: float
    """The summed squared moves of all centres."""
    changes: int
    """The number of rows that change cluster."""
    steps: int
    """The most steps."""


@dataclass(frozen=True, eq=False)
class SettledCentres:
    """The centres after the last step."""

    centres: Array
    within: float
    """The summed squared distances of rows to their centres."""
    steps: int
    converged: bool
    """Whether they converged before the last step."""
    path: tuple[float, ...]
    """The summed squared distances at the start and after each step."""
    ends: tuple[float, ...] = ()
    """The summed squared distances at the end of all restarts."""


class Lloyd:
    """Clusters while their centres move; sums are updated by the rows that change cluster."""

    def __init__(self, cloud: CentredRows, centres: Array, place: Place) -> None:
        rows, clusters = len(cloud.X), len(centres)
        self.cloud, self.centres, self.place = cloud, centres, place
        self.slack = 1e-7 * float(np.sqrt(cloud.lengths.max()))  # the rounding error of bounds
        self.cluster, self.own, self.next = np.zeros(rows, np.int32), np.full(rows, np.inf), np.zeros(rows)
        self.counts = np.eye(1, clusters, dtype=np.intp)[0] * rows
        self.totals = np.eye(1, clusters)[0] * cloud.weights.sum()
        self.sums = np.eye(clusters, 1) * (cloud.weights @ cloud.X)
        self._place(np.zeros(clusters))

    def run(self, stop: Stop) -> SettledCentres:
        """Move until the centres have converged."""
        path, converged = [self._within()], False
        while len(path) <= stop.steps and not converged:
            self._fill_empty()
            before, self.centres = self.centres, self._means()
            moved = np.asarray(np.sqrt(squared_lengths(self.centres - before)))
            changed = self._place(moved)
            converged = changed <= stop.changes or float(moved @ moved) <= stop.moved
            path.append(self._within())
        return SettledCentres(self._means(), path[-1], len(path) - 1, converged, tuple(path))

    def _place(self, moved: Array) -> int:
        """Assign rows to the nearest centre; return how many change cluster."""
        cloud = self.cloud
        squared = squared_distances(self.centres, self.centres, squared_lengths(self.centres))
        np.fill_diagonal(squared, np.inf)
        half_way = np.asarray(np.sqrt(np.maximum(squared.min(axis=1), 0.0)) / 2.0)
        return self.place(
            cloud.X, cloud.lengths, cloud.weights, self.centres, moved, half_way, TIE, self.slack,
            self.cluster, self.own, self.next, self.counts, self.totals, self.sums,
        )  # fmt: skip

    def _fill_empty(self) -> None:
        """Move the row farthest from its centre to each empty cluster; no cluster gives its last row."""
        for empty in np.flatnonzero(self.counts == 0):
            squared = squared_lengths(self.cloud.X - self.centres[self.cluster])
            squared[(self.counts[self.cluster] == 1) | (self.own == np.inf)] = -1.0
            row = int(np.argmax(squared))
            for cluster, sign in ((self.cluster[row], -1), (empty, 1)):
                weight = sign * self.cloud.weights[row]
                self.counts[cluster] += sign
                self.totals[cluster] += weight
                self.sums[cluster] += weight * self.cloud.X[row]
            self.cluster[row], self.own[row], self.next[row] = empty, np.inf, 0.0

    def _means(self) -> Array:
        """The mean of each cluster; the centre of an empty cluster stays."""
        filled = self.counts > 0
        if filled.all():
            return np.asarray(self.sums / self.totals[:, None])
        return np.where(filled[:, None], self.sums / np.where(filled, self.totals, 1.0)[:, None], self.centres)

    def _within(self) -> float:
        return float(self.cloud.weights @ self.cloud.lengths - self.totals @ squared_lengths(self._means()))


def placing_for(work: int) -> Place:
    """The faster one of two routes to the same clusters, for so many rows × columns × clusters × restarts."""
    if work < COMPILED_FROM:
        return place
    from mlcli.kernels.clusters.nearest_centres import place as compiled

    return compiled


def place(
    X: Array, lengths: Array, weights: Array, centres: Array, moved: Array, half_way: Array,
    tie: float, slack: float,
    cluster: Codes, own: Array, further: Array, counts: Rows, totals: Array, sums: Array,
) -> int:  # fmt: skip
    """Assign the rows again and update the last six arrays; return how many rows change cluster.

    ``moved`` is the last move of each centre, ``half_way`` half of its distance to the nearest other centre.
    """
    own += moved[cluster]
    further -= moved.max()
    rows = np.flatnonzero(own + slack >= np.maximum(further, half_way[cluster]))
    nearest = nearest_centres(X[rows], centres, lengths[rows], tie)
    different = nearest.cluster != cluster[rows]
    changing, before, now = rows[different], cluster[rows][different], nearest.cluster[different]
    cluster[rows], own[rows], further[rows] = nearest
    clusters = np.arange(len(centres))[:, None]
    joined = (clusters == now).astype(np.float64) - (clusters == before)
    counts += joined.sum(axis=1).astype(np.intp)
    totals += joined @ weights[changing]
    sums += (joined * weights[changing]) @ X[changing]
    return len(changing)
