"""Clustering: rows that are put into clusters; labels, where there are any, only judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array, Codes, Table
from mlcli.tasks.cluster_profiles import ClusterModel, around_centres, silhouettes
from mlcli.tasks.unsupervised import UnlabelledRows


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterAnswers(Answers):
    """Clustering: the cluster of each row, where the row lies in it, and its label where it has one (-1 else)."""

    cluster: Codes
    truth: Codes
    classes: tuple[str, ...]
    clusters: int
    to_centre: Array
    """Squared distance to the centre of the cluster."""
    centre_to_all: Array
    """Squared distance of that centre to the centre of all rows."""
    silhouette: Array
    """Rousseeuw's silhouette; NaN where it was not computed."""


@dataclass(kw_only=True, eq=False)
class Clusterer(ClusterModel):
    """Puts rows into clusters, numbered from 0."""

    transductive: ClassVar[bool] = False
    """Whether it can only place the rows that it was fitted on."""

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The cluster of each row, with how it lies in it as the model sees the columns."""
        cluster, clusters = np.asarray(model.cluster_of(data.table), np.int32), model.cluster_count()
        X = model.space(data.table)
        own, between = around_centres(X, cluster, clusters, data.weights)
        return ClusterAnswers(
            header=data.header(),
            cluster=cluster,
            truth=data.labels,
            classes=data.classes,
            clusters=clusters,
            to_centre=own,
            centre_to_all=between,
            silhouette=silhouettes(X, cluster, clusters, data.weights, model.noise_cluster()),
        )

    def cluster_of(self, table: Table) -> Codes:
        """The cluster of each row."""
        raise TypeError(f"{type(self).__name__} does not say how it places rows")

    def cluster_count(self) -> int:
        """How many clusters there are, empty ones included."""
        raise TypeError(f"{type(self).__name__} does not say how many clusters it makes")


class ClusteredRows(UnlabelledRows):
    """Rows to be put into clusters."""

    kind = "clustering"
    base = Clusterer
