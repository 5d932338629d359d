"""Agglomerative clustering: begins with every row alone and merges the two nearest clusters until few are left.

Formula:
    The distance of two clusters is the smallest distance between their rows (single), the largest (complete), the
    mean (average), that of their means (centroid), or √(2ab/(a+b)) times that of their means for a and b rows
    (ward: the merge that adds least to WCSS). The last clusters − 1 merges are undone; or all above `height`.

Assumes:
    Columns on one scale. single follows chains of rows, complete and ward make round clusters of similar width,
    centroid may merge at a smaller height than before (an inversion), since centres move.

Cost:
    About rows² × columns in time. single, centroid and ward hold only the rows in memory, complete and average 8
    bytes for each pair of rows, both ways.

Choices:
    Distances are Euclidean, or given: `distances: "*"` takes every column as the distances to a row of the file,
    in its order (centroid and ward then treat them as Euclidean). Of equal distances the first pair merges (the
    notes leave it open). It can only place the rows that it was fitted on, which it recognises by every digit of
    their cells. Clusters are numbered from the largest to the smallest.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ComparesPairs
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.centres import squared_differences
from mlcli.engines.distance_matrix import DISTANCES_HELP, TransductiveClusterer
from mlcli.tasks.clustering import ClusteredRows, Clusterer

LINKAGES = ("single", "complete", "average", "centroid", "ward")
SQUARED = ("centroid", "ward")
"""Linkages whose formulas are of squared distances; heights are the roots."""
COMPILED_FROM = 1_500
"""The number of rows from which loading compiled loops (0.3 s) pays."""
MATRIX_AT_MOST = 32_000
"""Rows whose matrix of distances is made: 8 bytes for each pair, both ways, are 8 GB."""


@register("agglomerative", reference="Lance & Williams 1967; Ward 1963; Müllner 2011", revision=2)
class Agglomerative(TransductiveClusterer, Clusterer, ComparesPairs):
    """A tree of merges, and its cut."""

    linkage: str = param("ward", "distance between two clusters", choices=LINKAGES)
    clusters: int = param(
        3,
        "number of clusters, unless a height is given",
        ge=1,
        tune=(2, 10),
        matters_when={"height": None},
    )
    height: float | None = param(None, "clusters merge up to this height, whatever their number", ge=0)

    distances: str | None = param(None, DISTANCES_HELP, if_given=True)

    merged_: Rows = learned("merges", 2)
    heights_: Array = learned("merges")
    sizes_: Rows = learned("merges")

    @property
    def bytes_per_pair(self) -> float:
        """Complete and average linkage hold a matrix of distances."""
        return 9.0 if self.linkage in ("complete", "average") else 0.0

    @property
    def merges(self) -> Merges:
        """Every merge, in order."""
        return Merges(self.merged_, self.heights_, self.sizes_)

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Merge all the way, then cut."""
        X, given = self.points_and_distances(data)
        if self.height is None and len(X) < self.clusters:
            message = f"there are fewer rows ({len(X)}) than clusters were asked for ({self.clusters})"
            warnings.warn(message, MlcliWarning, stacklevel=2)
        if given is None:
            merges = merges_of(X - X.mean(axis=0), self.linkage)
        else:
            squared = given**2 if self.linkage in SQUARED else given.copy()
            merges = Merges.of(self.linkage, *_merge_by_distances(squared, self.linkage))
        self.merged_, self.heights_, self.sizes_ = merges.children, merges.heights, merges.sizes
        cluster = merges.cut_into(self.clusters) if self.height is None else merges.cut_at(self.height)
        self.keep(data, X, cluster)

    def check_learned(self) -> None:
        """Merges that make a tree of all rows, and a cluster for each."""
        merges = len(self.heights_)
        if len(self.cluster_) != merges + 1:
            raise ValueError("merges that do not fit the rows")
        all_once = np.array_equal(np.sort(self.merged_, axis=None), np.arange(2 * merges))
        if not all_once or (self.merged_ >= np.arange(merges)[:, None] + merges + 1).any():
            raise ValueError("merges that make no tree")
        super().check_learned()

    def explain(self) -> findings.Explanation:
        """The last merges as a dendrogram, and as a table."""
        if len(self.heights_) == 0:
            return (findings.Lines("One row", ("there is nothing to merge",)),)
        inversions = int((np.diff(self.heights_) < 0).sum())
        note = f"heights of merges from left (0) to right ({self.heights_.max():.4g})"
        note += "; the longer a line, the clearer its cluster"
        if inversions:
            lie = "merge lies" if inversions == 1 else "merges lie"
            note += f"; {inversions} {lie} lower than the one before (inversions)"
        header = ("clusters left", "height", "one", "the other")
        return (
            dendrogram(f"Dendrogram ({self.linkage} linkage)", self.merges, self.cluster_, note),
            findings.Table("Last merges", header, last_merges(self.merges)),
        )


@dataclass(frozen=True, eq=False)
class Merges:
    """Every merge in order: its two clusters (rows are 0..n−1, the s-th merge makes n+s), its height, its rows."""

    children: Rows
    heights: Array
    sizes: Rows

    @classmethod
    def of(cls, linkage: str, pairs: Rows, heights: Array) -> Merges:
        """From two rows of each merge, one of either cluster, and its height; of single linkage in any order."""
        if linkage == "single":
            order = np.argsort(heights, kind="stable")
            pairs, heights = pairs[order], heights[order]
        rows = len(heights) + 1
        parent, sizes = list(range(rows + len(heights))), [1] * rows
        children = np.empty((len(heights), 2), np.intp)

        def cluster_of(row: int) -> int:
            while parent[row] != row:
                parent[row] = parent[parent[row]]  # a shorter path for the next time
                row = parent[row]
            return row

        for step, (row, other_row) in enumerate(pairs.tolist()):
            first, second = cluster_of(row), cluster_of(other_row)
            children[step] = min(first, second), max(first, second)
            parent[first] = parent[second] = rows + step
            sizes.append(sizes[first] + sizes[second])
        return cls(children, heights, np.array(sizes[rows:], dtype=np.intp))

    def cut_into(self, clusters: int) -> Codes:
        """The cluster of each row when so many are left."""
        return self._labels(np.arange(len(self.heights)) <= len(self.heights) - clusters)

    def cut_at(self, height: float) -> Codes:
        """The cluster of each row where clusters merge up to a height, and so did all parts of theirs."""
        rows = len(self.heights) + 1
        highest = np.concatenate([np.zeros(rows), self.heights])
        for step, parts in enumerate(self.children):
            highest[rows + step] = max(highest[rows + step], *highest[parts])
        return self._labels(highest[rows:] <= height)

    def _labels(self, done: Flags) -> Codes:
        """The cluster of each row after some of the merges."""
        rows = len(self.heights) + 1
        top = np.arange(rows + len(self.heights))
        for step in np.flatnonzero(done)[::-1]:  # from the root down
            top[self.children[step]] = top[rows + step]
        return np.unique(top[:rows], return_inverse=True)[1].astype(np.int32)

    def rows_below(self, cluster: int) -> Rows:
        """The rows of a cluster of the tree."""
        rows, results, waiting = len(self.heights) + 1, [], [cluster]
        while waiting:
            node = waiting.pop()
            if node < rows:
                results.append(node)
            else:
                waiting += self.children[node - rows].tolist()
        return np.array(sorted(results), dtype=np.intp)


# Merging: with a matrix of distances in NumPy, or for many rows in compiled loops.


def merges_of(X: Array, linkage: str) -> Merges:
    """All merges of some rows."""
    merge = merged_by_matrix if len(X) < COMPILED_FROM else merged_by_loops
    return Merges.of(linkage, *merge(X, linkage))


def merged_by_matrix(X: Array, linkage: str) -> tuple[Rows, Array]:
    """Two rows of each merge, one of either cluster, and its height."""
    squared = squared_differences(X, X)
    return _merge_by_distances(squared if linkage in SQUARED else np.sqrt(squared), linkage)


def _merge_by_distances(distances: Array, linkage: str) -> tuple[Rows, Array]:
    """Merge the two nearest clusters, of equals the first, until there is one; the matrix is overwritten."""
    rows = len(distances)
    np.fill_diagonal(distances, np.inf)
    near, sizes, alive = distances.argmin(axis=1), np.ones(rows), np.ones(rows, np.bool_)
    low = distances.min(axis=1)  # the distance to the nearest cluster, or less
    pairs, heights = np.empty((rows - 1, 2), np.intp), np.empty(rows - 1)
    for step in range(rows - 1):
        first = int(low.argmin())
        while distances[first, near[first]] > low[first]:  # correct ``low`` where it matters
            near[first] = distances[first].argmin()
            low[first] = distances[first, near[first]]
            first = int(low.argmin())
        i, j = sorted((first, int(near[first])))
        pairs[step], heights[step] = (i, j), distances[i, j]
        merged = _merged_distances(linkage, distances[i], distances[j], heights[step], sizes[i], sizes[j], sizes)
        alive[j], sizes[i] = False, sizes[i] + sizes[j]
        merged = np.where(alive, merged, np.inf)
        merged[i] = np.inf
        distances[i] = distances[:, i] = merged
        distances[j] = distances[:, j] = low[j] = np.inf
        nearer = merged < low
        near[nearer], low[nearer] = i, merged[nearer]
        near[near == j] = i
        near[i] = merged.argmin()
        low[i] = merged[near[i]]
    return pairs, np.sqrt(np.maximum(heights, 0.0)) if linkage in SQUARED else heights


def _merged_distances(
    linkage: str, first: Array, second: Array, between: float, a: float, b: float, sizes: Array
) -> Array:
    """The distances of a merged cluster from those of its parts of a and b rows (Lance & Williams 1967)."""
    if linkage == "single":
        return np.minimum(first, second)
    if linkage == "complete":
        return np.maximum(first, second)
    if linkage == "average":
        return a / (a + b) * first + b / (a + b) * second
    if linkage == "centroid":
        share, other = a / (a + b), b / (a + b)
        return share * first + other * second - share * other * between
    return ((a + sizes) * first + (b + sizes) * second - sizes * between) / (a + b + sizes)


def merged_by_loops(X: Array, linkage: str) -> tuple[Rows, Array]:
    """The same in compiled loops; single, centroid and ward linkage hold no more than the rows."""
    from mlcli.kernels.clusters import merging

    rows, columns = len(X), np.array(X.T, order="C")
    pairs, heights = np.empty((rows - 1, 2), np.intp), np.empty(rows - 1)
    if linkage == "single":
        merging.spanning_tree(columns, pairs, heights)
        return pairs, np.sqrt(heights)
    if linkage in SQUARED:
        merging.merge_centres(columns, merging.WARD if linkage == "ward" else merging.CENTROID, pairs, heights)
        return pairs, np.sqrt(heights)
    if rows > MATRIX_AT_MOST:
        message = f"{linkage} linkage of {rows:,} rows needs a matrix of {8e-9 * rows**2:.0f} GB"
        raise FitError(message, hint="single, centroid and ward linkage and k-means hold no more than the rows")
    rule = merging.COMPLETE if linkage == "complete" else merging.AVERAGE
    merging.merge_matrix(merging.between(columns), rule, pairs, heights)
    return pairs, heights


# Explanations.


def last_merges(merges: Merges) -> tuple[tuple[findings.Entry, ...], ...]:
    """How many clusters each of the last ten merges leaves, its height, and the rows of its two parts."""
    rows = len(merges.heights) + 1
    sizes = np.concatenate([np.ones(rows, np.intp), merges.sizes])
    lines: list[tuple[findings.Entry, ...]] = []
    for step in range(rows - 2, max(-1, rows - 2 - 10), -1):
        parts = []
        for part in merges.children[step]:
            numbers = ", ".join(str(row + 1) for row in merges.rows_below(part)) if sizes[part] <= 6 else ""
            singular = "row" if sizes[part] == 1 else "rows"
            parts.append(f"{singular} {numbers}" if numbers else f"{sizes[part]} rows")
        lines.append((rows - 1 - step, float(merges.heights[step]), *parts))
    return tuple(lines)


def dendrogram(title: str, merges: Merges, cluster: Codes, note: str) -> findings.Dendrogram:
    """The last merges, with at most 12 leaves, each of which stands for the rows that merged before."""
    rows = len(merges.heights) + 1
    sizes = np.concatenate([np.ones(rows, np.intp), merges.sizes])
    first = max(rows, 2 * rows - 1 - 11)  # the first merge that is shown
    leaves, waiting = list[int](), [2 * rows - 2]
    while waiting:  # from top to bottom; the larger part is above
        node = waiting.pop()
        if node < first:
            leaves.append(node)
        else:
            waiting += sorted(map(int, merges.children[node - rows]), key=lambda part: (int(sizes[part]), -part))
    names = []
    for leaf in leaves:
        members = merges.rows_below(leaf)
        inside = np.unique(cluster[members]).tolist()
        which = f"cluster {inside[0]}" if len(inside) == 1 else f"{len(inside)} clusters"
        names.append(f"{which}: row {leaf + 1}" if leaf < rows else f"{which}: {len(members)} rows")
    numbers = {node: number for number, node in enumerate([*leaves, *range(first, 2 * rows - 1)])}
    pairs = [sorted(numbers[int(part)] for part in parts) for parts in merges.children[first - rows :]]
    joined = tuple((upper, lower) for upper, lower in pairs)
    heights = tuple(merges.heights[first - rows :].tolist())
    return findings.Dendrogram(title, tuple(names), joined, heights, note=note)
