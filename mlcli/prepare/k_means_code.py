"""K-means code: replaces the columns by the number of the nearest of k cluster centres, as a nominal column.

Formula:
    Lloyd's algorithm on the training rows, started by k-means++: assign each row to its nearest centre, then move
    each centre to the mean of its rows, until fewer than one row in a thousand changes its cluster. Of `restarts`
    runs the one with the smallest sum of squared distances is kept. Each row gets the level of its nearest centre.

Assumes:
    Round clusters of similar size, and columns on one scale.

Cost:
    `restarts` times a few passes of rows × k × columns.

Choices:
    The column `cluster` has k levels and becomes 0/1 columns for methods that need numbers. It replaces the
    columns, or follows them with `beside`. Clusters are numbered by size, the largest first. If there are fewer
    than k distinct rows, the last levels stay empty. A centre that loses all its rows stays where it is.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import CLOSE_DECIMALS, findings
from mlcli.core.model import Step
from mlcli.core.moments import means
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Table
from mlcli.engines.centres import (
    CentredRows,
    centred_rows,
    k_means_plus_plus,
    nearest_centres,
    settled,
    squared_lengths,
)


@register(
    "k-means-code",
    reference="Lloyd 1982; Coates & Ng 2012, Learning feature representations with k-means",
    revision=2,
)
class KMeansCode(Step):
    """Replace the columns by the cluster of each row."""

    k: int = param(5, "number of clusters", ge=1, tune=(2, 20))
    restarts: int = param(5, "number of runs from different starts", ge=1)
    beside: bool = param(False, "whether the columns are kept beside the cluster")

    centres_: Array = learned("centres", "columns")
    """The centres less the mean of the training rows."""
    middle_: Array = learned()

    accepts = Accepts(weights=True)

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the centres."""
        data = data.counted()
        self.middle_ = means(data.table.numbers, data.weights)
        cloud = centred_rows(data.table.numbers - self.middle_, data.weights)
        runs = [_run(cloud, k_means_plus_plus(cloud, self.k, stream)) for stream in rng.spawn(self.restarts)]
        self.centres_, _ = min(runs, key=lambda run: run[1])

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The column of clusters, behind the other columns if these are kept."""
        levels = tuple(map(str, range(1, self.k + 1)))
        return (*(columns if self.beside else ()), Column("cluster", "nominal", levels))

    def transform(self, table: Table) -> Table:
        """The cluster of each row."""
        X = table.numbers - self.middle_
        cluster = nearest_centres(X, self.centres_, squared_lengths(X)).cluster
        kept = table.parts() if self.beside else ()
        return Table.of([*kept, (self.columns_after(())[-1], cluster)], len(table))

    def check_learned(self) -> None:
        """Between 1 and k centres."""
        if not 1 <= len(self.centres_) <= self.k:
            raise ValueError(f"k-means-code needs 1 to {self.k} centres, and there are {len(self.centres_)}")

    def explain(self) -> findings.Explanation:
        """The centres."""
        header = ("cluster", *(column.name for column in self.columns_))
        centres = (self.centres_ + self.middle_).tolist()
        rows = tuple((number, *centre) for number, centre in enumerate(centres, start=1))
        return (findings.Table("Centres", header, rows),)


def _run(cloud: CentredRows, start: Array) -> tuple[Array, float]:
    """The centres of Lloyd's algorithm, largest cluster first, and the sum of squared distances to them."""
    centres = start.reshape(max(len(start), 1), -1) if start.size else np.zeros((1, cloud.X.shape[1]))
    centres = settled(cloud, centres, steps=300, still=1e-3)
    nearest = nearest_centres(cloud.X, centres, cloud.lengths)
    sizes = np.bincount(nearest.cluster, cloud.weights, len(centres))
    order = np.argsort(-np.round(sizes, CLOSE_DECIMALS), kind="stable")
    return centres[order], float(cloud.weights @ nearest.own**2)
