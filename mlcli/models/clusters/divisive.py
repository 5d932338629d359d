"""Divisive clustering (DIANA): begins with all rows in one cluster and splits the widest, until there are enough.

Formula:
    The cluster with the largest diameter (distance of two rows) is split. The row with the largest mean distance
    to the others leaves first; then, one after another, the row whose mean distance to those that stay exceeds
    that to those that left by most, until it exceeds for none.

Assumes:
    Columns on one scale. Large splits are decided first, so that a few outliers become clusters of their own.

Cost:
    For each split rows² of the cluster; 8 bytes for each pair of rows, both ways.

Choices:
    It splits until there are `clusters` clusters, or until no diameter is above `diameter`. The notes say only
    that a cluster is split; this is how Kaufman and Rousseeuw do. Distances are Euclidean, or given
    (`distances`). Of rows that are equally far away, the first in an order that follows from the cells leaves.
    It can only place the rows that it was fitted on; clusters are numbered from the largest to the smallest.
"""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ComparesPairs
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.centres import squared_differences
from mlcli.engines.content_seeds import draws
from mlcli.engines.distance_matrix import DISTANCES_HELP, TransductiveClusterer
from mlcli.tasks.clustering import ClusteredRows, Clusterer

TIE = 1e-12
"""Distances that differ by this share are ties."""


@register("divisive", reference="Kaufman & Rousseeuw 1990, Finding Groups in Data, chapter 6", revision=2)
class Divisive(TransductiveClusterer, Clusterer, ComparesPairs):
    """A cluster, split again and again."""

    bytes_per_pair = 16.0

    clusters: int = param(
        3,
        "number of clusters, unless a diameter is given",
        ge=1,
        tune=(2, 10),
        matters_when={"diameter": None},
    )
    diameter: float | None = param(None, "splits until no two rows of a cluster are farther apart", ge=0)
    distances: str | None = param(None, DISTANCES_HELP, if_given=True)

    diameters_: Array = learned("splits")
    """The diameter of each cluster that was split, in order."""
    sizes_: Rows = learned("splits", 2)
    """The rows that stayed and that left, by split."""

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Split the widest cluster until there are enough."""
        if len(data) > 20_000:
            message = f"divisive clustering of {len(data):,} rows needs a matrix of {8e-9 * len(data) ** 2:.0f} GB"
            raise FitError(message, hint="k-means holds no more than the rows")
        X, given = self.points_and_distances(data)
        apart = np.sqrt(squared_differences(X, X)) if given is None else given
        rows = np.argsort(draws(data.table, 0), kind="stable")  # an order that follows from the cells
        clusters, widths = [rows], [_diameter(apart, rows)]
        splits: list[tuple[float, int, int]] = []
        enough = len(rows) if self.diameter is not None else self.clusters
        while len(clusters) < enough and max(widths) > (self.diameter or 0.0):
            widest = int(np.argmax(np.array(widths) >= max(widths) * (1 - TIE)))
            members = clusters[widest]
            left = splinter(apart[np.ix_(members, members)])
            splits.append((widths[widest], int((~left).sum()), int(left.sum())))
            clusters[widest : widest + 1] = members[~left], members[left]
            widths[widest : widest + 1] = (_diameter(apart, part) for part in clusters[widest : widest + 2])
        self.diameters_ = np.array([width for width, _, _ in splits])
        self.sizes_ = np.array([sizes for _, *sizes in splits], np.intp).reshape(-1, 2)
        cluster = np.zeros(len(X), np.int32)
        for number, members in enumerate(clusters):
            cluster[members] = number
        self.keep(data, X, cluster)
        if self.diameter is None and len(clusters) < self.clusters:
            message = f"fewer rows differ ({len(clusters)}) than clusters were asked for ({self.clusters})"
            warnings.warn(message, MlcliWarning, stacklevel=2)

    def explain(self) -> findings.Explanation:
        """Every split, in order."""
        header = ("clusters after", "diameter", "rows that stay", "rows that leave")
        splits = zip(self.diameters_.tolist(), self.sizes_.tolist(), strict=True)
        rows = tuple((number, width, *sizes) for number, (width, sizes) in enumerate(splits, 2))
        if not rows:
            return (findings.Lines("No split", ("all rows are in one cluster",)),)
        return (findings.Table("Splits of the widest cluster", header, rows),)


def _diameter(apart: Array, members: Rows) -> float:
    """The largest distance of two rows."""
    return float(apart[np.ix_(members, members)].max(initial=0.0))


def splinter(apart: Array) -> Flags:
    """The rows that leave a cluster together; at least one leaves, and one stays."""
    rows = len(apart)
    left, sums = np.zeros(rows, bool), apart.sum(axis=1)
    to_left = np.zeros(rows)
    while left.sum() < rows - 1:
        gone = int(left.sum())
        gain = sums / (rows - gone - 1) - (to_left / gone if gone else 0.0)
        gain[left] = -np.inf
        slack = TIE * float(sums.max()) / rows
        if gone and gain.max() <= slack:
            break
        first = int(np.argmax(gain >= gain.max() - slack))
        left[first] = True
        sums, to_left = sums - apart[first], to_left + apart[first]
    return left
