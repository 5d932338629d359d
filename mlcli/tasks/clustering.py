"""Clustering: rows that are put into clusters; labels, if there are any, are used for scores only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes
from mlcli.tasks.cluster_profiles import ClusterModel, around_centres, silhouettes, store_profile
from mlcli.tasks.unsupervised import UnlabelledRows, UnsupervisedTask


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


@dataclass(kw_only=True, eq=False)
class Clusterer(ClusterModel):
    """Puts rows into clusters. A method implements ``fit``, ``cluster_of`` and ``cluster_count``."""

    transductive: ClassVar[bool] = False
    """Whether it can only place its training rows."""


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
        own, between = around_centres(X, cluster, clusters, rows.weights)
        return ClusterAnswers(
            header=rows.header(),
            cluster=cluster,
            truth=rows.labels,
            classes=rows.classes,
            clusters=clusters,
            to_centre=own,
            centre_to_all=between,
            silhouette=silhouettes(X, cluster, clusters, rows.weights, model.noise_cluster()),
        )


class ClusteredRows(UnlabelledRows):
    """Rows to be put into clusters."""

    kind = "clustering"
    task = Clustering()
