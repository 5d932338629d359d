"""One cluster: its sum of squares is the whole of the table's (scikit-learn's KMeans with one cluster)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

from mlcli.core.pipeline import learn, predict_rows
from mlcli.metrics.registry import metric_named
from mlcli.models.clusters.one_cluster import OneCluster
from mlcli.tasks.clustering import ClusterAnswers, ClusteredRows
from tests.golden.shipped import in_numbers


def test_all_rows_are_one_cluster_as_tight_as_one_cluster_of_scikit_learn() -> None:
    table = in_numbers("wine").table
    n = len(table)
    rows = ClusteredRows(table=table, rows=np.arange(n), labels=np.full(n, -1, dtype=np.int32))
    model = OneCluster()
    learn(model, rows, np.random.default_rng(0))
    peer = KMeans(1, n_init=1, random_state=0).fit(table.numbers)
    answers = predict_rows(model, rows)
    assert metric_named("wcss", ClusterAnswers).compute(answers) == pytest.approx(peer.inertia_, rel=1e-9)
    assert metric_named("bcss", ClusterAnswers).compute(answers) == pytest.approx(0.0, abs=1e-6)
