"""Distances to neighbours beside scikit-learn's NearestNeighbors, for training rows and for others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import NearestNeighbors

from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.core.tables import Array
from mlcli.models.anomaly.knn_distance import NeighbourDistance
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of, scores, scores_of_its_own
from tests.support.shell import typed

X, Z = cloud(300, 5), 2 * cloud(90, 5, seed=1)
OF_SKLEARN: dict[str, Callable[[Array], Array]] = {
    "kth": lambda distances: distances[:, -1],
    "average": lambda distances: distances.mean(axis=1),
}


@pytest.mark.parametrize("which", OF_SKLEARN)
@pytest.mark.parametrize("k", [1, 7, 299])
def test_other_rows_meet_all_training_rows(which: str, k: int) -> None:
    distances, _ = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(Z)
    found = scores(NeighbourDistance(neighbours=k, which=which), X, Z)
    assert found == pytest.approx(OF_SKLEARN[which](distances), rel=1e-9)


@pytest.mark.parametrize("which", OF_SKLEARN)
@pytest.mark.parametrize("k", [1, 7, 299])
def test_a_training_row_is_left_out_of_its_own_neighbours(which: str, k: int) -> None:
    distances, _ = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    found = scores_of_its_own(NeighbourDistance(neighbours=k, which=which), X)
    assert found == pytest.approx(OF_SKLEARN[which](distances), rel=1e-9)


def test_rows_that_tie_for_the_last_place_count_once() -> None:
    # From 0, the neighbours lie at 1, 2, 2, 2: the two nearest are 1.5 away on average.
    data = line(0, 1, 2, -2, 2)
    found = asked(fitted(NeighbourDistance(neighbours=2, which="average"), data), data).score
    assert found[0] == pytest.approx(1.5)


def test_equal_rows_are_each_others_neighbours() -> None:
    data = line(4, 4, 4, 9)
    assert asked(fitted(NeighbourDistance(neighbours=2), data), data).score.tolist() == [0, 0, 0, 5]


def test_more_neighbours_than_other_rows_are_all_of_them_and_said() -> None:
    with pytest.warns(MlcliWarning, match="only 2 others"):
        model = fitted(NeighbourDistance(neighbours=5), line(0, 1, 3))
    assert asked(model, line(0, 1, 3)).score.tolist() == [3, 2, 3]


def test_one_row_has_no_neighbours() -> None:
    with pytest.raises(FitError, match="at least two training rows"):
        fitted(NeighbourDistance(), line(1))


def test_the_column_that_is_far_off_is_the_reason() -> None:
    answers = asked(
        fitted(NeighbourDistance(), rows_of(X)), rows_of(X[:1] + np.array([0, 0, 0, 99, 0]), first=300)
    )
    assert answers.columns[answers.reasons[0, 0]] == "x3"
    assert answers.shares[0, 0] > 0.9


def test_no_rows_are_answered_with_none() -> None:
    assert len(scores(NeighbourDistance(), X, np.empty((0, 5)))) == 0


@pytest.mark.parametrize("which", ["kth", "average"])
@pytest.mark.parametrize("k", [1, 5, 30])
def test_rows_beside_equal_ones_score_as_in_scikit_learn(which: str, k: int) -> None:
    numbers = np.random.default_rng(3).integers(0, 5, (200, 2)).astype(float)
    distances = NearestNeighbors(n_neighbors=k).fit(numbers).kneighbors()[0]
    expected = distances[:, -1] if which == "kth" else distances.mean(axis=1)
    found = scores_of_its_own(NeighbourDistance(neighbours=k, which=which), numbers)
    assert found == pytest.approx(expected, rel=1e-9)


LINE = rows_of(np.array([[0.0], [1.0], [3.0]]))


def detector(**params: Any) -> Any:
    return build(NeighbourDistance, params)


def test_relative_distance_by_hand() -> None:
    # The neighbours of 10 are 3 and 1: (7 + 9) / 2 by |3 - 1|; of 0.5 they are 0 and 1: ½ by 1.
    model = fitted(detector(which="relative", neighbours=2), LINE)
    scores = asked(model, rows_of(np.array([[10.0], [0.5]]), first=3)).score
    assert scores == pytest.approx([4.0, 0.5])
    # Of a training row the others: of 3 they are 1 and 0, (2 + 3) / 2 by 1.
    assert asked(model, LINE).score[2] == pytest.approx(2.5)


def test_relative_distance_of_a_cloud_with_scipy() -> None:
    X, new = cloud(60, 3), cloud(5, 3, seed=4)
    scores = asked(fitted(detector(which="relative", neighbours=6), rows_of(X)), rows_of(new, first=60)).score
    for row, score in zip(new, scores, strict=True):
        distance = cdist(row[None], X)[0]
        near = np.argsort(distance)[:6]
        assert score == pytest.approx(distance[near].mean() / pdist(X[near]).mean())


def test_one_neighbour_has_no_relative_distance() -> None:
    with pytest.raises(UsageError, match="at least 2"):
        detector(which="relative", neighbours=1)


def test_random_distance_is_the_mean_over_samples_of_the_nearest_row() -> None:
    X, new = cloud(40, 2), cloud(6, 2, seed=5)
    model = fitted(detector(which="random", sample=3, subsets=7), rows_of(X))
    assert model.drawn_.shape == (7, 3)
    expected = np.mean([cdist(new, X[sample]).min(axis=1) for sample in model.drawn_], axis=0)
    assert asked(model, rows_of(new, first=40)).score == pytest.approx(expected)


def test_random_distance_of_large_samples_is_the_nearest_distance() -> None:
    X = cloud(10, 2)
    apart = cdist(X, X) + np.diag(np.full(10, np.inf))
    model = fitted(detector(which="random", sample=400, subsets=3), rows_of(X))
    assert asked(model, rows_of(X)).score == pytest.approx(apart.min(axis=1))


@pytest.mark.parametrize("which", ["relative", "random"])
def test_in_the_shell(which: str, tmp_path: Path) -> None:
    words = ("-m", "knn-distance", "-p", f"which={which}")
    result = typed("eval", "wdbc", "--task", "anomaly", *words)
    assert result.exit_code == 0, result.output
    saved = str(tmp_path / "model.mlcli")
    assert typed("train", "wdbc", "--task", "anomaly", *words, "-o", saved).exit_code == 0
    assert typed("explain", saved, "wdbc", "--row", "1").exit_code == 0
