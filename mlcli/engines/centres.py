"""Centres of clusters: the nearest one to each row, starts for a search, and Lloyd's algorithm.

Starts draw rows in an order that follows from their cells, not from the file, and by where a random number falls
among their summed weights, so that a row of weight 2 counts as two rows. Rows that lie on a chosen centre are not
drawn again.

Lloyd's algorithm moves rows to the nearest centre and centres to the mean of their rows, in turn. It skips rows
that cannot have come nearer to another centre (Hamerly 2010): the distance to a row's own centre grows by at most
what this centre has moved, the distance to the others shrinks by at most the longest move, and a row that is
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
from mlcli.tasks.cluster_profiles import centres as means_of

TIE = 64 * np.finfo(np.float64).eps
"""Squared distances that differ by less than this share of the largest squared length are equal."""
BLOCK_CELLS = 2_000_000
"""Distances that are held at once, so that memory grows with the rows alone."""


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


def squared_differences(values: Array, other: Array) -> Array:
    """|a − b|² of each row of one and each of the other, column by column: equal rows are at 0."""
    apart = np.zeros((len(values), len(other)))
    for a, b in zip(values.T, other.T, strict=True):
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
    for index in range(1, len(centres)):
        candidate = squared[index]
        closer = candidate < own - margin
        further = np.minimum(further, np.where(closer, own, candidate))
        own = np.where(closer, candidate, own)
        cluster[closer] = index
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
    # rows that agree to six decimals of the spread are dealt to the same cluster
    marks = np.round(along[order], 6)[:, None]
    marked = Table((Column("mark"),), marks, np.empty((len(marks), 0), np.int32))
    return CentredRows(X, weights[order], squared_lengths(X), marked)


def settled(cloud: CentredRows, centres: Array, steps: int = 100, still: float = 0.0) -> Array:
    """The centres after Lloyd's algorithm, which ends when no larger share of the rows changes cluster."""
    lloyd = Lloyd(cloud, centres, placing_for(cloud.X.size * len(centres)))
    lloyd.run(Stop(moved=0.0, changes=int(still * len(cloud.X)), steps=steps))
    return lloyd.centres


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


COMPILED_FROM = 5_000_000
"""From how many rows × columns × clusters × restarts on loading the compiled loops (0.3 s) begins to pay."""

Place = Callable[..., int]


@dataclass(frozen=True)
class Stop:
    """When the centres have converged."""

    moved: float
    """The summed squared moves of all centres up to which they have."""
    changes: int
    """The number of rows that change cluster up to which they have."""
    steps: int
    """How often they move at most."""


@dataclass(frozen=True, eq=False)
class SettledCentres:
    """Where the centres have ended."""

    centres: Array
    within: float
    """Summed squared distances of rows to their centres, but for rounding."""
    steps: int
    converged: bool
    """Whether they stopped by themselves."""
    path: tuple[float, ...]
    """The summed squared distances at the start and after each step."""
    ends: tuple[float, ...] = ()
    """Those that all restarts have ended with."""


class Lloyd:
    """The clusters of some rows while their centres move; sums are changed by the rows that change cluster."""

    def __init__(self, cloud: CentredRows, centres: Array, place: Place) -> None:
        rows, clusters = len(cloud.X), len(centres)
        self.cloud, self.centres, self.place = cloud, centres, place
        # the rounding error of bounds, the root of that of squared distances
        self.slack = 1e-7 * float(np.sqrt(cloud.lengths.max()))
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
            # move each centre to the mean of its rows
            before, self.centres = self.centres, self._means()
            moved = np.asarray(np.sqrt(squared_lengths(self.centres - before)))
            changed = self._place(moved)
            converged = changed <= stop.changes or float(moved @ moved) <= stop.moved
            path.append(self._within())
        return SettledCentres(self._means(), path[-1], len(path) - 1, converged, tuple(path))

    def _place(self, moved: Array) -> int:
        """Rows go to the nearest centre; how many change."""
        cloud = self.cloud
        # half of the distance of each centre to the nearest other one
        squared = squared_distances(self.centres, self.centres, squared_lengths(self.centres))
        np.fill_diagonal(squared, np.inf)
        half_way = np.asarray(np.sqrt(np.maximum(squared.min(axis=1), 0.0)) / 2.0)
        return self.place(
            cloud.X, cloud.lengths, cloud.weights, self.centres, moved, half_way, TIE, self.slack,
            self.cluster, self.own, self.next, self.counts, self.totals, self.sums,
        )  # fmt: skip

    def _fill_empty(self) -> None:
        """The row farthest from its centre becomes that of an empty cluster; no cluster gives its last row."""
        for empty in np.flatnonzero(self.counts == 0):
            away = squared_lengths(self.cloud.X - self.centres[self.cluster])
            away[(self.counts[self.cluster] == 1) | (self.own == np.inf)] = -1.0
            row = int(np.argmax(away))
            self._count(row, -1)
            self.cluster[row], self.own[row], self.next[row] = empty, np.inf, 0.0
            self._count(row, 1)

    def _count(self, row: int, sign: int) -> None:
        """Add a row to the sums of its cluster, or take it away."""
        cluster, weight = self.cluster[row], sign * self.cloud.weights[row]
        self.counts[cluster] += sign
        self.totals[cluster] += weight
        self.sums[cluster] += weight * self.cloud.X[row]

    def _means(self) -> Array:
        """The mean of each cluster; a cluster without rows stays where it is."""
        filled = self.counts > 0
        if filled.all():
            return np.asarray(self.sums / self.totals[:, None])
        return np.where(filled[:, None], self.sums / np.where(filled, self.totals, 1.0)[:, None], self.centres)

    def _within(self) -> float:
        return float(self.cloud.weights @ self.cloud.lengths - self.totals @ squared_lengths(self._means()))


def placing_for(work: int) -> Place:
    """The faster route for so much work; both find the same clusters."""
    if work < COMPILED_FROM:
        return place
    from mlcli.kernels.clusters.nearest_centres import place as compiled

    return compiled


def place(
    X: Array, lengths: Array, weights: Array, centres: Array, moved: Array, half_way: Array,
    tie: float, slack: float,
    cluster: Codes, own: Array, further: Array, counts: Rows, totals: Array, sums: Array,
) -> int:  # fmt: skip
    """Place the rows again, keeping the last six arrays up to date; how many change cluster.

    ``moved`` is how far each centre has gone since, ``half_way`` half of its distance to the nearest other one.
    """
    own += moved[cluster]
    further -= moved.max()
    rows = np.flatnonzero(own + slack >= np.maximum(further, half_way[cluster]))
    found = nearest_centres(X[rows], centres, lengths[rows], tie)
    different = found.cluster != cluster[rows]
    changing, before, now = rows[different], cluster[rows][different], found.cluster[different]
    cluster[rows], own[rows], further[rows] = found
    clusters = np.arange(len(centres))[:, None]
    joined = (clusters == now).astype(np.float64) - (clusters == before)
    counts += joined.sum(axis=1).astype(np.intp)
    totals += joined @ weights[changing]
    sums += (joined * weights[changing]) @ X[changing]
    return len(changing)
