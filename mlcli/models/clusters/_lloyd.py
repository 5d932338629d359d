"""Lloyd's algorithm: rows go to the nearest centre, centres to the mean of their rows, until little moves.

Rows that cannot have come nearer to another centre are not looked at again (Hamerly 2010): a row's own centre has
come no further away than it has moved, the others no nearer than the farthest of them has moved, and a row that is
nearer to its centre than half of the way to the next one stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.centres import TIE, CentredRows, nearest_centres, squared_distances, squared_lengths

SLACK = 1e-7
"""Bounds may be off by this share of the largest length: the root of what squared distances round by."""
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
        self.slack = SLACK * float(np.sqrt(cloud.lengths.max()))
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
            moved = self._move()
            changed = self._place(moved)
            converged = changed <= stop.changes or float(moved @ moved) <= stop.moved
            path.append(self._within())
        return SettledCentres(self._means(), path[-1], len(path) - 1, converged, tuple(path))

    def _move(self) -> Array:
        """Centres go to the mean of their rows; how far each goes."""
        before, self.centres = self.centres, self._means()
        return np.asarray(np.sqrt(squared_lengths(self.centres - before)))

    def _place(self, moved: Array) -> int:
        """Rows go to the nearest centre; how many change."""
        cloud = self.cloud
        return self.place(
            cloud.X, cloud.lengths, cloud.weights, self.centres, moved, self._half_way(), TIE, self.slack,
            self.cluster, self.own, self.next, self.counts, self.totals, self.sums,
        )  # fmt: skip

    def _half_way(self) -> Array:
        """Half of the distance of each centre to the nearest other one."""
        squared = squared_distances(self.centres, self.centres, squared_lengths(self.centres))
        np.fill_diagonal(squared, np.inf)
        return np.asarray(np.sqrt(np.maximum(squared.min(axis=1), 0.0)) / 2.0)

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
