"""Agglomerative clustering: begins with every row alone and merges the two nearest clusters until few are left.

Formula:
    The distance of two clusters is the smallest distance between their rows (single), the largest (complete), the
    mean (average), that of their means (centroid), or √(2ab/(a+b)) times that of their means for a and b rows
    (ward: the merge that adds least to WCSS). The last clusters − 1 merges are undone; or all above `height`.

Assumes:
    Columns on one scale. single follows chains of rows, complete and ward make round clusters of like width,
    centroid may merge at a smaller height than before (an inversion), as centres drift.

Cost:
    Of the order of rows² × columns in time. single, centroid and ward hold the rows alone, complete and average
    8 bytes for each pair of rows, both ways.

Choices:
    Distances are Euclidean, or given: `distances: "*"` takes every column as the distances to a row of the file,
    in its order (centroid and ward then take them as Euclidean). Of equal distances the first pair merges (the
    notes leave it open). It can only place the rows that it was fitted on, which it knows again by every digit of
    their cells. Clusters are numbered from the largest to the smallest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
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

# How clusters merge, two by two, from single rows to all in one, by any linkage.
#
# Small tables are merged by a matrix of distances in NumPy. Of large ones, single, centroid and ward hold no more
# than the rows, complete and average a matrix.

COMPILED_FROM = 1_500
"""From how many rows on loading the compiled loops (0.3 s) pays."""
MATRIX_AT_MOST = 32_000
"""Rows of which a matrix of distances is made: 8 bytes for each pair, both ways, are 8 GB."""
MATRIX_FREE = ("single", "centroid", "ward")

Found = tuple[Rows, Array]
"""Two rows of each merge, one of either cluster, and its height."""


@dataclass(frozen=True)
class Linkage:
    """The distances of a merged cluster from those of its two parts (Lance & Williams 1967).

    ``joined`` takes the distances of both to every cluster and to each other, and the sizes of both and of all.
    """

    joined: Callable[[Array, Array, float, float, float, Array], Array]
    squared: bool = False
    """Whether the formula is one of squared distances; the heights are their roots."""


def _centroid(first: Array, second: Array, between: float, a: float, b: float, sizes: Array) -> Array:
    """The squared distance between their means."""
    value, other = a / (a + b), b / (a + b)
    return value * first + other * second - value * other * between


def _ward(first: Array, second: Array, between: float, a: float, b: float, sizes: Array) -> Array:
    """Twice what merging adds to the sum of squared distances to the means."""
    return ((a + sizes) * first + (b + sizes) * second - sizes * between) / (a + b + sizes)


LINKAGES = {
    "single": Linkage(lambda first, second, *_: np.minimum(first, second)),
    "complete": Linkage(lambda first, second, *_: np.maximum(first, second)),
    "average": Linkage(lambda first, second, between, a, b, sizes: a / (a + b) * first + b / (a + b) * second),
    "centroid": Linkage(_centroid, squared=True),
    "ward": Linkage(_ward, squared=True),
}


@dataclass(frozen=True, eq=False)
class Merges:
    """Every merge in order: its two clusters (rows are 0..n−1, the s-th merge makes n+s), its height, its rows."""

    children: Rows
    heights: Array
    sizes: Rows

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

    def rows_below(self, cluster: int) -> Rows:
        """The rows of a cluster of the tree."""
        rows, results, waiting = len(self.heights) + 1, [], [cluster]
        while waiting:
            index = waiting.pop()
            if index < rows:
                results.append(index)
            else:
                waiting += self.children[index - rows].tolist()
        return np.array(sorted(results), dtype=np.intp)

    def _labels(self, done: Flags) -> Codes:
        """The cluster of each row after some of the merges."""
        rows = len(self.heights) + 1
        top = np.arange(rows + len(self.heights))
        # From the root down, so that each part learns what its whole has become.
        for step in np.flatnonzero(done)[::-1]:
            top[self.children[step]] = top[rows + step]
        return np.unique(top[:rows], return_inverse=True)[1].astype(np.int32)


def merges_of(X: Array, linkage: str) -> Merges:
    """All merges of some rows."""
    return _in_order(linkage, *(merged_by_matrix if len(X) < COMPILED_FROM else merged_by_loops)(X, linkage))


def merges_of_distances(distances: Array, linkage: str) -> Merges:
    """All merges of rows that are known by their distances."""
    squared = LINKAGES[linkage].squared
    return _in_order(linkage, *_merged(distances**2 if squared else distances.copy(), LINKAGES[linkage]))


def _in_order(linkage: str, pairs: Rows, heights: Array) -> Merges:
    order = np.argsort(heights, kind="stable") if linkage == "single" else np.arange(len(heights))
    return _numbered(pairs[order], heights[order])


def merged_by_matrix(X: Array, linkage: str) -> Found:
    """Merge the two nearest clusters, of equals the first, until there is one."""
    rule, squared = LINKAGES[linkage], squared_differences(X, X)
    return _merged(squared if rule.squared else np.sqrt(squared), rule)


def _merged(distances: Array, rule: Linkage) -> Found:
    """The same by a matrix, which is used up."""
    rows = len(distances)
    np.fill_diagonal(distances, np.inf)
    near, sizes, alive = distances.argmin(axis=1), np.ones(rows), np.ones(rows, np.bool_)
    low = distances.min(axis=1)
    pairs, heights = np.empty((rows - 1, 2), np.intp), np.empty(rows - 1)
    for step in range(rows - 1):
        first = _nearest_to_any(distances, low, near)
        i, j = sorted((first, int(near[first])))
        pairs[step], heights[step] = (i, j), distances[i, j]
        joined = rule.joined(distances[i], distances[j], heights[step], sizes[i], sizes[j], sizes)
        alive[j], sizes[i] = False, sizes[i] + sizes[j]
        joined = np.where(alive, joined, np.inf)
        joined[i] = np.inf
        distances[i] = distances[:, i] = joined
        distances[j] = distances[:, j] = low[j] = np.inf
        nearer = joined < low
        near[nearer], low[nearer] = i, joined[nearer]
        near[near == j] = i
        near[i] = joined.argmin()
        low[i] = joined[near[i]]
    return pairs, np.sqrt(np.maximum(heights, 0.0)) if rule.squared else heights


def _nearest_to_any(distances: Array, low: Array, near: Rows) -> int:
    """The first cluster with the nearest other one; where ``low`` is too small and matters, it is put right."""
    first = int(low.argmin())
    while distances[first, near[first]] > low[first]:
        near[first] = distances[first].argmin()
        low[first] = distances[first, near[first]]
        first = int(low.argmin())
    return first


def merged_by_loops(X: Array, linkage: str) -> Found:
    """The same in compiled loops."""
    from mlcli.kernels.clusters.merging import (
        AVERAGE,
        CENTROID,
        COMPLETE,
        WARD,
        between,
        merge_centres,
        merge_matrix,
        spanning_tree,
    )

    rows, across = len(X), np.array(X.T, order="C")
    pairs, heights = np.empty((rows - 1, 2), np.intp), np.empty(rows - 1)
    if linkage in MATRIX_FREE:
        if linkage == "single":
            spanning_tree(across, pairs, heights)
        else:
            merge_centres(across, {"centroid": CENTROID, "ward": WARD}[linkage], pairs, heights)
        return pairs, np.sqrt(heights)
    if rows > MATRIX_AT_MOST:
        what = f"{linkage} linkage of {rows:,} rows needs a matrix of {8e-9 * rows**2:.0f} GB"
        raise FitError(what, hint="single, centroid and ward linkage and k-means hold no more than the rows")
    merge_matrix(between(across), {"complete": COMPLETE, "average": AVERAGE}[linkage], pairs, heights)
    return pairs, heights


def _numbered(pairs: Rows, heights: Array) -> Merges:
    """The merges with the numbers of the clusters that the rows of each pair are in by then."""
    rows = len(heights) + 1
    parent = list(range(rows + len(heights)))
    sizes = [1] * rows
    children = np.empty((len(heights), 2), np.intp)
    for step, pair in enumerate(pairs.tolist()):
        index, other = (_root(parent, row) for row in pair)
        children[step] = min(index, other), max(index, other)
        parent[index] = parent[other] = rows + step
        sizes.append(sizes[index] + sizes[other])
    return Merges(children, heights, np.array(sizes[rows:], dtype=np.intp))


def _root(parent: list[int], cluster: int) -> int:
    """The cluster that a row is in by now; the way to it is shortened for the next time."""
    while parent[cluster] != cluster:
        parent[cluster] = parent[parent[cluster]]
        cluster = parent[cluster]
    return cluster


@register("agglomerative", reference="Lance & Williams 1967; Ward 1963; Müllner 2011", revision=2)
class Agglomerative(TransductiveClusterer, Clusterer, ComparesPairs):
    """A tree of merges, and its cut."""

    linkage: str = param("ward", "how far two clusters are apart", choices=tuple(LINKAGES))
    clusters: int = param(
        3,
        "how many clusters are left, where no height is given",
        ge=1,
        tune=(2, 10),
        matters_when={"height": None},
    )
    height: float | None = param(None, "up to which height clusters merge, whatever their number", ge=0)

    distances: str | None = param(None, DISTANCES_HELP, if_given=True)

    @property
    def bytes_per_pair(self) -> float:
        """A matrix of distances, where the linkage needs one."""
        return 9.0 if self.linkage in ("complete", "average") else 0.0

    merged_: Rows = learned("merges", 2)
    heights_: Array = learned("merges")
    sizes_: Rows = learned("merges")

    @property
    def merges(self) -> Merges:
        """Every merge, in order."""
        return Merges(self.merged_, self.heights_, self.sizes_)

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Merge all the way, then cut."""
        X, given = self.points_and_distances(data)
        if self.height is None and len(X) < self.clusters:
            text = f"there are fewer rows ({len(X)}) than clusters were asked for ({self.clusters})"
            warnings.warn(text, MlcliWarning, stacklevel=2)
        if given is None:
            merges = merges_of(X - X.mean(axis=0), self.linkage)
        else:
            merges = merges_of_distances(given, self.linkage)
        self.merged_, self.heights_, self.sizes_ = merges.children, merges.heights, merges.sizes
        cluster = merges.cut_into(self.clusters) if self.height is None else merges.cut_at(self.height)
        self.keep(data, X, cluster)

    def check_learned(self) -> None:
        """Merges that make a tree of all rows, and a cluster for each."""
        merges = len(self.heights_)
        made = np.arange(merges)[:, None] + merges + 1
        if len(self.cluster_) != merges + 1:
            raise ValueError("merges that do not fit the rows")
        every = np.array_equal(np.sort(self.merged_, axis=None), np.arange(2 * merges))
        if not every or (self.merged_ >= made).any():
            raise ValueError("merges that make no tree")
        super().check_learned()

    def explain(self) -> findings.Explanation:
        """The last merges as a dendrogram, and as a table."""
        if len(self.heights_) == 0:
            return (findings.Lines("One row", ("there is nothing to merge",)),)
        title = f"Dendrogram ({self.linkage} linkage)"
        header = ("clusters left", "height", "one", "the other")
        # how to read the dendrogram
        falls = int((np.diff(self.heights_) < 0).sum())
        lie = "merge lies" if falls == 1 else "merges lie"
        inverted = f"; {falls} {lie} lower than the one before (inversions)" if falls else ""
        scale = f"heights of merges from left (0) to right ({self.heights_.max():.4g})"
        reading = f"{scale}; the longer a line, the clearer its cluster{inverted}"
        return (
            dendrogram(title, self.merges, self.cluster_, reading),
            findings.Table("Last merges", header, last_merges(self.merges)),
        )


def last_merges(merges: Merges) -> tuple[tuple[findings.Entry, ...], ...]:
    """How many clusters each of the last merges leaves, its height, and the rows of its two parts."""
    rows = len(merges.heights) + 1
    sizes = np.concatenate([np.ones(rows, np.intp), merges.sizes])
    # merges that are listed
    steps = range(rows - 2, max(-1, rows - 2 - 10), -1)
    parts = ([_rows(merges, part, sizes[part]) for part in merges.children[step]] for step in steps)
    return tuple(
        (rows - 1 - step, float(merges.heights[step]), *two) for step, two in zip(steps, parts, strict=True)
    )


def _rows(merges: Merges, part: int, size: int) -> str:
    """The rows of a part, by their numbers where they are few."""
    # name up to six rows; of more give the number
    if size > 6:
        return f"{size} rows"
    return f"{'row' if size == 1 else 'rows'} {', '.join(str(row + 1) for row in merges.rows_below(part))}"


def dendrogram(title: str, merges: Merges, cluster: Codes, note: str) -> findings.Dendrogram:
    """The last merges of some rows that are cut into clusters."""
    rows = len(merges.heights) + 1
    # at most 12 leaves; each stands for the rows that merged before
    first = max(rows, 2 * rows - 1 - (12 - 1))
    leaves = _leaves(merges, first)
    numbers = {part: number for number, part in enumerate([*leaves, *range(first, 2 * rows - 1)])}
    joined = [tuple(numbers[int(part)] for part in parts) for parts in merges.children[first - rows :]]
    return findings.Dendrogram(
        title,
        tuple(_name(merges, leaf, cluster) for leaf in leaves),
        tuple((min(pair), max(pair)) for pair in joined),
        tuple(merges.heights[first - rows :].tolist()),
        note=note,
    )


def _leaves(merges: Merges, first: int) -> list[int]:
    """What the merges from the one that makes ``first`` on join, from top to bottom; the larger part is above."""
    rows = len(merges.heights) + 1
    sizes = np.concatenate([np.ones(rows, np.intp), merges.sizes])
    results, waiting = [], [2 * rows - 2]
    while waiting:
        node = waiting.pop()
        if node < first:
            results.append(node)
        else:
            waiting += sorted(map(int, merges.children[node - rows]), key=lambda part: (int(sizes[part]), -part))
    return results


def _name(merges: Merges, leaf: int, cluster: Codes) -> str:
    """The cluster of a leaf, or clusters where it holds several, and its rows."""
    members = merges.rows_below(leaf)
    held = np.unique(cluster[members]).tolist()
    which = f"cluster {held[0]}" if len(held) == 1 else f"{len(held)} clusters"
    return f"{which}: row {leaf + 1}" if leaf < len(cluster) else f"{which}: {len(members)} rows"
