"""K-means beside scikit-learn from the same start, and beside the plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans as Peer
from sklearn.metrics import adjusted_rand_score

from mlcli.core.errors import MlcliWarning
from mlcli.core.pipeline import learn
from mlcli.core.tables import Array
from mlcli.data.load import load
from mlcli.engines import centres as centres_engine
from mlcli.engines.centres import STARTS, CentredRows, Lloyd, Stop, centred_rows, place, placing_for
from mlcli.metrics.registry import metric_named
from mlcli.models.clusters.k_means import KMeans
from mlcli.tasks.clustering import ClusteredRows
from tests.golden.asking import answered, asked, fitted
from tests.golden.shipped import numeric
from tests.support.memory import peak_of

DATASETS = ["iris", "wine", "ruspini", "faithful", "glass"]
TO_THE_END = Stop(0.0, 0, 1000)


def rows(X: Any, weight: Any = None) -> ClusteredRows:
    """Rows of numbers without labels."""
    X = np.asarray(X, dtype=np.float64)
    X = X[:, None] if X.ndim == 1 else X
    unknown = np.full(len(X), -1, np.int32)
    return ClusteredRows(table=numeric(X), rows=np.arange(len(X)), labels=unknown, weight=weight)


def shipped(name: str) -> ClusteredRows:
    """The numbers of a shipped dataset, each column with mean 0 and variance 1."""
    dataset = load(name)
    X = ClusteredRows.from_table(dataset.table, dataset.schema).table.numbers
    return rows((X - X.mean(axis=0)) / X.std(axis=0))


def cloud(data: ClusteredRows) -> CentredRows:
    """The rows as k-means holds them; these have mean 0."""
    return centred_rows(data.table.numbers, data.weights)


def plain(X: Array, weights: Array, centres: Array) -> tuple[Array, float]:
    """Lloyd's algorithm as the notes print it: every row measured in every step."""
    before = None
    while True:
        squared = ((X[:, None] - centres) ** 2).sum(axis=2)
        cluster = squared.argmin(axis=1)
        if before is not None and np.array_equal(before, cluster):
            return centres, float(weights @ squared.min(axis=1))
        before = cluster
        centres = np.array(
            [np.average(X[cluster == g], axis=0, weights=weights[cluster == g]) for g in np.unique(cluster)]
        )


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("clusters", [2, 3, 5])
@pytest.mark.parametrize("start", list(STARTS))
def test_from_the_same_start_the_clusters_and_inertia_are_those_of_scikit_learn(
    dataset: str, clusters: int, start: str
) -> None:
    # With this seed no cluster loses all its rows; which row then restarts it is left open (decision 46).
    data = cloud(shipped(dataset))
    first = STARTS[start](data, clusters, np.random.default_rng(6))
    ours = Lloyd(data, first, place).run(TO_THE_END)
    peer = Peer(clusters, init=first, n_init=1, tol=0.0, max_iter=1000).fit(data.X)
    assert ours.within == pytest.approx(peer.inertia_, rel=1e-9)
    assert ours.centres == pytest.approx(peer.cluster_centers_, abs=1e-9)


@pytest.mark.parametrize("clusters", [2, 4, 7])
@pytest.mark.parametrize("route", [0, 10**18], ids=["compiled", "numpy"])
def test_rows_that_are_passed_over_change_nothing(
    clusters: int, route: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bounds of Hamerly 2010 and the changed sums against the plain loop, with weights."""
    rng = np.random.default_rng(clusters)
    X = rng.normal(size=(700, 6))
    data = cloud(rows(X - X.mean(axis=0), rng.uniform(0.1, 3.0, 700)))
    monkeypatch.setattr(centres_engine, "COMPILED_FROM", route)
    first = STARTS["random-points"](data, clusters, rng)
    ours = Lloyd(data, first, placing_for(1)).run(TO_THE_END)
    centres, within = plain(data.X, data.weights, first)
    assert ours.centres == pytest.approx(centres, abs=1e-9)
    assert ours.within == pytest.approx(within, rel=1e-9)


@pytest.mark.parametrize("dataset", DATASETS)
def test_restarts_end_no_worse_than_scikit_learn(dataset: str) -> None:
    data = shipped(dataset)
    peer = Peer(3, n_init=10, random_state=0).fit(data.table.numbers)
    assert fitted(KMeans(restarts=30), data).within_ <= peer.inertia_ * (1 + 1e-3)


def test_four_clear_clusters_are_found() -> None:
    """Ruspini 1970 has four natural clusters, of 23, 20, 17 and 15 rows; scikit-learn finds the same."""
    data = shipped("ruspini")
    model = fitted(KMeans(clusters=4), data)
    peer = Peer(4, n_init=10, random_state=0).fit(data.table.numbers)
    assert model.sizes_.tolist() == [23, 20, 17, 15]
    assert adjusted_rand_score(asked(model, data).cluster, peer.labels_) == 1.0
    assert model.within_ == pytest.approx(peer.inertia_, rel=1e-9)


def test_clusters_are_numbered_from_the_largest() -> None:
    answers = answered(KMeans(clusters=3), rows([0, 1, 100, 101, 102, 103, 200, 201, 202]))
    assert answers.cluster.tolist() == [2, 2, 0, 0, 0, 0, 1, 1, 1]


def test_the_sums_of_squares_of_the_worked_example() -> None:
    """Worked examples, section 10: rows 1 2 and 10 11 have WCSS 1."""
    assert fitted(KMeans(clusters=2), rows([1, 2, 10, 11])).within_ == pytest.approx(1.0, abs=1e-12)


def test_of_two_equally_near_centres_the_first_wins() -> None:
    # Decision 46: the row 5 lies half-way between the centres 2 and 8.
    model = fitted(KMeans(clusters=2), rows([1, 2, 3, 7, 8, 9]))
    assert sorted(model.centres_[:, 0] + model.origin_[0]) == pytest.approx([2.0, 8.0])
    assert model.cluster_of(numeric(np.array([[5.0]]))).tolist() == [0]


@pytest.mark.parametrize("route", [0, 10**18], ids=["compiled", "numpy"])
def test_a_cluster_without_rows_restarts_at_the_farthest_row(route: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Decision 46: no row is nearest to the centre at 1000, and 40 is the row farthest from its own.
    data = cloud(rows([-20.0, -19.0, -1.0, 0.0, 40.0]))
    monkeypatch.setattr(centres_engine, "COMPILED_FROM", route)
    ended = Lloyd(data, np.array([[-20.0], [0.0], [1000.0]]), placing_for(1)).run(TO_THE_END)
    assert sorted(ended.centres[:, 0]) == pytest.approx([-19.5, -0.5, 40.0])


def test_fewer_different_rows_than_clusters_are_said() -> None:
    with pytest.warns(MlcliWarning, match=r"fewer rows differ \(2\) than clusters were asked for \(3\)"):
        answers = answered(KMeans(clusters=3), rows([1, 1, 1, 5, 5]))
    assert answers.cluster.tolist() == [0, 0, 0, 1, 1]


def test_a_last_step_that_still_moves_is_said() -> None:
    with pytest.warns(MlcliWarning, match="not converged after 1 iteration"):
        fitted(KMeans(clusters=5, max_iterations=1, tolerance=0.0, start="random-assignment"), shipped("iris"))


def test_rows_of_weight_zero_count_as_none() -> None:
    X = np.random.default_rng(3).normal(size=(60, 2))
    weight = np.repeat([1.0, 0.0], 30)
    model, alone = KMeans(clusters=2), KMeans(clusters=2)
    learn(model, rows(X, weight), np.random.default_rng(1))
    learn(alone, rows(X[:30]), np.random.default_rng(1))
    assert model.centres_ + model.origin_ == pytest.approx(alone.centres_ + alone.origin_, abs=1e-12)


def test_an_offset_moves_the_centres_and_nothing_else() -> None:
    X = np.round(np.random.default_rng(4).normal(size=(200, 3)) * 256) / 256
    near, far = fitted(KMeans(), rows(X)), fitted(KMeans(), rows(X + 2.0**24))
    assert far.centres_ == pytest.approx(near.centres_, abs=1e-7)
    assert asked(near, rows(X)).cluster.tolist() == asked(far, rows(X + 2.0**24)).cluster.tolist()


@pytest.mark.parametrize("start", list(STARTS))
@pytest.mark.parametrize("route", [0, 10**18], ids=["compiled", "numpy"])
def test_memory_grows_with_the_rows_and_not_with_their_square(
    start: str, route: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(centres_engine, "COMPILED_FROM", route)

    def peak(n: int) -> int:
        data = rows(np.random.default_rng(0).normal(size=(n, 4)))
        return peak_of(lambda: fitted(KMeans(clusters=5, start=start, restarts=2, tolerance=0.1), data))

    peak(500)
    assert peak(8000) < 3 * peak(4000)


def test_as_many_clusters_as_lie_far_enough_apart() -> None:
    places = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
    X = np.repeat(places, 30, axis=0) + np.random.default_rng(0).normal(size=(120, 2)) * 0.5
    model = fitted(KMeans(clusters=7, separation=5.0), rows(X))
    assert model.cluster_count() == 4
    # The centres of the four clouds, and the mean distance of rows to theirs, by NumPy.
    middles = np.array([X[at : at + 30].mean(axis=0) for at in range(0, 120, 30)])
    away = np.sqrt(((X - np.repeat(middles, 30, axis=0)) ** 2).sum(axis=1)).mean()
    apart = np.sqrt(((middles[:, None] - middles) ** 2).sum(axis=2))
    assert model.separations_[2] == pytest.approx(apart[apart > 0].min() / away, rel=1e-6)


def test_one_cluster_where_none_lie_far_enough_apart() -> None:
    assert fitted(KMeans(clusters=4, separation=100.0), shipped("iris")).cluster_count() == 1


def test_the_mean_distance_to_the_centre_is_that_of_numpy() -> None:
    data = shipped("iris")
    answers = answered(KMeans(), data)
    X = data.table.numbers
    middles = np.array([X[answers.cluster == k].mean(axis=0) for k in range(3)])
    expected = np.sqrt(((X - middles[answers.cluster]) ** 2).sum(axis=1)).mean()
    assert metric_named("centre-distance", type(answers)).compute(answers) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("start", ["k-means-plus-plus", "random-points", "random-assignment"])
def test_it_tells_how_the_inertia_fell_and_where_every_restart_ended(start: str) -> None:
    data = shipped("wine")
    X = data.table.numbers
    model = fitted(KMeans(clusters=4, start=start, restarts=5), data)
    told, fall, *_ = model.explain()
    ((_, path),) = fall.series
    assert len(path) == model.steps_ + 1
    assert (np.diff(path) <= 1e-9 * path[0]).all()
    means = np.array([X[model.cluster_of(data.table) == k].mean(axis=0) for k in range(4)])
    assert path[-1] == pytest.approx(((X[:, None] - means) ** 2).sum(axis=2).min(axis=1).sum())
    assert len(model.ends_) == 5
    assert path[-1] == pytest.approx(model.ends_.min())
    worst = f"the highest inertia of the others is {model.ends_.max():.6g}"
    assert (worst in told.lines[-1]) == (model.ends_.max() > path[-1] + 1e-6 * path[0])


def test_four_rows_end_at_an_inertia_of_one_from_every_start() -> None:
    """Rows 1, 2 and 10, 11: within 1, between 81 (worked examples, section 10)."""
    model = fitted(KMeans(clusters=2), rows([1.0, 2.0, 10.0, 11.0]))
    assert model.path_[-1] == pytest.approx(1.0)
    assert model.explain()[0].lines[-1].endswith(", where all ended")
