"""DBSCAN: clusters are rows that lie densely together, reached from neighbour to neighbour; lone rows are in none.

Formula:
    A row is a core row if at least `min_rows` rows, itself included, lie within `eps` of it. Core rows within
    `eps` of each other are in one cluster, and so are all that are linked by such steps. A row that is no core row
    belongs to the cluster of the nearest core row within `eps`; if there is none, it is noise.

Assumes:
    Columns on one scale, and clusters of about the same density; they may have any shape.

Cost:
    A search of `min_rows` neighbours for each row, with a k-d tree or in blocks (rows² × columns); a walk over a
    tree of the core rows that skips linked boxes; a search of the nearest core row for each predicted row.

Choices:
    Without `eps`, it is the elbow of the sorted distances to the `min_rows`-th row: the point farthest below the
    line from the first to the last. A row between two clusters goes to the nearer core row, so the order of rows
    does not matter (in the paper it goes to the cluster that is found first). New rows are placed in the same
    way. Clusters are numbered from the largest to the smallest, noise last; scores treat noise as one cluster,
    except the silhouette, where it counts 0 and is no neighbour of any row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.engines.centres import squared_differences
from mlcli.engines.distance_matrix import DISTANCES_HELP, DistanceClusterer, distances_to_rows
from mlcli.engines.neighbours.distances import DISTANCES, SAME, DistinctRows, of_numbers
from mlcli.engines.neighbours.neighbourhoods import Neighbourhoods
from mlcli.engines.neighbours.search import KDTree, loops_pay, nearest
from mlcli.tasks.clustering import NOISE, ClusteredRows, Clusterer, largest_first


@register("dbscan", reference="Ester, Kriegel, Sander & Xu 1996; Schubert et al. 2017", revision=2)
class DBSCAN(DistanceClusterer, Clusterer):
    """Core rows, what they reach, and noise."""

    eps: float | None = param(
        None, "largest distance between neighbours; none: the elbow of the k-distances", gt=0
    )
    min_rows: int = param(10, "number of rows within eps of a core row, itself included", ge=1)
    distances: str | None = param(None, DISTANCES_HELP, if_given=True)

    eps_: float = learned()
    core_: Array = learned()
    """The core rows, or the places of their columns of distances."""
    core_cluster_: Codes = learned()
    cluster_count_: int = learned()
    """Noise is one of them."""
    noise_: int = learned()
    """How many training rows are in no cluster."""
    curve_: Array = learned()
    """The k-distances: those to the min_rows-th row, itself included, sorted."""

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Find the core rows, and those that are linked."""
        X, given = self.points_and_distances(data)
        k = min(self.min_rows, len(X))
        if given is None:
            points = DistinctRows.of(X)
            reach = Neighbourhoods(points, points, k, within=False).each(lambda near: near.kth)[points.point_of]
        else:
            reach = np.partition(given, k - 1, axis=1)[:, k - 1]
        self.curve_ = curve = np.sort(reach)
        elbow = len(curve) - 1
        if len(curve) > 2:  # the farthest point below the line from the first to the last
            elbow = int(np.argmax(np.linspace(curve[0], curve[-1], len(curve)) - curve))
        self.eps_ = self.eps or (float(curve[elbow]) or 1.0)
        core = np.flatnonzero((reach <= self._limit) & (len(X) >= self.min_rows))
        if given is not None:
            linked = linked_by(len(core), lambda a, b: given[np.ix_(core[a], core[b])] <= self._limit)
        elif loops_pay(len(core) ** 2):
            linked = KDTree.of(X[core]).linked(self._limit)
        else:
            Z, limit = X[core], self._limit**2
            linked = linked_by(len(core), lambda a, b: squared_differences(Z[a], Z[b]) <= limit)
        count = int(linked.max(initial=-1)) + 1
        self.core_ = X[core] if given is None else data.rows[core].astype(np.float64)
        self.core_cluster_, self.cluster_count_ = linked, count + 1
        cluster = self.cluster_of(data.table)
        self.noise_ = int((cluster == count).sum())
        if count:  # number the clusters by their rows
            inside = cluster < count
            order = largest_first(X[inside], cluster[inside], count, data.weights[inside])
            self.core_cluster_ = np.argsort(order).astype(np.int32)[self.core_cluster_]
        else:
            message = f"no row has {self.min_rows} rows within {self.eps_:g}: all are noise; a larger eps may help"
            warnings.warn(message, MlcliWarning, stacklevel=3)

    @property
    def _limit(self) -> float:
        """Distances that differ from eps by rounding are within it."""
        return self.eps_ * (1 + SAME)

    def cluster_of(self, table: Table) -> Codes:
        """The cluster of the nearest core row within eps, else noise."""
        noise = self.cluster_count_ - 1
        result = np.full(len(table), noise, np.int32)
        if not len(self.core_cluster_):
            return result
        if self.distances is not None:
            apart = distances_to_rows(table, self.distances)[:, self.core_.astype(np.intp)]
            near = apart.argmin(axis=1)
            inside = apart[np.arange(len(apart)), near] <= self._limit
            return np.where(inside, self.core_cluster_[near], noise).astype(np.int32)
        core = DistinctRows.of(self.core_)
        for pairs in nearest(DISTANCES["euclidean"], of_numbers(table.numbers), of_numbers(core.points), 1):
            near = pairs.keep(pairs.begins)
            inside = near.distance <= self._limit
            result[near.query] = np.where(inside, self.core_cluster_[core.first[near.stored]], noise)
        return result

    def cluster_count(self) -> int:
        """The clusters, and noise."""
        return self.cluster_count_

    def cluster_names(self) -> tuple[str, ...]:
        """Numbers, and a word for noise."""
        return (*map(str, range(self.cluster_count_ - 1)), NOISE)

    def noise_cluster(self) -> int | None:
        """The last."""
        return self.cluster_count_ - 1

    def check_learned(self) -> None:
        """A cluster for each core row."""
        if len(self.core_) != len(self.core_cluster_) or self.cluster_count_ < 1:
            raise ValueError("clusters that do not fit the core rows")
        if ((self.core_cluster_ < 0) | (self.core_cluster_ >= max(1, self.cluster_count_ - 1))).any():
            raise ValueError("core rows in clusters that are not there")

    def explain(self) -> findings.Explanation:
        """How many rows are core rows or noise, and the curve that eps may be read from."""
        how = "given" if self.eps else "the elbow of the curve below"
        count, core = self.cluster_count_ - 1, len(self.core_cluster_)
        lines = (
            f"{count} cluster{'s' * (count != 1)} of {core} core rows; {self.noise_} rows are noise",
            f"eps {self.eps_:.6g}, {how}; {self.min_rows} rows within it make a core row",
        )
        shown = np.unique(np.linspace(0, len(self.curve_) - 1, 60).astype(np.intp))
        title = f"Sorted k-distances (k = {self.min_rows}, each row the first neighbour of itself)"
        line = tuple(self.curve_[shown].tolist())
        points = tuple((shown + 1.0).tolist())
        return (
            findings.Lines("Clusters, core rows and noise", lines),
            findings.Curve(title, "row", points, (("distance", line),), note=f"eps is {self.eps_:.4g}"),
        )


def linked_by(rows: int, near: Callable[[Rows, Rows], Flags]) -> Codes:
    """The cluster of each row: those linked from neighbour to neighbour; ``near`` tells which rows are near."""
    cluster = np.full(rows, -1, np.int32)
    while (cluster < 0).any():
        reached, number = np.flatnonzero(cluster < 0)[:1], cluster.max() + 1
        while len(reached):
            cluster[reached] = number
            left = np.flatnonzero(cluster < 0)
            reached = left[near(reached, left).any(axis=0)]
    return cluster
