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
    Columns should be on one scale, as the clustering wants. With a ``classifier`` all rows get the label of their
    cluster, a known label being kept, and the classifier that learns from them answers; a clustering that can only
    place the rows that it has seen needs one. Without unlabelled rows the labelled ones are clustered.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.model import Model
from mlcli.core.moments import quotient
from mlcli.core.nested import model_param
from mlcli.core.params import learned, models_inside, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.ensemble import check_members, fitted, outputs
from mlcli.tasks.classification import CLASSIFICATION, Classifier, LabelledRows
from mlcli.tasks.clustering import ClusteredRows, Clusterer


@register("cluster-then-label", reference="Chapelle, Schölkopf & Zien 2006, Semi-Supervised Learning, section 1.2")
class ClusterThenLabel(Classifier):
    """Clusters that get the majority of the labels in them."""

    base: Model = model_param(
        {"use": "k-means", "params": {"clusters": 10}}, "the clustering of all rows", of=(Clusterer,)
    )
    classifier: Model | None = model_param(
        None,
        "what learns from all rows with the labels of their clusters; none: these answer",
        of=(Classifier,),
    )
    without_labels: str = param(
        "nearest", "what a cluster without labelled rows is given", choices=("nearest", "all")
    )

    base_: Any = learned(model="base")
    classifier_: Any = learned()
    shares_: Array = learned()
    """Of each cluster, the share of each class."""
    counts_: Array = learned()
    """Of each cluster: the weight of its labelled rows by class, then that of the others."""

    def conflicts(self) -> list[str]:
        """A clustering that cannot place rows that it has not seen."""
        stuck = getattr(self.base.final, "transductive", False) and self.classifier is None
        return [f"base: {self.base.final.id} places no new rows: give a classifier too"] if stuck else []

    @property
    def accepts(self) -> Accepts:
        """What all inside accept, and unlabelled rows."""
        return replace(Accepts.by_all([model.accepts for model in models_inside(self)]), unlabelled=True)

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Cluster all rows, and count labels in clusters."""
        known = data.alone().counted()
        everything = known if data.unlabelled is None else known.joined(data.unlabelled.counted())
        labels = np.full(len(everything), -1, np.int32)
        unlabelled = ClusteredRows(
            table=everything.table, rows=everything.rows, weight=everything.weight, labels=labels
        )
        self.base_ = fitted(self.base, unlabelled, rng.spawn(1)[0])
        cluster = self._cluster_of(everything.table)
        clusters = self.base_.final.cluster_count()
        cells = np.column_stack([everything.outputs * (everything.y >= 0)[:, None], everything.y < 0])
        self.counts_ = np.zeros((clusters, cells.shape[1]))
        np.add.at(self.counts_, cluster, cells * everything.weights[:, None])
        self.shares_ = self._shares(everything.table, cluster)
        if self.classifier is not None:
            labels = np.where(everything.y >= 0, everything.y, self.decide_clusters()[cluster]).astype(np.int32)
            self.classifier_ = fitted(self.classifier, everything.with_target(labels), rng.spawn(1)[0])

    def _shares(self, table: Table, cluster: Codes) -> Array:
        """The shares of classes in each cluster, and what those without labels are given."""
        labelled = self.counts_[:, :-1]
        shares = quotient(labelled, np.repeat(labelled.sum(axis=1, keepdims=True), labelled.shape[1], axis=1))
        empty = np.flatnonzero(labelled.sum(axis=1) == 0)
        others = np.flatnonzero(labelled.sum(axis=1) > 0)
        shares[empty] = labelled.sum(axis=0) / labelled.sum()
        if self.without_labels == "nearest":
            final, prepared = self.base_.final, self.base_.prepared(table)
            X = final.feature_matrix(prepared)
            centres = {g: X[cluster == g].mean(axis=0) for g in range(len(shares)) if (cluster == g).any()}
            for g in empty.tolist():
                if g in centres:
                    apart = [((centres[other] - centres[g]) ** 2).sum() for other in others.tolist()]
                    shares[g] = shares[others[int(np.argmin(apart))]]
        return shares

    def decide_clusters(self) -> Codes:
        """The label of each cluster."""
        return self.decide(self.shares_)

    def _cluster_of(self, table: Table) -> Codes:
        return np.asarray(self.base_.final.cluster_of(self.base_.prepared(table)), np.int32)

    def predict_proba(self, table: Table) -> Array:
        """The shares of the cluster of each row, or what the classifier says."""
        if self.classifier is None:
            return np.asarray(self.shares_[self._cluster_of(table)])
        return outputs(self.classifier_, table, CLASSIFICATION)

    def check_learned(self) -> None:
        """Shares for each cluster, and the classifier that was asked for."""
        clustering: Any = self.base_.final
        clusters, classes = clustering.cluster_count(), len(self.classes_)
        if (self.shares_.shape, self.counts_.shape) != ((clusters, classes), (clusters, classes + 1)):
            raise ValueError("shares that do not fit the clusters")
        if self.classifier is not None:
            check_members([self.classifier_], self.classifier, self)

    def explain(self) -> findings.Explanation:
        """The clusters with their labelled rows, then what the classifier has learned."""
        labels = [self.classes_[code] for code in self.decide_clusters()]
        alone = self.counts_[:, :-1].sum(axis=1) == 0
        rows = tuple(
            (cluster, *counts, f"{label} (none of its own)" if empty else label)
            for cluster, (counts, label, empty) in enumerate(
                zip(self.counts_.tolist(), labels, alone.tolist(), strict=True)
            )
        )
        table = findings.Table(
            "Clusters and their labels", ("cluster", *self.classes_, "unlabelled", "label"), rows
        )
        return (table, *(() if self.classifier is None else self.classifier_.explain()))
