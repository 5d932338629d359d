"""DBSCAN: groups are rows that lie densely together, reached from neighbour to neighbour; lone rows are in none.

Formula:
    A row is a core row if at least `min_rows` rows, itself included, lie within `eps` of it. Core rows within
    `eps` of each other are in one group, and so are all that are linked by such steps. A row that is no core row
    belongs to the group of the nearest core row within `eps`; if there is none, it is noise, whose group is called
    none.

Assumes:
    Columns on one scale, and groups of about the same density; they may have any form.

Cost:
    A search of `min_rows` neighbours for each row, by a k-d tree or in blocks (rows² × columns); a walk over a
    tree of the core rows, past boxes that are linked already; a search of the nearest core row for each row asked.

Choices:
    Where `eps` is not given, it is where the curve of the distances to the `min_rows`-th row, sorted, bends most:
    farthest below the line from its first to its last point. A row between two groups goes to the nearer core row,
    so that the order of rows does not matter (the paper takes the group that is found first). New rows are placed
    in the same way. Groups are numbered from the largest to the smallest, noise last; scores take noise for one
    group, but for the silhouette, where it counts 0 and is nobody's neighbour.
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
from mlcli.engines.neighbours.distances import DISTANCES
from mlcli.engines.neighbours.neighbourhoods import Neighbourhoods
from mlcli.engines.neighbours.points import SAME, DistinctRows, of_numbers
from mlcli.engines.neighbours.search import KDTree, loops_pay, nearest
from mlcli.tasks.clustering import ClusteredRows, Clusterer
from mlcli.tasks.grouping import largest_first

POINTS_SHOWN = 60
NOISE = "none"


@register("dbscan", reference="Ester, Kriegel, Sander & Xu 1996; Schubert et al. 2017")
class DBSCAN(DistanceClusterer, Clusterer):
    """Core rows, what they reach, and noise."""

    eps: float | None = param(None, "how far neighbours are apart at most; where the distances bend if none", gt=0)
    min_rows: int = param(10, "how many rows, itself included, a core row has within eps", ge=1)
    distances: str | None = param(None, DISTANCES_HELP, if_given=True)

    eps_: float = learned()
    core_: Array = learned()
    """The core rows, or the places of their columns of distances."""
    core_group_: Codes = learned()
    groups_: int = learned()
    noise_: int = learned()
    """How many training rows are in no group."""
    curve_: Array = learned()
    """The distances to the min_rows-th row, sorted."""

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Find the core rows, and those that are linked."""
        X, given = self.points_and_distances(data)
        k = min(self.min_rows, len(X))
        reach = kth_distances(X, k) if given is None else np.partition(given, k - 1, axis=1)[:, k - 1]
        self.curve_ = np.sort(reach)
        self.eps_ = self.eps or (float(self.curve_[bend(self.curve_)]) or 1.0)
        core = np.flatnonzero((reach <= self._limit) & (len(X) >= self.min_rows))
        if given is None:
            linked = linked_points(X[core], self._limit)
        else:
            linked = linked_by(len(core), lambda a, b: given[np.ix_(core[a], core[b])] <= self._limit)
        count = int(linked.max(initial=-1)) + 1
        self.core_ = X[core] if given is None else data.rows[core].astype(np.float64)
        self.core_group_, self.groups_ = linked, count + 1
        self._number(data, X, count)

    @property
    def _limit(self) -> float:
        """Distances that differ from eps by rounding are within it."""
        return self.eps_ * (1 + SAME)

    def _number(self, data: ClusteredRows, X: Array, count: int) -> None:
        """Number the groups by their rows, noise last; warn where there is nothing else."""
        group = self.cluster_of(data.table)
        self.noise_ = int((group == count).sum())
        if count:
            inside = group < count
            order = largest_first(X[inside], group[inside], count, data.weights[inside])
            self.core_group_ = np.argsort(order).astype(np.int32)[self.core_group_]
        else:
            text = f"no row has {self.min_rows} rows within {self.eps_:g}: all are noise; a larger eps may help"
            warnings.warn(text, MlcliWarning, stacklevel=3)

    def cluster_of(self, table: Table) -> Codes:
        """The group of the nearest core row within eps, else noise."""
        noise = self.groups_ - 1
        found = np.full(len(table), noise, np.int32)
        if not len(self.core_group_):
            return found
        if self.distances is not None:
            apart = distances_to_rows(table, self.distances)[:, self.core_.astype(np.intp)]
            near = apart.argmin(axis=1)
            inside = apart[np.arange(len(apart)), near] <= self._limit
            return np.where(inside, self.core_group_[near], noise).astype(np.int32)
        core = DistinctRows.of(self.core_)
        for pairs in nearest(DISTANCES["euclidean"], of_numbers(table.numbers), of_numbers(core.points), 1):
            near = pairs.keep(pairs.begins)
            inside = near.distance <= self._limit
            found[near.asked] = np.where(inside, self.core_group_[core.first[near.stored]], noise)
        return found

    def groups(self) -> int:
        """The groups, and noise."""
        return self.groups_

    def group_names(self) -> tuple[str, ...]:
        """Numbers, and a word for noise."""
        return (*map(str, range(self.groups_ - 1)), NOISE)

    def noise_group(self) -> int | None:
        """The last."""
        return self.groups_ - 1

    def check_learned(self) -> None:
        """A group for each core row."""
        if len(self.core_) != len(self.core_group_) or self.groups_ < 1:
            raise ValueError("groups that do not fit the core rows")
        if ((self.core_group_ < 0) | (self.core_group_ >= max(1, self.groups_ - 1))).any():
            raise ValueError("core rows in groups that are not there")

    def explain(self) -> findings.Explanation:
        """How many rows are what, and the curve that eps may be read from."""
        how = "given" if self.eps else "where the curve below bends most"
        lines = (
            f"{self.groups_ - 1} groups of {len(self.core_group_)} core rows; {self.noise_} rows are noise",
            f"eps {self.eps_:.6g}, {how}; {self.min_rows} rows within it make a core row",
        )
        shown = np.unique(np.linspace(0, len(self.curve_) - 1, POINTS_SHOWN).astype(np.intp))
        title = f"Distance to row {self.min_rows} of the nearest (itself the first), sorted"
        line = tuple(self.curve_[shown].tolist())
        points = tuple((shown + 1.0).tolist())
        return (
            findings.Lines("Groups by density", lines),
            findings.Curve(title, "row", points, (("distance", line),), note=f"eps is {self.eps_:.4g}"),
        )


def kth_distances(X: Array, k: int) -> Array:
    """The distance of each row to the k-th nearest, itself the first."""
    points = DistinctRows.of(X)
    around = Neighbourhoods(points, points, k, within=False)
    return around.each(lambda near: near.kth)[points.point_of]


def bend(curve: Array) -> int:
    """The place of an ascending curve that lies farthest below the line from its first to its last point."""
    if len(curve) < 3:
        return len(curve) - 1
    line = np.linspace(curve[0], curve[-1], len(curve))
    return int(np.argmax(line - curve))


def linked_points(X: Array, limit: float) -> Codes:
    """The group of each row: those within a distance of each other, from neighbour to neighbour."""
    if loops_pay(len(X) ** 2):
        return KDTree.of(X).linked(limit)
    return linked_by(len(X), lambda some, others: squared_differences(X[some], X[others]) <= limit * limit)


def linked_by(rows: int, near: Callable[[Rows, Rows], Flags]) -> Codes:
    """The same, by what says which of some rows are near to which others."""
    group = np.full(rows, -1, np.int32)
    while (group < 0).any():
        reached, number = np.flatnonzero(group < 0)[:1], group.max() + 1
        while len(reached):
            group[reached] = number
            left = np.flatnonzero(group < 0)
            reached = left[near(reached, left).any(axis=0)]
    return group
