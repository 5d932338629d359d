"""Scores of clusters beside scikit-learn and the worked examples, sections 3 and 10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as peer
from scipy.spatial.distance import cdist

from mlcli.core.answers import Header
from mlcli.core.tables import Array
from mlcli.metrics.base import Undefined
from mlcli.metrics.registry import metric_named
from mlcli.metrics.summary import summarise
from mlcli.tasks.clustering import ClusterAnswers, around_centres, silhouettes
from tests.support.memory import peak_of

PEERS = {
    "adjusted-rand": peer.adjusted_rand_score,
    "homogeneity": peer.homogeneity_score,
    "completeness": peer.completeness_score,
    "v-measure": peer.v_measure_score,
}


def answers(
    X: Any, cluster: Any, truth: Any = None, weight: Array | None = None, rows: Any = None
) -> ClusterAnswers:
    """What a clustering would have said of some rows."""
    X = np.asarray(X, dtype=np.float64).reshape(len(cluster), -1)
    cluster = np.asarray(cluster, dtype=np.int32)
    clusters = int(cluster.max()) + 1
    known = np.full(len(cluster), -1) if truth is None else np.asarray(truth)
    weights = np.ones(len(X)) if weight is None else weight
    own, between = around_centres(X, cluster, clusters, weights)
    return ClusterAnswers(
        header=Header(rows=np.arange(len(cluster)) if rows is None else rows, weight=weight),
        cluster=cluster,
        truth=known.astype(np.int32),
        classes=tuple(f"class {code}" for code in range(int(known.max()) + 1)),
        clusters=clusters,
        to_centre=own,
        centre_to_all=between,
        silhouette=silhouettes(X, cluster, clusters, weights),
    )


def score(name: str, of: ClusterAnswers) -> Any:
    """One score."""
    return metric_named(name, ClusterAnswers).compute(of)


def dealt(seed: int, n: int = 120) -> ClusterAnswers:
    """Rows, clusters and labels that have a little to do with each other."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    cluster = np.where(rng.random(n) < 0.5, truth, rng.integers(0, 4, n))
    return answers(rng.normal(size=(n, 3)) + cluster[:, None], cluster, truth)


@pytest.mark.parametrize("name", list(PEERS))
@pytest.mark.parametrize("seed", range(4))
def test_agreement_with_labels_is_that_of_scikit_learn(name: str, seed: int) -> None:
    of = dealt(seed)
    assert score(name, of) == pytest.approx(PEERS[name](of.truth, of.cluster), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_separation_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 4, 90)
    X = rng.normal(size=(90, 3)) + cluster[:, None]
    of = answers(X, cluster)
    assert of.silhouette == pytest.approx(peer.silhouette_samples(X, cluster), abs=1e-9)
    assert score("silhouette", of) == pytest.approx(peer.silhouette_score(X, cluster), abs=1e-9)
    assert score("calinski-harabasz", of) == pytest.approx(peer.calinski_harabasz_score(X, cluster), rel=1e-9)


def test_an_offset_changes_no_score() -> None:
    rng = np.random.default_rng(5)
    cluster = rng.integers(0, 4, 90)
    X = np.round(rng.normal(size=(90, 3)) * 256) / 256
    for name in ("silhouette", "calinski-harabasz", "wcss", "bcss"):
        assert score(name, answers(X + 2.0**30, cluster)) == pytest.approx(
            score(name, answers(X, cluster)), rel=1e-9
        )


def test_sums_of_squares_are_those_of_the_worked_example() -> None:
    """Worked examples, section 10: rows 1 2 and 10 11."""
    of = answers([1, 2, 10, 11], [0, 0, 1, 1])
    assert score("wcss", of) == pytest.approx(1.0)
    assert score("bcss", of) == pytest.approx(81.0)
    assert score("calinski-harabasz", of) == pytest.approx(162.0)


def test_red_blue_and_gold_read_as_a_clustering_are_those_of_the_worked_example() -> None:
    """Worked examples, section 3: labels R B R B G, clusters R R B R B; decision 7 on homogeneity."""
    of = answers(np.arange(5), [0, 0, 1, 0, 1], [0, 1, 0, 1, 2])
    expected = {
        "homogeneity": 0.375150,
        "completeness": 0.588033,
        "v-measure": 0.458065,
        "adjusted-rand": 0.090909,
    }
    assert {name: score(name, of) for name in expected} == pytest.approx(expected, abs=1e-6)


def test_a_whole_weight_counts_as_that_many_rows() -> None:
    of = dealt(9)
    times = np.random.default_rng(1).integers(1, 4, len(of))
    X = np.random.default_rng(2).normal(size=(len(of), 2))
    weighted = answers(X, of.cluster, of.truth, weight=times.astype(float))
    again = np.repeat(np.arange(len(of)), times)
    repeated = answers(X[again], of.cluster[again], of.truth[again])
    for name in (*PEERS, "wcss", "bcss", "calinski-harabasz"):
        assert score(name, weighted) == pytest.approx(score(name, repeated), rel=1e-9)


@pytest.mark.parametrize("weight", [1 / 120, 0.3])
def test_rows_of_one_weight_below_1_agree_as_if_unweighted(weight: float) -> None:
    """The index is a ratio of weighted pairs, so that the unit of weights cancels."""
    of = dealt(9)
    weighted = answers(np.arange(len(of)), of.cluster, of.truth, weight=np.full(len(of), weight))
    expected = peer.adjusted_rand_score(of.truth, of.cluster)
    assert score("adjusted-rand", weighted) == pytest.approx(expected, abs=1e-9)


def test_agreement_of_fractional_weights_counts_pairs_of_different_rows() -> None:
    """By the pairs one by one, each with the product of its weights (Hubert & Arabie 1985)."""
    of = dealt(9)
    weights = np.random.default_rng(4).uniform(0.001, 0.5, len(of))
    pairs = np.triu(np.outer(weights, weights), 1)
    by_label, by_cluster = ((one[:, None] == one) * pairs for one in (of.truth, of.cluster))
    both = ((of.truth[:, None] == of.truth) * by_cluster).sum()
    chance = by_label.sum() * by_cluster.sum() / pairs.sum()
    expected = (both - chance) / ((by_label.sum() + by_cluster.sum()) / 2 - chance)
    weighted = answers(np.arange(len(of)), of.cluster, of.truth, weight=weights)
    assert score("adjusted-rand", weighted) == pytest.approx(expected, abs=1e-9)


def test_rows_that_weigh_less_than_clusters_have_no_degrees_of_freedom() -> None:
    of = answers([0, 1, 10, 11], [0, 0, 1, 1], weight=np.full(4, 0.25))
    why = Undefined("all rows together weigh no more than one row for each cluster")
    assert score("calinski-harabasz", of) == why


def test_one_cluster_has_no_separation_and_says_so() -> None:
    of = answers([1, 2, 3], [0, 0, 0])
    for name in ("silhouette", "calinski-harabasz"):
        assert score(name, of) == Undefined("all rows are in one cluster")


@pytest.mark.parametrize("points", [(1.0, 2.0), (0.1, 0.7), (-1.1055415967851332, 0.9045340337332909)])
def test_clusters_of_one_point_each_have_no_ratio_of_separations(points: tuple[float, float]) -> None:
    """Calinski & Harabasz 1974 divide by the squares within clusters, of which rounding leaves a little."""
    cluster = np.arange(60) % 7 < 3
    of = answers(np.where(cluster, *points), cluster)
    assert score("calinski-harabasz", of) == Undefined("every cluster is one point")


def test_without_labels_agreement_is_undefined() -> None:
    for name in PEERS:
        assert score(name, answers([1, 2, 3], [0, 0, 1])) == Undefined("the rows have no labels")


def test_stability_is_the_mean_adjusted_rand_index_of_every_two_clusterings() -> None:
    samples = [dealt(seed) for seed in range(4)]
    found = summarise(metric_named("stability", ClusterAnswers), samples, [120] * 4)
    pairs = [
        [peer.adjusted_rand_score(one.cluster, other.cluster) for other in samples if other is not one]
        for one in samples
    ]
    assert found.splits == pytest.approx([np.mean(of_one) for of_one in pairs], abs=1e-9)
    assert found.mean == pytest.approx(np.mean(pairs), abs=1e-9)
    assert found.low is None


def test_stability_compares_the_rows_that_two_splits_share() -> None:
    one = answers(np.arange(4), [0, 0, 1, 1], rows=np.array([0, 1, 2, 3]))
    other = answers(np.arange(4), [1, 0, 0, 1], rows=np.array([3, 1, 0, 9]))
    found = summarise(metric_named("stability", ClusterAnswers), [one, other], [4, 4])
    # Of rows 0, 1 and 3 both say: the first two together, the third apart.
    assert found.mean == 1.0


def test_a_single_clustering_has_no_stability_and_says_what_would_help() -> None:
    found = score("stability", dealt(1))
    assert found == Undefined("there is one clustering to compare", "protocol: bootstrap-whole")
    apart = [answers([1, 2], [0, 1], rows=np.array(rows)) for rows in ([0, 1], [2, 3])]
    shared = summarise(metric_named("stability", ClusterAnswers), apart, [2, 2])
    assert shared.why == "some splits share fewer than two rows"


def test_of_many_rows_some_silhouettes_are_computed_in_blocks_that_do_not_grow() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    cluster = (X[:, 0] > 0).astype(np.int32)
    weights = np.ones(len(X))
    most, found = peak_of(lambda: silhouettes(X, cluster, 2, weights)), silhouettes(X, cluster, 2, weights)
    known = np.flatnonzero(~np.isnan(found))
    some = known[::500]
    distances = np.sqrt(((X[some, None] - X) ** 2).sum(axis=2))
    near, apart = (
        np.array([row[cluster == which].sum() for row, which in zip(distances, choice, strict=True)])
        for choice in (cluster[some], 1 - cluster[some])
    )
    near, apart = near / (np.bincount(cluster)[cluster[some]] - 1), apart / np.bincount(cluster)[1 - cluster[some]]
    assert len(known) == 5_000
    assert found[some] == pytest.approx((apart - near) / np.maximum(near, apart), abs=1e-6)
    # A matrix of 5,000 x 20,000 distances alone would be 800 MB.
    assert most < 200e6


def test_a_row_of_weight_three_has_and_gives_the_silhouette_of_three_rows() -> None:
    # Oracle: scikit-learn's silhouette_score of the rows repeated, and SciPy's distances.
    rng = np.random.default_rng(5)
    X, cluster, weight = rng.normal(size=(40, 2)), rng.integers(0, 3, 40), rng.integers(0, 4, 40)
    often = np.repeat(np.arange(40), weight)
    weighted = answers(X, cluster, weight=weight.astype(np.float64))
    expected = peer.silhouette_score(cdist(X, X)[np.ix_(often, often)], cluster[often], metric="precomputed")
    assert score("silhouette", weighted) == pytest.approx(expected, abs=1e-12)


def test_silhouettes_of_near_clusters_keep_their_digits_beside_one_far_away() -> None:
    # Oracle: scikit-learn's silhouette_samples of the distances, each of which SciPy sums by itself.
    rng = np.random.default_rng(6)
    X = np.concatenate([rng.normal(middle, 1, (20, 2)) for middle in (0, 6, 1e9)])
    cluster = np.repeat([0, 1, 2], 20)
    exact = peer.silhouette_samples(cdist(X, X), cluster, metric="precomputed")
    assert silhouettes(X, cluster, 3, np.ones(60)) == pytest.approx(exact, abs=1e-9)
