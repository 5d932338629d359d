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

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ComparesPairs
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.distance_matrix import DISTANCES_HELP, TransductiveClusterer
from mlcli.models.clusters._merging import LINKAGES, Merges, merges_of, merges_of_distances
from mlcli.tasks.clustering import ClusteredRows, Clusterer

LEAVES = 12
"""Leaves at most; each stands for the rows that merged before."""
LAST = 10
"""Merges that are listed."""
NAMED = 6
"""Rows of a part of a merge that are named; of more there is their number."""


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
        return (
            dendrogram(title, self.merges, self.cluster_, self._reading()),
            findings.Table("Last merges", header, last_merges(self.merges)),
        )

    def _reading(self) -> str:
        """How to read the dendrogram, and where heights fall."""
        falls = int((np.diff(self.heights_) < 0).sum())
        lie = "merge lies" if falls == 1 else "merges lie"
        inverted = f"; {falls} {lie} lower than the one before (inversions)" if falls else ""
        scale = f"heights of merges from left (0) to right ({self.heights_.max():.4g})"
        return f"{scale}; the longer a line, the clearer its cluster{inverted}"


def last_merges(merges: Merges) -> tuple[tuple[findings.Entry, ...], ...]:
    """How many clusters each of the last merges leaves, its height, and the rows of its two parts."""
    rows = len(merges.heights) + 1
    sizes = np.concatenate([np.ones(rows, np.intp), merges.sizes])
    steps = range(rows - 2, max(-1, rows - 2 - LAST), -1)
    parts = ([_rows(merges, part, sizes[part]) for part in merges.children[step]] for step in steps)
    return tuple(
        (rows - 1 - step, float(merges.heights[step]), *two) for step, two in zip(steps, parts, strict=True)
    )


def _rows(merges: Merges, part: int, size: int) -> str:
    """The rows of a part, by their numbers where they are few."""
    if size > NAMED:
        return f"{size} rows"
    return f"{'row' if size == 1 else 'rows'} {', '.join(str(row + 1) for row in merges.rows_below(part))}"


def dendrogram(title: str, merges: Merges, cluster: Codes, note: str) -> findings.Dendrogram:
    """The last merges of some rows that are cut into clusters."""
    rows = len(merges.heights) + 1
    first = max(rows, 2 * rows - 1 - (LEAVES - 1))
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
    found, waiting = [], [2 * rows - 2]
    while waiting:
        node = waiting.pop()
        if node < first:
            found.append(node)
        else:
            waiting += sorted(map(int, merges.children[node - rows]), key=lambda part: (int(sizes[part]), -part))
    return found


def _name(merges: Merges, leaf: int, cluster: Codes) -> str:
    """The cluster of a leaf, or clusters where it holds several, and its rows."""
    members = merges.rows_below(leaf)
    held = np.unique(cluster[members]).tolist()
    which = f"cluster {held[0]}" if len(held) == 1 else f"{len(held)} clusters"
    return f"{which}: row {leaf + 1}" if leaf < len(cluster) else f"{which}: {len(members)} rows"
