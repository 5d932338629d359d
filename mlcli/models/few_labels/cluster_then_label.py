"""Cluster, then label: rows are put into clusters with no look at labels; a cluster has the labels found in it.

Formula:
    Let c(x) be the cluster of x, of a clustering of all rows, labelled or not. P(k | x) is the share of class k
    among the labelled rows of c(x), so that the label of a cluster is that of the majority. A cluster without
    labelled rows has the shares of the cluster with some whose centre is nearest (``without_labels: nearest``),
    or those of all labelled rows (``all``).

Assumes:
    Clusters and classes coincide: a cluster holds rows of one class, though a class may have several clusters.
    More clusters than classes make that likelier, as long as each has a labelled row.

Cost:
    One clustering of all rows, then one pass; and one fit of the classifier, if there is one.

Choices:
    Columns should be on one scale, as clustering requires. With a ``classifier`` all rows get the label of their
    cluster, known labels are kept, and the classifier learns from all rows; a clustering that cannot place new
    rows needs one. Without unlabelled rows the labelled ones are clustered.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.model import Model
from mlcli.core.moments import quotient
from mlcli.core.nested import model_param
from mlcli.core.params import learned, models_inside, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.tasks.clustering import ClusteredRows, Clusterer
from mlcli.tasks.supervised import CLASSIFICATION, Classifier, LabelledRows


@register("cluster-then-label", reference="Chapelle, Schölkopf & Zien 2006, Semi-Supervised Learning, section 1.2")
class ClusterThenLabel(Classifier):
    """Clusters that get the majority of the labels in them."""

    base: Model = model_param(
        {"use": "k-means", "params": {"clusters": 10}}, "the clustering of all rows", of=(Clusterer,)
    )
    classifier: Model | None = model_param(
        None,
        "classifier that learns from all rows with the labels of their clusters; none: the clusters predict",
        of=(Classifier,),
    )
    without_labels: str = param(
        "nearest", "class shares of a cluster without labelled rows", choices=("nearest", "all")
    )

    base_: Model = learned(model="base")
    classifier_: Model = learned()
    shares_: Array = learned()
    """The share of each class in each cluster."""
    counts_: Array = learned()
    """For each cluster the weight of its labelled rows by class, then that of the others."""

    def conflicts(self) -> list[str]:
        """A clustering that cannot place new rows needs a classifier."""
        if self.classifier is None and getattr(self.base.final, "transductive", False):
            return [f"base: {self.base.final.id} places no new rows: give a classifier too"]
        return []

    @property
    def accepts(self) -> Accepts:
        """Everything that all nested models accept, and unlabelled rows."""
        return replace(Accepts.by_all([model.accepts for model in models_inside(self)]), unlabelled=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Cluster all rows, count labels in clusters, and fit the classifier if there is one."""
        labelled = data.alone().counted()
        rows = labelled if data.unlabelled is None else labelled.joined(data.unlabelled.counted())
        no_labels = np.full(len(rows), -1, np.int32)
        unlabelled = ClusteredRows(table=rows.table, rows=rows.rows, weight=rows.weight, labels=no_labels)
        self.base_ = fitted(self.base, unlabelled, rng.spawn(1)[0])
        cluster = self._cluster_of(rows.table)
        by_class = np.column_stack([rows.outputs * (rows.y >= 0)[:, None], rows.y < 0])
        self.counts_ = np.zeros((self._clusterer().cluster_count(), by_class.shape[1]))
        np.add.at(self.counts_, cluster, by_class * rows.weights[:, None])
        self.shares_ = self._class_shares(rows.table, cluster)
        if self.classifier is not None:
            labels = np.where(rows.y >= 0, rows.y, self.decide_clusters()[cluster]).astype(np.int32)
            self.classifier_ = fitted(self.classifier, rows.with_target(labels), rng.spawn(1)[0])

    def _clusterer(self) -> Clusterer:
        """The fitted clustering, behind its steps."""
        final = self.base_.final
        assert isinstance(final, Clusterer)
        return final

    def _class_shares(self, table: Table, cluster: Codes) -> Array:
        """The shares of classes in each cluster; those of another one, or of all, if it has no labelled row."""
        counts = self.counts_[:, :-1]
        totals = counts.sum(axis=1)
        shares = quotient(counts, np.repeat(totals[:, None], counts.shape[1], axis=1))
        shares[totals == 0] = counts.sum(axis=0) / counts.sum()
        if self.without_labels == "nearest":
            X = self._clusterer().feature_matrix(self.base_.prepared(table))
            centres = {g: X[cluster == g].mean(axis=0) for g in range(len(shares)) if (cluster == g).any()}
            labelled = np.flatnonzero(totals > 0)
            for g in np.flatnonzero(totals == 0).tolist():
                if g in centres:
                    distances = [((centres[other] - centres[g]) ** 2).sum() for other in labelled.tolist()]
                    shares[g] = shares[labelled[int(np.argmin(distances))]]
        return shares

    def decide_clusters(self) -> Codes:
        """The label of each cluster."""
        return self.decide(self.shares_)

    def _cluster_of(self, table: Table) -> Codes:
        return np.asarray(self._clusterer().cluster_of(self.base_.prepared(table)), np.int32)

    def predict_proba(self, table: Table) -> Array:
        """The shares of the cluster of each row, or the probabilities of the classifier."""
        if self.classifier is None:
            return np.asarray(self.shares_[self._cluster_of(table)])
        return outputs(self.classifier_, table, CLASSIFICATION)

    def check_learned(self) -> None:
        """Shares for each cluster, and the classifier that was asked for."""
        clusters, classes = self._clusterer().cluster_count(), len(self.classes_)
        if (self.shares_.shape, self.counts_.shape) != ((clusters, classes), (clusters, classes + 1)):
            raise ValueError("shares that do not fit the clusters")
        if self.classifier is not None:
            check_members([self.classifier_], self.classifier, self)

    def explain(self) -> findings.Explanation:
        """The clusters with their labelled rows, then what the classifier has learned."""
        rows = []
        for cluster, (counts, code) in enumerate(zip(self.counts_.tolist(), self.decide_clusters(), strict=True)):
            own = "" if sum(counts[:-1]) > 0 else " (none of its own)"
            rows.append((cluster, *counts, f"{self.classes_[code]}{own}"))
        header = ("cluster", *self.classes_, "unlabelled", "label")
        table = findings.Table("Clusters and their labels", header, tuple(rows))
        return (table, *(() if self.classifier is None else self.classifier_.explain()))
