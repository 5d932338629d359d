"""Random clusters: uniform draws, in which no label is found again (scikit-learn's adjusted Rand index)."""

from __future__ import annotations

import numpy as np
from scipy.stats import chisquare
from sklearn.metrics import adjusted_rand_score

from mlcli.core.pipeline import learn, predict_rows
from mlcli.models.clusters.random_clusters import RandomClusters
from mlcli.tasks.clustering import ClusterAnswers, ClusteredRows
from tests.golden.shipped import in_numbers


def test_clusters_are_uniform_and_know_nothing_of_the_classes() -> None:
    data = in_numbers("digits")
    n = len(data)
    rows = ClusteredRows(table=data.table, rows=np.arange(n), labels=np.full(n, -1, dtype=np.int32))
    model = RandomClusters(clusters=10)
    learn(model, rows, np.random.default_rng(0))
    answers = predict_rows(model, rows)
    assert isinstance(answers, ClusterAnswers)
    assert chisquare(np.bincount(answers.cluster, minlength=10)).pvalue > 0.01
    assert abs(adjusted_rand_score(data.y, answers.cluster)) < 0.01
