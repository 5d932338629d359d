"""Profiles of clusters in the columns of the file, and silhouettes, for clusterings and mixtures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import ExplainsTask, RowExplainer
from mlcli.core.model import Model
from mlcli.core.params import learned
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.core.tolerances import CLOSE_DECIMALS, ROUNDING
from mlcli.tasks.unsupervised import UnlabelledRows

COMPARED_AT_MOST = 5_000
"""How many rows have silhouettes; of more rows, this many are taken at even steps."""
BLOCK_CELLS = 4_000_000
"""How many distances are held at once."""
CANCELLED = 1e-6
"""A squared distance that is a smaller share of the terms it is the difference of has lost digits."""
Profile = Mapping[str, Any]
"""The ``columns``; for each cluster and all rows the ``sizes`` and the ``means`` of each column (of levels: the
shares); the share of the variance of each column ``between`` the clusters."""
MEANS = "Means of the clusters, in the units of the file"
LEVELS = "Most frequent level of each cluster, with its share"
SHOWN = 12
"""How many clusters are shown side by side, the largest first."""
NOISE = "noise"
"""The name of the rows that are in no cluster."""
READING = (
    "between: the share of a column's variance that lies between the clusters; 1 tells them apart, 0 not at all"
)


@dataclass(kw_only=True, eq=False)
class ClusterModel(Model, ExplainsTask, RowExplainer):
    """A model that puts rows into clusters, and stores their profiles in the columns of the file."""

    profile_: dict[str, Any] | None = learned()

    def cluster_of(self, table: Table) -> Codes:
        """The cluster of each row, numbered from 0."""
        raise TypeError(f"{type(self).__name__} does not say how it places rows")

    def cluster_count(self) -> int:
        """The number of clusters, empty ones included."""
        raise TypeError(f"{type(self).__name__} does not say how many clusters it makes")

    def cluster_names(self) -> tuple[str, ...]:
        """The names of the clusters: their numbers, unless the method names them."""
        return tuple(map(str, range(self.cluster_count())))

    def feature_matrix(self, table: Table) -> Array:
        """The coordinates of the rows in which the method measures distances."""
        return table.numbers

    def noise_cluster(self) -> int | None:
        """The number of the cluster of noise; None if every row belongs to a cluster."""
        return None

    def responsibilities(self, table: Table) -> Array | None:
        """The responsibilities of the components of a mixture (n × components); None for other models."""
        return None

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The responsibilities of the components of a mixture for one row."""
        shares = self.responsibilities(table)
        if shares is None:
            return ()
        rows = tuple(zip(self.cluster_names(), shares[0].tolist(), strict=True))
        return (findings.Table("Responsibilities of the components", ("component", "responsibility"), rows),)

    def explain_task(self) -> findings.Explanation:
        """The profiles of the clusters."""
        return () if self.profile_ is None else described(self.profile_)


def store_profile(model: ClusterModel, prepared: UnlabelledRows, given: UnlabelledRows) -> None:
    """Store on a fitted model what its clusters look like in the columns before any step."""
    cluster = np.asarray(model.cluster_of(prepared.table), np.int32)
    model.profile_ = profile_of(given.table, cluster, model.cluster_names(), given.weights)


def profile_of(table: Table, cluster: Codes, names: tuple[str, ...], weights: Array) -> dict[str, Any]:
    """Means of numbers and shares of levels, in each cluster and in all rows; missing cells are ignored."""
    clusters = len(names)
    sizes = np.bincount(cluster, weights=weights, minlength=clusters)
    results = [_cluster_means(_indicators(*part), cluster, clusters, weights) for part in table.parts()]
    return {
        "columns": table.columns,
        "names": names,
        "sizes": np.append(sizes, sizes.sum()),
        "means": tuple(means for means, _ in results),
        "between": np.array([between for _, between in results]),
    }


def described(profile: Profile) -> tuple[findings.Table, ...]:
    """Tables of means and of most frequent levels; columns that differ most between clusters come first."""
    columns = profile["columns"]
    sizes = [float(size) for size in profile["sizes"]][:-1]
    shown = (
        f"{cluster_title(name)} ({_rows(size)})"
        for name, size in zip(profile["names"], sizes[:SHOWN], strict=False)
    )
    header = ("column", *shown, "all rows", "between")
    note = "; ".join([READING, *([only_largest(len(sizes))] if len(sizes) > SHOWN else [])])
    order = sorted(range(len(columns)), key=lambda index: -float(np.round(profile["between"][index], 9)))
    numbers = tuple(_numbers(columns[at], profile, at) for at in order if not columns[at].coded)
    levels = tuple(_levels(columns[at], profile, at) for at in order if columns[at].coded)
    means = findings.Table(MEANS, header, numbers, note=note, code="mean-profile")
    frequent = findings.Table(LEVELS, header, levels, note=note, code="level-profile")
    return tuple(table for table in (means, frequent) if table.rows)


def cluster_title(name: str) -> str:
    """The heading of a cluster; noise has its own."""
    return name if name == NOISE else f"cluster {name}"


def only_largest(clusters: int) -> str:
    """The note if not all clusters are shown."""
    return f"the {SHOWN} largest of {clusters} clusters are shown"


def _indicators(column: Column, cells: NDArray[Any]) -> Array:
    """A column of numbers, or an indicator for each level; NaN for missing cells."""
    if not column.coded:
        return np.array(cells, dtype=np.float64)[:, None]
    shown = np.eye(max(1, len(column.levels)))[np.maximum(cells, 0).astype(np.intp)]
    shown[cells < 0] = np.nan
    return np.asarray(shown)


def _cluster_means(values: Array, cluster: Codes, clusters: int, weights: Array) -> tuple[Array, float]:
    """The means of each cluster and of all rows, and the share of the variance between clusters."""
    known = ~np.isnan(values[:, 0]) & (weights > 0)
    if not known.any():
        return np.full((clusters + 1, values.shape[1]), np.nan), 0.0
    values, cluster, weights = values[known], cluster[known], weights[known]
    overall = weights @ values / weights.sum()
    away = values - overall
    means = centres(away, cluster, clusters, weights)
    total = float((weights @ away**2).sum())
    between = float((np.bincount(cluster, weights, clusters) @ np.nan_to_num(means) ** 2).sum())
    return np.vstack([means + overall, overall]), min(1.0, between / total) if total > 0 else 0.0


def _numbers(column: Column, profile: Profile, index: int) -> tuple[Any, ...]:
    means = (float(mean) for mean in _shown(profile["means"][index])[:, 0])
    shown = (mean if np.isfinite(mean) else None for mean in means)
    return (column.name, *shown, float(profile["between"][index]))


def _shown(of_clusters: Array) -> Array:
    """The means of the clusters that are shown, and of all rows."""
    return of_clusters if len(of_clusters) <= SHOWN + 1 else np.vstack([of_clusters[:SHOWN], of_clusters[-1:]])


def _levels(column: Column, profile: Profile, index: int) -> tuple[Any, ...]:
    shown = (_most_frequent(column, shares) for shares in _shown(profile["means"][index]))
    return (column.name, *shown, float(profile["between"][index]))


def _most_frequent(column: Column, shares: Array) -> str:
    if not column.levels or np.isnan(shares).any():
        return "-"
    index = int(shares.argmax())
    return f"{column.levels[index]} ({100 * shares[index]:.0f} %)"


def _rows(size: float) -> str:
    return f"{size:g} row" if size == 1 else f"{size:g} rows"


def centres(X: Array, cluster: Codes, clusters: int, weights: Array) -> Array:
    """The weighted mean row of each cluster, NaN for empty clusters."""
    totals = np.bincount(cluster, weights=weights, minlength=clusters)
    columns = [np.bincount(cluster, weights=weights * column, minlength=clusters) for column in X.T]
    sums = np.stack(columns, axis=1) if columns else np.zeros((clusters, 0))
    return np.divide(sums, totals[:, None], out=np.full_like(sums, np.nan), where=totals[:, None] > 0)


def largest_first(X: Array, cluster: Codes, clusters: int, weights: Array) -> Rows:
    """The clusters in descending order of weight; ties in the order of their centres, column by column.

    This numbering does not depend on how clusters were found.
    """
    totals = np.bincount(cluster, weights=weights, minlength=clusters)
    middles = np.round(centres(X - X.mean(axis=0), cluster, clusters, weights), CLOSE_DECIMALS)
    return np.lexsort((*middles.T[::-1], -np.round(totals / totals.max(), CLOSE_DECIMALS)))


def around_centres(X: Array, cluster: Codes, clusters: int, weights: Array) -> tuple[Array, Array]:
    """The squared distance of each row to its cluster's centre, and of that centre to the centre of all rows."""
    X = X - np.average(X, axis=0, weights=weights) if len(X) else X
    mine = centres(X, cluster, clusters, weights)[cluster]
    return ((X - mine) ** 2).sum(axis=1), (mine**2).sum(axis=1)


def compared_rows(n: int) -> Rows:
    """The rows that have silhouettes."""
    if n <= COMPARED_AT_MOST:
        return np.arange(n)
    return np.linspace(0, n - 1, COMPARED_AT_MOST).astype(np.intp)


def silhouettes(X: Array, cluster: Codes, clusters: int, weights: Array, noise: int | None = None) -> Array:
    """Rousseeuw's (b − a) / max(a, b) of each row compared, NaN for the others; 0 for a row alone in its cluster.

    a is the mean distance to the other rows of the own cluster, b the smallest mean distance to another cluster.
    Rows of noise have 0, and are left out of the clusters.
    """
    if noise is not None:
        inside = cluster != noise
        result = np.zeros(len(X))
        result[inside] = silhouettes(X[inside], cluster[inside], clusters, weights[inside])
        return result
    result = np.full(len(X), np.nan)
    sizes: Array = np.bincount(cluster, weights, clusters).astype(np.float64)
    if (sizes > 0).sum() < 2:
        return result
    X = X - np.median(X, axis=0)
    membership = np.eye(clusters)[cluster] * weights[:, None]
    rows = compared_rows(len(X))
    step = max(1, BLOCK_CELLS // max(1, len(X)))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        sums = np.sqrt(_squared_distances(X, block)) @ membership
        others = sizes[cluster[block]] - np.minimum(weights[block], 1.0)
        result[block] = _silhouettes_of(sums, cluster[block], sizes, others)
    return result


def _squared_distances(X: Array, block: Rows) -> Array:
    """The squared distances of some rows to all; those that have lost digits are summed again."""
    squares = (X**2).sum(axis=1)
    lengths = squares[block, None] + squares
    squared: Array = lengths - 2.0 * X[block] @ X.T
    values, other = np.nonzero(squared <= CANCELLED * lengths)
    squared[values, other] = sum((column[block[values]] - column[other]) ** 2 for column in X.T)
    return squared


def _silhouettes_of(sums: Array, own: Codes, sizes: Array, others: Array) -> Array:
    """Silhouettes from summed distances to each cluster, and the weight of the other rows of the own one."""
    indices = np.arange(len(own))
    others = np.where(others > ROUNDING * sizes[own], others, 0.0)
    near = np.divide(sums[indices, own], others, out=np.zeros(len(own)), where=others > 0)
    apart = np.divide(sums, sizes, out=np.full_like(sums, np.inf), where=sizes > 0)
    apart[indices, own] = np.inf
    next_cluster = apart.min(axis=1)
    larger = np.maximum(near, next_cluster)
    value = np.divide(next_cluster - near, larger, out=np.zeros(len(own)), where=larger > 0)
    return np.where(others > 0, value, 0.0)
