"""Clustering: rows that are put into clusters, the profiles of clusters, and silhouettes.

Labels, if there are any, are used for scores only. Mixtures are clusterings, too: see ``ClusterModel``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypedDict

import numpy as np

from mlcli.core import CLOSE_DECIMALS, ROUNDING, findings
from mlcli.core.abilities import ExplainsTask, RowExplainer
from mlcli.core.answers import Answers
from mlcli.core.model import Model, Step
from mlcli.core.params import learned
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Cells, Codes, Rows, Table
from mlcli.tasks.unsupervised import UnlabelledRows, UnsupervisedTask

COMPARED_AT_MOST = 5_000
"""How many rows have silhouettes; of more rows, this many are taken at even steps."""
MEANS = "Means of the clusters, in the units of the file"
LEVELS = "Most frequent level of each cluster, with its share"
SHOWN = 12
"""How many clusters are shown side by side, the largest first."""
NOISE = "noise"
"""The name of the rows that are in no cluster."""
READING = (
    "between: the share of a column's variance that lies between the clusters; 1 tells them apart, 0 not at all"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterAnswers(Answers):
    """The cluster of each row, where the row lies in it, and its label (-1 if it has none)."""

    cluster: Codes
    truth: Codes
    classes: tuple[str, ...]
    clusters: int
    to_centre: Array
    """The squared distance to the centre of the cluster."""
    centre_to_all: Array
    """The squared distance of that centre to the centre of all rows."""
    silhouette: Array
    """Rousseeuw's silhouette; NaN where it was not computed."""


class Profile(TypedDict):
    """What clusters look like in the columns of the file."""

    columns: tuple[Column, ...]
    names: tuple[str, ...]
    """Of the clusters."""
    sizes: Array
    """The weight of each cluster, and of all rows."""
    means: tuple[Array, ...]
    """For each column the means of each cluster and of all rows; of levels, their shares."""
    between: Array
    """For each column the share of its variance that lies between the clusters."""


@dataclass(kw_only=True, eq=False)
class ClusterModel(Model, ExplainsTask, RowExplainer):
    """A model that puts rows into clusters, and stores their profiles in the columns of the file."""

    profile_: Profile | None = learned()

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


@dataclass(kw_only=True, eq=False)
class Clusterer(ClusterModel):
    """Puts rows into clusters. A method implements ``fit``, ``cluster_of`` and ``cluster_count``."""

    transductive: ClassVar[bool] = False
    """Whether it can only place its training rows."""

    def fit(self, data: ClusteredRows, rng: np.random.Generator) -> None:
        """Learn from rows without labels."""
        super().fit(data, rng)


class Clustering(UnsupervisedTask[Clusterer, "ClusteredRows", ClusterAnswers]):
    """Put rows into clusters."""

    base = Clusterer

    def annotate(
        self, model: Clusterer, prepared: ClusteredRows, given: ClusteredRows, steps: tuple[Step, ...]
    ) -> None:
        """Store the profiles of the clusters."""
        store_profile(model, prepared, given)

    def predict_rows(self, model: Clusterer, rows: ClusteredRows) -> ClusterAnswers:
        """The cluster of each row, and how the row lies in it in the columns that the model sees."""
        cluster, clusters = np.asarray(model.cluster_of(rows.table), np.int32), model.cluster_count()
        X = model.feature_matrix(rows.table)
        to_centre, centre_to_all = around_centres(X, cluster, clusters, rows.weights)
        return ClusterAnswers(
            header=rows.header(),
            cluster=cluster,
            truth=rows.labels,
            classes=rows.classes,
            clusters=clusters,
            to_centre=to_centre,
            centre_to_all=centre_to_all,
            silhouette=silhouettes(X, cluster, clusters, rows.weights, model.noise_cluster()),
        )


class ClusteredRows(UnlabelledRows):
    """Rows to be put into clusters."""

    kind = "clustering"
    task = Clustering()


def store_profile(model: ClusterModel, prepared: UnlabelledRows, given: UnlabelledRows) -> None:
    """Store on a fitted model what its clusters look like in the columns before any step."""
    cluster = np.asarray(model.cluster_of(prepared.table), np.int32)
    model.profile_ = profile_of(given.table, cluster, model.cluster_names(), given.weights)


def profile_of(table: Table, cluster: Codes, names: tuple[str, ...], weights: Array) -> Profile:
    """Means of numbers and shares of levels, in each cluster and in all rows; missing cells are ignored."""
    sizes = np.bincount(cluster, weights=weights, minlength=len(names))
    parts = [_column_profile(column, cells, cluster, len(names), weights) for column, cells in table.parts()]
    return {
        "columns": table.columns,
        "names": names,
        "sizes": np.append(sizes, sizes.sum()),
        "means": tuple(means for means, _ in parts),
        "between": np.array([between for _, between in parts]),
    }


def _column_profile(
    column: Column, cells: Cells, cluster: Codes, clusters: int, weights: Array
) -> tuple[Array, float]:
    """The means of a column in each cluster and in all rows, and the share of its variance between clusters."""
    if column.coded:  # an indicator for each level
        codes = cells.astype(np.intp)
        values = np.eye(max(1, len(column.levels)))[np.maximum(codes, 0)]
        values[codes < 0] = np.nan
    else:
        values = np.array(cells, dtype=np.float64)[:, None]
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


def described(profile: Profile) -> tuple[findings.Table, ...]:
    """Tables of means and of most frequent levels; columns that differ most between clusters come first."""
    sizes = profile["sizes"][:-1].tolist()
    titles = (
        f"{cluster_title(name)} ({f'{size:g} row' if size == 1 else f'{size:g} rows'})"
        for name, size in zip(profile["names"], sizes[:SHOWN], strict=False)
    )
    header = ("column", *titles, "all rows", "between")
    note = "; ".join([READING, *([only_largest(len(sizes))] if len(sizes) > SHOWN else [])])
    numbers, levels = list[tuple[findings.Entry, ...]](), list[tuple[findings.Entry, ...]]()
    for index in np.argsort(-np.round(profile["between"], 9), kind="stable").tolist():
        column, means, between = profile["columns"][index], profile["means"][index], profile["between"][index]
        if len(means) > SHOWN + 1:
            means = np.vstack([means[:SHOWN], means[-1:]])
        if column.coded:
            levels.append((column.name, *(_most_frequent(column, shares) for shares in means), float(between)))
        else:
            known = (mean if np.isfinite(mean) else None for mean in means[:, 0].tolist())
            numbers.append((column.name, *known, float(between)))
    tables = (
        findings.Table(MEANS, header, tuple(numbers), note=note, code="mean-profile"),
        findings.Table(LEVELS, header, tuple(levels), note=note, code="level-profile"),
    )
    return tuple(table for table in tables if table.rows)


def _most_frequent(column: Column, shares: Array) -> str:
    if not column.levels or np.isnan(shares).any():
        return "-"
    index = int(shares.argmax())
    return f"{column.levels[index]} ({100 * shares[index]:.0f} %)"


def cluster_title(name: str) -> str:
    """The heading of a cluster; noise has its own."""
    return name if name == NOISE else f"cluster {name}"


def only_largest(clusters: int) -> str:
    """The note if not all clusters are shown."""
    return f"the {SHOWN} largest of {clusters} clusters are shown"


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
    own_centre = centres(X, cluster, clusters, weights)[cluster]
    return ((X - own_centre) ** 2).sum(axis=1), (own_centre**2).sum(axis=1)


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
    step = max(1, 4_000_000 // max(1, len(X)))  # so many distances are held at once
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        sums = np.sqrt(_squared_distances(X, block)) @ membership
        others = sizes[cluster[block]] - np.minimum(weights[block], 1.0)
        result[block] = _silhouettes_of(sums, cluster[block], sizes, others)
    return result


def _squared_distances(X: Array, block: Rows) -> Array:
    """The squared distances of some rows to all."""
    squares = (X**2).sum(axis=1)
    lengths = squares[block, None] + squares
    squared: Array = lengths - 2.0 * X[block] @ X.T
    # a distance that is a small share of the terms it is the difference of has lost digits: it is summed again
    row, other = np.nonzero(squared <= 1e-6 * lengths)
    squared[row, other] = sum((column[block[row]] - column[other]) ** 2 for column in X.T)
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
