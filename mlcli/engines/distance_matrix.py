"""Distances between rows given as columns of the file, and classical scaling.

Scores of clusterings need points. Classical scaling places points at the given distances, as far as it can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar, Self

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError
from mlcli.core.params import learned
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.core.tolerances import CLOSE
from mlcli.engines.centres import squared_differences
from mlcli.engines.content_seeds import marks_of, places_of
from mlcli.engines.principal_components import column_by_column, with_fixed_signs
from mlcli.tasks.cluster_profiles import largest_first
from mlcli.tasks.clustering import ClusteredRows, Clusterer

# Classical scaling: points at given distances, and the places of new rows among them.

ENOUGH = 1e-12
"""What is smaller than this share of the largest is rounding."""


def euclidean(values: Array, other: Array) -> Array:
    """The length of the difference of rows."""
    return np.sqrt(squared_differences(values, other))


def manhattan(values: Array, other: Array) -> Array:
    """The sum of the differences of cells."""
    apart = np.zeros((len(values), len(other)))
    for a, b in zip(values.T, other.T, strict=True):
        apart += np.abs(np.subtract.outer(a, b))
    return apart


DISTANCES: dict[str, Callable[[Array, Array], Array]] = {"euclidean": euclidean, "manhattan": manhattan}


@dataclass(frozen=True, eq=False)
class ClassicalScaling:
    """The directions in which weighted rows lie apart: vectors (rows × components) and the eigenvalue of each."""

    vectors: Array
    values: Array
    squares: Array
    """The mean squared distance of each row to all."""
    weights: Array

    @classmethod
    def of(cls, apart: Array, components: int, weights: Array | None = None) -> Self:
        """Those of the largest eigenvalues of B = −½ J D² J; what is not above 0 has neither vector nor value.

        A row of weight w counts as w rows at one place.
        """
        from scipy.linalg import eigh

        n, squares = len(apart), apart**2
        weights = np.ones(n) if weights is None else weights
        rows, roots = squares @ weights / weights.sum(), np.sqrt(weights)
        products = -0.5 * (squares - rows[:, None] - rows[None, :] + weights @ rows / weights.sum())
        products *= np.outer(roots, roots)
        kept = min(components, n)
        values, vectors = eigh(products, subset_by_index=(n - kept, n - 1))
        values, vectors = values[::-1], with_fixed_signs(vectors[:, ::-1] / roots[:, None])
        real = values > ENOUGH * max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny)
        results = np.zeros((n, components)), np.zeros(components)
        results[0][:, :kept], results[1][:kept] = np.where(real, vectors, 0.0), np.where(real, values, 0.0)
        return cls(*results, rows, weights)

    def places(self) -> Array:
        """Where the rows are."""
        return self.vectors * np.sqrt(self.values)

    def placed(self, apart: Array) -> Array:
        """Where others are (others × rows), by their distances to the rows: z = −½ Λ^−½ Vᵀ (d² − d̄²)."""
        roots, counted = np.sqrt(self.values), self.vectors * self.weights[:, None]
        slopes = np.divide(counted, roots, out=np.zeros_like(counted), where=roots > 0)
        return column_by_column(-0.5 * (apart**2 - self.squares), slopes)


DISTANCES_HELP = (
    "columns, by a pattern such as d_* or *, that are distances to the rows of the file, in their order"
)
FOR_NEW_ROWS = "k-means, dbscan and gmm place new rows"


class DistanceClusterer(Clusterer):
    """Clusters rows by how far they are apart: by numbers on one scale, or by distances that are given."""

    distances: str | None

    @property
    def accepts(self) -> Accepts:
        """Numbers on one scale; distances as they are, beside names of their rows."""
        given = self.distances is not None
        return Accepts(nominal=given, prefers_scaled=not given)

    def feature_matrix(self, table: Table) -> Array:
        """The numbers, or points that lie as far apart as the distances say."""
        return table.numbers if self.distances is None else points_of(table, self.distances)

    def points_and_distances(self, data: ClusteredRows) -> tuple[Array, Array | None]:
        """The training rows as points, and their distances where these are given."""
        X = data.table.numbers
        if X.shape[1] == 0:
            raise FitError(f"{self.id} needs at least one column")
        given = None if self.distances is None else given_distances(data, self.distances)
        return X if given is None else embedded(given), given


@dataclass(kw_only=True, eq=False)
class TransductiveClusterer(DistanceClusterer):
    """Clusters of the rows that it was fitted on, which it knows again by their cells; no others are placed."""

    transductive: ClassVar[bool] = True

    cluster_: Codes = learned("rows")
    marks_: Array = learned("rows", 2)
    """By what each row is known again."""

    def keep(self, data: ClusteredRows, X: Array, cluster: Codes) -> None:
        """Number the clusters from the largest to the smallest, and mark the rows."""
        order = largest_first(X, cluster, int(cluster.max()) + 1, data.weights)
        self.cluster_, self.marks_ = np.argsort(order).astype(np.int32)[cluster], marks_of(data.table)

    def cluster_of(self, table: Table) -> Codes:
        """The cluster of each row, which must be one of those that it was fitted on."""
        return np.asarray(self.cluster_[places_of(table, self.marks_, self.id, FOR_NEW_ROWS)])

    def cluster_count(self) -> int:
        """As many as there are."""
        return int(self.cluster_.max()) + 1

    def check_learned(self) -> None:
        """Clusters that are numbered through."""
        if not np.array_equal(np.unique(self.cluster_), np.arange(self.cluster_count())):
            raise ValueError("clusters that are not numbered through")


def given_distances(data: RowsOfTable, pattern: str) -> Array:
    """The distances between some rows; refused where they are none."""
    cells, rows = distances_to_rows(data.table, pattern), data.rows
    if rows.max(initial=0) >= cells.shape[1]:
        last = int(rows.max()) + 1
        what = f"there are distances to {cells.shape[1]} rows, and row {last} of the file is none of them"
        raise FitError(what, hint="one column of distances for each row of the file, in the order of the rows")
    square = cells[:, rows]
    tolerated = CLOSE * np.abs(square).max(initial=0.0)
    names = np.array([column.name for column in _columns(data.table, pattern)])[rows]
    for wrong, what in (
        (square < 0, "is below 0"),
        (np.abs(square - square.T) > tolerated, "is not the same both ways"),
        (np.diag(np.diag(square)) > tolerated, "to itself is not 0"),
    ):
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            text = f"the distance of row {rows[row] + 1} to '{names[column]}' {what}"
            raise FitError(text, hint="a matrix of distances has a row and a column for each thing, in one order")
    return np.asarray((square + square.T) / 2)


def distances_to_rows(table: Table, pattern: str) -> Array:
    """The distances of rows to every row of the file that was learned from."""
    columns = {column.name for column in _columns(table, pattern)}
    if not columns:
        raise FitError(f"there is no column of numbers '{pattern}'", hint="distances: '*' takes every column")
    return table.numbers[:, [column.name in columns for column in table.number_columns]]


def points_of(table: Table, pattern: str) -> Array:
    """Points for all rows of a file of distances; for some of its rows, their distances as they are."""
    cells = distances_to_rows(table, pattern)
    return embedded((cells + cells.T) / 2) if len(cells) == cells.shape[1] else cells


def embedded(distances: Array) -> Array:
    """Points that lie as far apart as the distances say, as far as points can."""
    scaled = ClassicalScaling.of(distances, len(distances))
    return np.ascontiguousarray(scaled.places()[:, scaled.values > 0])


def _columns(table: Table, pattern: str) -> tuple[Column, ...]:
    return tuple(column for column in table.number_columns if fnmatchcase(column.name, pattern))
