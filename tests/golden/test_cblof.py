"""CBLOF beside SOURCES.md (section 10), the rule of He et al., and clusters of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from mlcli.models.anomaly.cblof import ClusterFactor, how_many_large
from tests.golden.asking import asked, fitted
from tests.golden.screening import line, rows_of, scores


@pytest.mark.parametrize(("weights", "expected"), [("none", [2, 10]), ("size", [18, 20]), ("printed", [18, 10])])
def test_a_large_cluster_round_0_and_two_rows_at_10(weights: str, expected: list[float]) -> None:
    # SOURCES.md, section 10: nine rows round 0, one of them at 2, and two at 10.
    data = line(2, *[-0.25] * 8, 10, 10)
    model = fitted(ClusterFactor(clusters=2, alpha=0.8, weights=weights), data)
    assert asked(model, line(2, 10)).score == pytest.approx(expected)
    (table,) = model.explain_answer(line(10).table)
    assert table.rows == ((2, "small", 2.0, 0.0, "has the row"), (1, "large", 9.0, 10.0, "is measured from"))


@pytest.mark.parametrize(
    ("sizes", "alpha", "beta", "large"),
    [
        ([50, 40, 8, 2], 0.9, 5, 2),  # 90 of 100 rows
        ([50, 40, 8, 2], 0.95, 5, 2),  # 40 is 5 times 8
        ([50, 40, 8, 2], 0.95, 6, 3),  # 98 of 100 rows
        ([60, 15, 10, 10, 5], 0.9, 5, 4),
        ([60, 10, 10, 10, 10], 0.9, 6, 1),
        ([7], 0.9, 5, 1),
    ],
)
def test_clusters_are_large_up_to_a_share_or_a_gap(
    sizes: list[int], alpha: float, beta: float, large: int
) -> None:
    assert how_many_large(np.array(sizes, dtype=float), alpha, beta) == large


@pytest.mark.parametrize("weights", ["none", "size", "printed"])
def test_scores_follow_from_the_clusters_of_scikit_learn(weights: str) -> None:
    centres = np.array([[0, 0, 0], [20, 0, 0], [0, 20, 0], [30, 30, 30]])
    X, _ = make_blobs([120, 90, 60, 6], centers=centres, random_state=0)
    Z = np.random.default_rng(1).uniform(-10, 40, (80, 3))
    peer = KMeans(4, n_init=10, random_state=0).fit(X)
    sizes = np.bincount(peer.labels_)
    large = sizes > 6
    apart = np.sqrt(((Z[:, None] - peer.cluster_centers_) ** 2).sum(axis=2))
    own = peer.predict(Z)
    distance = np.where(large[own], apart.min(axis=1), apart[:, large].min(axis=1))
    factor = {"none": 1.0, "size": sizes[own], "printed": np.where(large[own], sizes[own], 1.0)}[weights]
    found = scores(ClusterFactor(clusters=4, weights=weights), X, Z)
    assert found == pytest.approx(distance * factor, rel=1e-9)


def test_the_column_that_leads_away_is_the_reason() -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    answers = asked(fitted(ClusterFactor(), rows_of(X)), rows_of(np.array([[0.0, 0.0, -30.0]]), first=100))
    assert answers.columns[answers.reasons[0, 0]] == "x2"
    assert answers.shares[0, 0] < -0.9


def test_rows_that_spoil_the_clusters_are_taken_out() -> None:
    # Nine rows round 0 and 100: without the latter the centre is 0; with it, the mean is 10.
    data = line(*[-1, 1] * 4, 0, 100)
    assert fitted(ClusterFactor(clusters=1), data).centres_.tolist() == [[10.0]]
    model = fitted(ClusterFactor(clusters=1, trim=0.1), data)
    assert model.centres_.tolist() == [[0.0]]
    assert model.sizes_.tolist() == [9]
    assert asked(model, line(100)).score == pytest.approx([100])


def test_of_the_small_clusters_only_far_ones_are_anomalies() -> None:
    # 20 rows at -1 and 1 (spread 1), two at 6 and two at 60; every cluster but the first is small.
    data = line(*[-1, 1] * 10, 6, 6, 60, 60)
    asked_about = line(6, 60)
    for far, expected in ((None, [6, 60]), (10.0, [0, 54]), (100.0, [0, 0])):
        model = fitted(ClusterFactor(clusters=3, alpha=0.8, far=far, restarts=20), data)
        assert asked(model, asked_about).score == pytest.approx(expected, abs=1e-9)
