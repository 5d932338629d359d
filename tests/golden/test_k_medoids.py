"""K-medoids beside every choice of medoids, by rows and by a matrix of distances."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mlcli.models.clusters.k_medoids import KMedoids, best_swap
from tests.golden.asking import asked, fitted
from tests.golden.densities import numbers_of, unlabelled


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_sum_of_distances_is_the_least_of_all_choices(metric: str) -> None:
    X = numbers_of("ruspini")[::4]
    apart = cdist(X, X, {"euclidean": "euclidean", "manhattan": "cityblock"}[metric])
    best = min(combinations(range(len(X)), 4), key=lambda some: apart[:, some].min(axis=1).sum())
    model: Any = fitted(KMedoids(clusters=4, metric=metric), unlabelled(X, "clustering"))
    assert model.total_ == pytest.approx(apart[:, best].min(axis=1).sum())
    assert sorted(model.rows_.tolist()) == sorted(best)


def test_a_swap_is_worth_what_is_said() -> None:
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(14, 2)), rng.uniform(0.5, 2, 14)
    apart, places = cdist(X, X), np.array([0, 1, 2])

    def total(some: list[int]) -> float:
        return float(weights @ apart[:, some].min(axis=1))

    worth = {
        (medoid, row): total(places.tolist()) - total([*np.delete(places, medoid).tolist(), row])
        for medoid in range(3)
        for row in range(3, 14)
    }
    gain, medoid, row = best_swap(apart, weights, places)
    assert gain == pytest.approx(max(worth.values()))
    assert worth[medoid, row] == pytest.approx(gain)


def test_new_rows_go_to_the_nearest_medoid_and_the_largest_cluster_is_first() -> None:
    X = numbers_of("iris")
    model: Any = fitted(KMedoids(), unlabelled(X[::2], "clustering"))
    said = asked(model, unlabelled(X[1::2], "clustering")).cluster
    assert (said == cdist(X[1::2], X[::2][model.rows_]).argmin(axis=1)).all()
    assert (np.diff(model.sizes_) <= 0).all()
