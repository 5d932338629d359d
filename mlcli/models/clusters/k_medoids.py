"""K-medoids: each row belongs to the nearest of k rows, which are chosen so that all are near to theirs.

Formula:
    Medoids m_1..m_k among the rows that make Σ w d(x, m_c(x)) small. PAM: the first medoid is the row with the
    least sum of distances, each further one the row that lowers the sum most (build); then the swap of a medoid
    and a row that lowers the sum most is made, while one does.

Assumes:
    Clusters around a typical row. Outliers pull less than in k-means, as distances are not squared.

Cost:
    rows² distances in memory, and rows² for each swap (FastPAM). At most 10,000 rows.

Choices:
    A local minimum, without random starts: the same rows give the same clusters in any order. With `distances`
    any matrix of distances can be used: nothing is averaged. New rows go to the nearest medoid, of equally near
    ones to the first. Clusters are numbered from the largest to the smallest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ComparesPairs
from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.content_seeds import in_content_order
from mlcli.engines.distance_matrix import DISTANCES, DISTANCES_HELP, DistanceClusterer, distances_to_rows
from mlcli.tasks.clustering import ClusteredRows, Clusterer, largest_first


@register("k-medoids", reference="Kaufman & Rousseeuw 1990 (PAM); Schubert & Rousseeuw 2021 (FastPAM)", revision=2)
class KMedoids(DistanceClusterer, Clusterer, ComparesPairs):
    """Partitioning around medoids."""

    bytes_per_pair = 33.0

    clusters: int = param(3, "number of clusters", ge=1, tune=(2, 10))
    metric: str = param("euclidean", "distance between rows", choices=DISTANCES, matters_when={"distances": None})
    distances: str | None = param(None, DISTANCES_HELP, if_given=True)
    max_swaps: int = param(1000, "maximum number of swaps", ge=0)

    medoids_: Array = learned()
    """The rows that clusters lie around, or the places of their columns of distances."""
    rows_: Rows = learned("medoids")
    """The numbers of these rows in the file."""
    sizes_: Array = learned("medoids")
    total_: float = learned()
    built_: float = learned()
    """The sum of distances after and before the swaps."""
    swaps_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Weights too, unless distances are given."""
        return replace(super().accepts, weights=self.distances is None)

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Build, then swap."""
        data = in_content_order(data)
        if len(data) > 10_000:
            raise FitError("k-medoids takes at most 10,000 rows", hint="k-means has no such limit")
        X, given = self.points_and_distances(data)
        apart = DISTANCES[self.metric](X, X) if given is None else given
        medoids = build(apart, data.weights, min(self.clusters, len(np.unique(apart, axis=0))))
        self.built_ = _total(apart, data.weights, medoids)
        medoids, self.swaps_ = swap(apart, data.weights, medoids, self.max_swaps)
        self.total_ = _total(apart, data.weights, medoids)
        cluster = apart[:, medoids].argmin(axis=1).astype(np.int32)
        order = largest_first(X, cluster, len(medoids), data.weights)
        medoids = medoids[order]
        self.sizes_ = np.bincount(cluster, data.weights, len(medoids)).astype(np.float64)[order]
        self.rows_ = data.rows[medoids]
        self.medoids_ = data.table.numbers[medoids] if given is None else self.rows_.astype(np.float64)

    def cluster_of(self, table: Table) -> Codes:
        """The nearest medoid of each row."""
        if self.distances is None:
            apart = DISTANCES[self.metric](table.numbers, self.medoids_)
        else:
            apart = distances_to_rows(table, self.distances)[:, self.medoids_.astype(np.intp)]
        return np.asarray(apart.argmin(axis=1), np.int32)

    def cluster_count(self) -> int:
        """As many as there are medoids."""
        return len(self.rows_)

    def check_learned(self) -> None:
        """A row and a size for each medoid."""
        if not len(self.rows_) == len(self.medoids_) == len(self.sizes_) > 0:
            raise ValueError("medoids that do not fit their clusters")

    def explain(self) -> findings.Explanation:
        """The medoids, and how near rows are to theirs."""
        lines = (
            f"sum of distances to the medoids: {self.total_:.6g}, in the columns after the steps",
            f"{self.built_:.6g} before {self.swaps_} swap{'s' * (self.swaps_ != 1)}",
        )
        named = self.distances is None
        columns = [column.name for column in self.columns_ if not column.coded] if named else []
        medoids = self.medoids_.tolist() if named else [[] for _ in self.rows_]
        clusters = enumerate(zip(self.rows_.tolist(), self.sizes_.tolist(), medoids, strict=True))
        rows = tuple((str(cluster), row + 1, size, *values) for cluster, (row, size, values) in clusters)
        note = "in the columns after the steps" if columns else ""
        return (
            findings.Lines(f"{len(self.rows_)} clusters and their medoids", lines),
            findings.Table("Medoids", ("cluster", "row", "rows of the cluster", *columns), rows, note=note),
        )


def build(apart: Array, weights: Array, count: int) -> Rows:
    """Medoids one after the other, each the row that lowers the sum of distances most."""
    chosen = [int((weights @ apart).argmin())]
    near = apart[:, chosen[0]]
    while len(chosen) < count:
        sums = weights @ np.minimum(apart, near[:, None])
        sums[chosen] = np.inf
        chosen.append(int(sums.argmin()))
        near = np.minimum(near, apart[:, chosen[-1]])
    return np.array(chosen)


def swap(apart: Array, weights: Array, medoids: Rows, most: int) -> tuple[Rows, int]:
    """The medoids after the swaps that lower the sum of distances most, and how many there were."""
    medoids = medoids.copy()
    for swaps in range(most):
        gain, index, row = best_swap(apart, weights, medoids)
        if gain <= 1e-12 * _total(apart, weights, medoids):
            return medoids, swaps
        medoids[index] = row
    return medoids, most


def best_swap(apart: Array, weights: Array, medoids: Rows) -> tuple[float, int, int]:
    """By how much the best swap lowers the sum; a row that loses its medoid goes to its second one, or the new."""
    among = np.hstack([apart[:, medoids], np.full((len(apart), 1), np.inf)])
    order = np.argsort(among, axis=1, kind="stable")[:, :2]
    first, second = np.take_along_axis(among, order, axis=1).T
    nearer = np.minimum(apart - first[:, None], 0.0)
    lost = np.minimum(apart, second[:, None]) - first[:, None] - nearer
    changes = np.tile(weights @ nearer, (len(medoids), 1))
    for index in range(len(medoids)):
        own = order[:, 0] == index
        changes[index] += weights[own] @ lost[own]
    changes[:, medoids] = np.inf
    best = np.unravel_index(changes.argmin(), changes.shape)
    return -float(changes[best]), int(best[0]), int(best[1])


def _total(apart: Array, weights: Array, medoids: Rows) -> float:
    return float(weights @ apart[:, medoids].min(axis=1))
