"""Clusterings by distances, which may be given as columns of the file; and classical scaling.

Scores of clusterings need points: classical scaling places points at given distances, as far as it can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar, Self

import numpy as np

from mlcli.core import CLOSE, ROUNDING
from mlcli.core.errors import FitError
from mlcli.core.params import learned
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.centres import squared_differences
from mlcli.engines.content_seeds import marks_of, places_of
from mlcli.engines.principal_components import column_by_column, with_fixed_signs
from mlcli.tasks.clustering import ClusteredRows, Clusterer, largest_first


def euclidean(values: Array, other: Array) -> Array:
    """The length of the difference of rows."""
    return np.sqrt(squared_differences(values, other))


def manhattan(values: Array, other: Array) -> Array:
    """The sum of the differences of cells."""
    sums = np.zeros((len(values), len(other)))
    for a, b in zip(values.T, other.T, strict=True):
        sums += np.abs(np.subtract.outer(a, b))
    return sums


DISTANCES: dict[str, Callable[[Array, Array], Array]] = {"euclidean": euclidean, "manhattan": manhattan}


@dataclass(frozen=True, eq=False)
class ClassicalScaling:
    """Classical scaling of weighted rows: eigenvectors (rows × components) and their eigenvalues."""

    vectors: Array
    values: Array
    squares: Array
    """The mean squared distance of each row to all."""
    weights: Array

    @classmethod
    def of(cls, distances: Array, components: int, weights: Array | None = None) -> Self:
        """The largest eigenvalues of B = −½ J D² J; vectors and values are 0 if the eigenvalue is not above 0.

        A row of weight w counts as w equal rows.
        """
        from scipy.linalg import eigh

        n, squares = len(distances), distances**2
        weights = np.ones(n) if weights is None else weights
        rows, roots = squares @ weights / weights.sum(), np.sqrt(weights)
        products = -0.5 * (squares - rows[:, None] - rows[None, :] + weights @ rows / weights.sum())
        products *= np.outer(roots, roots)
        kept = min(components, n)
        values, vectors = eigh(products, subset_by_index=(n - kept, n - 1))
        values, vectors = values[::-1], with_fixed_signs(vectors[:, ::-1] / roots[:, None])
        positive = values > ROUNDING * max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny)
        all_vectors, all_values = np.zeros((n, components)), np.zeros(components)
        all_vectors[:, :kept], all_values[:kept] = (
            np.where(positive, vectors, 0.0),
            np.where(positive, values, 0.0),
        )
        return cls(all_vectors, all_values, rows, weights)

    def places(self) -> Array:
        """The points of the rows."""
        return self.vectors * np.sqrt(self.values)

    def placed(self, distances: Array) -> Array:
        """The points of other rows, by their distances to these (others × rows): z = −½ Λ^−½ Vᵀ (d² − d̄²)."""
        roots, weighted = np.sqrt(self.values), self.vectors * self.weights[:, None]
        slopes = np.divide(weighted, roots, out=np.zeros_like(weighted), where=roots > 0)
        return column_by_column(-0.5 * (distances**2 - self.squares), slopes)


DISTANCES_HELP = (
    "columns, by a pattern such as d_* or *, that are distances to the rows of the file, in their order"
)


class DistanceClusterer(Clusterer):
    """Clusters rows by their distances, computed from numbers on one scale or given as columns."""

    distances: str | None

    @property
    def accepts(self) -> Accepts:
        """Numbers on one scale; with given distances also names of rows."""
        given = self.distances is not None
        return Accepts(nominal=given, prefers_scaled=not given)

    def feature_matrix(self, table: Table) -> Array:
        """The numbers, or points at the given distances."""
        return table.numbers if self.distances is None else points_of(table, self.distances)

    def points_and_distances(self, data: ClusteredRows) -> tuple[Array, Array | None]:
        """The training rows as points, and their distances if these are given."""
        X = data.table.numbers
        if X.shape[1] == 0:
            raise FitError(f"{self.id} needs at least one column")
        given = None if self.distances is None else given_distances(data, self.distances)
        return X if given is None else embedded(given), given


@dataclass(kw_only=True, eq=False)
class TransductiveClusterer(DistanceClusterer):
    """Clusters only the rows that it was fitted on, which it recognises by their cells."""

    transductive: ClassVar[bool] = True

    cluster_: Codes = learned("rows")
    marks_: Array = learned("rows", 2)
    """The hashes by which each row is recognised."""

    def keep(self, data: ClusteredRows, X: Array, cluster: Codes) -> None:
        """Number the clusters from the largest to the smallest, and mark the rows."""
        order = largest_first(X, cluster, int(cluster.max()) + 1, data.weights)
        self.cluster_, self.marks_ = np.argsort(order).astype(np.int32)[cluster], marks_of(data.table)

    def cluster_of(self, table: Table) -> Codes:
        """The cluster of each row, which must be one of the fitted rows."""
        hint = "k-means, dbscan and gmm place new rows"
        return np.asarray(self.cluster_[places_of(table, self.marks_, self.id, hint)])

    def cluster_count(self) -> int:
        """The number of clusters."""
        return int(self.cluster_.max()) + 1

    def check_learned(self) -> None:
        """Refuse clusters that are not numbered from 0 without gaps."""
        if not np.array_equal(np.unique(self.cluster_), np.arange(self.cluster_count())):
            raise ValueError("clusters that are not numbered through")


def given_distances(data: RowsOfTable, pattern: str) -> Array:
    """The distances between rows, refused unless they are symmetric, not negative, and 0 to the row itself."""
    cells, rows = distances_to_rows(data.table, pattern), data.rows
    if rows.max(initial=0) >= cells.shape[1]:
        last = int(rows.max()) + 1
        what = f"there are distances to {cells.shape[1]} rows, and row {last} of the file is none of them"
        raise FitError(what, hint="one column of distances for each row of the file, in the order of the rows")
    square = cells[:, rows]
    tolerance = CLOSE * np.abs(square).max(initial=0.0)
    names = np.array([column.name for column in _columns(data.table, pattern)])[rows]
    for wrong, what in (
        (square < 0, "is below 0"),
        (np.abs(square - square.T) > tolerance, "is not the same both ways"),
        (np.diag(np.diag(square)) > tolerance, "to itself is not 0"),
    ):
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            text = f"the distance of row {rows[row] + 1} to '{names[column]}' {what}"
            raise FitError(text, hint="a matrix of distances has a row and a column for each thing, in one order")
    return np.asarray((square + square.T) / 2)


def distances_to_rows(table: Table, pattern: str) -> Array:
    """The distances of rows to every row of the training file."""
    columns = {column.name for column in _columns(table, pattern)}
    if not columns:
        raise FitError(f"there is no column of numbers '{pattern}'", hint="distances: '*' takes every column")
    return table.numbers[:, [column.name in columns for column in table.number_columns]]


def points_of(table: Table, pattern: str) -> Array:
    """Points for all rows of a file of distances; for only some of its rows, the distances themselves."""
    cells = distances_to_rows(table, pattern)
    return embedded((cells + cells.T) / 2) if len(cells) == cells.shape[1] else cells


def embedded(distances: Array) -> Array:
    """Points at given distances, as far as possible."""
    scaled = ClassicalScaling.of(distances, len(distances))
    return np.ascontiguousarray(scaled.places()[:, scaled.values > 0])


def _columns(table: Table, pattern: str) -> tuple[Column, ...]:
    return tuple(column for column in table.number_columns if fnmatchcase(column.name, pattern))
