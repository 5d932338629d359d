"""DBSCAN beside scikit-learn: core rows, noise and clusters; distances that are given; eps by the elbow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import cluster as peers
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from mlcli.core.errors import MlcliWarning
from mlcli.models.clusters.agglomerative import Agglomerative
from mlcli.models.clusters.dbscan import DBSCAN
from tests.golden.asking import answered, fitted
from tests.golden.test_k_means import rows, shipped


def matrix(X: Any) -> Any:
    """Euclidean distances, symmetric to the bit."""
    return np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))


@pytest.mark.parametrize(("eps", "min_rows"), [(0.5, 5), (0.8, 10), (0.3, 3)])
def test_clusters_and_noise_are_scikit_learns(eps: float, min_rows: int) -> None:
    X = shipped("iris").table.numbers
    theirs = peers.DBSCAN(eps=eps, min_samples=min_rows).fit(X)
    model = fitted(DBSCAN(eps=eps, min_rows=min_rows), rows(X))
    cluster = answered(DBSCAN(eps=eps, min_rows=min_rows), rows(X)).cluster
    core = theirs.core_sample_indices_
    assert len(model.core_) == len(core)
    assert np.array_equal(cluster == model.cluster_count() - 1, theirs.labels_ == -1)
    assert adjusted_rand_score(theirs.labels_[core], cluster[core]) == 1.0


def test_moons_are_told_apart_with_the_eps_of_the_elbow() -> None:
    X, y = make_moons(300, noise=0.05, random_state=0)
    cluster = answered(DBSCAN(), rows(X)).cluster
    kept = cluster < cluster.max()
    assert adjusted_rand_score(y[kept], cluster[kept]) > 0.95
    assert kept.mean() > 0.9


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
def test_given_distances_are_taken_as_they_are(linkage: Any) -> None:
    X = shipped("iris").table.numbers + np.random.default_rng(0).normal(size=(150, 4)) * 1e-4
    theirs = peers.AgglomerativeClustering(3, metric="precomputed", linkage=linkage).fit_predict(matrix(X))
    ours = answered(Agglomerative(linkage=linkage, distances="*"), rows(matrix(X))).cluster
    assert adjusted_rand_score(theirs, ours) == 1.0


def test_given_distances_make_the_clusters_and_scores_of_the_points() -> None:
    X = shipped("iris").table.numbers
    by_points, by_distances = (
        answered(DBSCAN(eps=0.5, min_rows=5, distances=how), rows(cells))
        for how, cells in ((None, X), ("*", matrix(X)))
    )
    assert np.array_equal(by_points.cluster, by_distances.cluster)
    assert by_points.silhouette == pytest.approx(by_distances.silhouette, abs=1e-6)
    assert by_points.to_centre == pytest.approx(by_distances.to_centre, abs=1e-6)


def test_noise_alone_is_said() -> None:
    X = np.arange(10.0)[:, None] * 100
    with pytest.warns(MlcliWarning, match="all are noise"):
        model = fitted(DBSCAN(eps=1.0), rows(X))
    assert model.cluster_names() == ("noise",)
