"""K-means code: says of each row to which of k clusters it is nearest, as a column of levels.

Formula:
    Lloyd's algorithm on the training rows, from k-means++ starts: rows go to the nearest centre, centres to the
    mean of their rows, until less than one row in a thousand changes; of `restarts` the one with the least sum of
    squared distances. A row gets the level of the nearest centre.

Assumes:
    Round clusters of one size, and columns on one scale.

Cost:
    `restarts` times a few passes of rows × k × columns.

Choices:
    The column `cluster` has k levels, so that it becomes 0/1 columns where a method wants numbers. It stands in
    the place of the columns that made it, or behind them with `beside`. Clusters are numbered by their size, the
    largest first. Where fewer rows differ than k, the last levels stay empty. A centre that loses all its rows
    stays where it is.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.moments import means
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.step import Step
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
    """The cluster of each row."""

    k: int = param(5, "how many clusters there are", ge=1, tune=(2, 20))
    restarts: int = param(5, "how many starts are tried", ge=1)
    beside: bool = param(False, "whether the columns stay beside the cluster")

    centres_: Array = learned("centres", "columns")
    middle_: Array = learned()

    accepts = Accepts(weights=True)

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the centres."""
        data = data.counted()
        self.middle_ = means(data.table.numbers, data.weights)
        cloud = centred_rows(data.table.numbers - self.middle_, data.weights)
        found = [_numbered(cloud, k_means_plus_plus(cloud, self.k, own)) for own in rng.spawn(self.restarts)]
        self.centres_, _ = min(found, key=lambda one: one[1])

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The cluster, and the columns where they stay."""
        levels = tuple(map(str, range(1, self.k + 1)))
        return (*(columns if self.beside else ()), Column("cluster", "nominal", levels))

    def transform(self, table: Table) -> Table:
        """The cluster of each row."""
        X = table.numbers - self.middle_
        cluster = nearest_centres(X, self.centres_, squared_lengths(X)).cluster
        made = [(self.columns_after(())[-1], cluster)]
        return Table.of([*(table.parts() if self.beside else ()), *made], len(table))

    def check_learned(self) -> None:
        """No more centres than clusters were asked for."""
        if not 1 <= len(self.centres_) <= self.k:
            raise ValueError("there are not as many centres")

    def explain(self) -> findings.Explanation:
        """The centres."""
        header = ("cluster", *(column.name for column in self.columns_))
        centres = (self.centres_ + self.middle_).tolist()
        return (
            findings.Table("Centres", header, tuple((index, *row) for index, row in enumerate(centres, start=1))),
        )


def _numbered(cloud: CentredRows, centres: Array) -> tuple[Array, float]:
    """Centres that move no more, the one with most rows first, and the sum of squared distances to them."""
    centres = centres.reshape(max(len(centres), 1), -1) if centres.size else np.zeros((1, cloud.X.shape[1]))
    centres = settled(cloud, centres, steps=300, still=1e-3)
    found = nearest_centres(cloud.X, centres, cloud.lengths)
    weight = np.bincount(found.cluster, cloud.weights, len(centres))
    order = np.argsort(-np.round(weight, 9), kind="stable")
    return centres[order], float(cloud.weights @ found.own**2)
