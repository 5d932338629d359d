"""Multidimensional scaling beside scikit-learn, principal components and distances known by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.manifold import smacof

from mlcli.core.errors import FitError
from mlcli.engines.distance_matrix import ClassicalScaling, euclidean, manhattan
from mlcli.models.projection.mds import MultidimensionalScaling, raw_stress
from mlcli.prepare.mds import MultidimensionalScaling as Step
from tests.golden.asking import fitted
from tests.golden.densities import unlabelled

WINE = (load_wine().data - load_wine().data.mean(axis=0)) / load_wine().data.std(axis=0)


def test_euclidean_distances_give_principal_components() -> None:
    ours = ClassicalScaling.of(euclidean(WINE, WINE), 3).places()
    theirs = PCA(3).fit_transform(WINE)
    assert ours * np.sign((ours * theirs).sum(axis=0)) == pytest.approx(theirs, abs=1e-8)


def test_four_towns_on_a_rectangle_come_back() -> None:
    """Corners of 3 by 4, whose diagonal is 5."""
    towns = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0]])
    assert pdist(ClassicalScaling.of(euclidean(towns, towns), 2).places()) == pytest.approx([3, 4, 5, 5, 4, 3])


def test_manhattan_distances_are_those_of_scipy() -> None:
    assert manhattan(WINE, WINE) == pytest.approx(cdist(WINE, WINE, "cityblock"), abs=1e-9)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_metric_stress_is_that_of_scikit_learn_from_the_same_start() -> None:
    apart = euclidean(WINE, WINE)
    start = ClassicalScaling.of(apart, 2).places()
    _, stress = smacof(apart, init=start, n_init=1, max_iter=3000, eps=1e-10, normalized_stress=False)
    model = MultidimensionalScaling(by="metric", tolerance=1e-9, most_steps=3000)
    places, _ = model.placed(WINE)
    assert raw_stress(apart, places) / 2 == pytest.approx(stress, rel=1e-4)
    assert raw_stress(apart, places) < raw_stress(apart, start)


def test_only_rows_that_were_fitted_have_a_place() -> None:
    data = unlabelled(load_iris().data, "projection")
    model = fitted(MultidimensionalScaling(), data)
    again = np.random.default_rng(0).permutation(150)
    assert model.project(data.table.take(again)) == pytest.approx(model.project(data.table)[again])
    with pytest.raises(FitError, match="mds can only place the rows that it was fitted on; row 1 is none of them"):
        model.project(unlabelled(load_iris().data + 1, "projection").table)


def test_a_row_is_made_again_from_those_around_its_place() -> None:
    line = np.array([[0.0], [1.0], [2.0], [10.0]])
    model = fitted(MultidimensionalScaling(components=1, neighbours=2), unlabelled(line, "projection"))
    made = model.reconstruct(unlabelled(line, "projection").table)
    assert made.ravel() == pytest.approx([1.5, 1.0, 0.5, 1.5])


@pytest.mark.parametrize("landmarks", [60, 178])
def test_new_rows_are_placed_as_principal_components_place_them(landmarks: int) -> None:
    """Distances of the plane are of the plane whatever rows they are taken from, up to a turn."""
    plane = WINE[:, :2]
    step = Step(components=2, standardise=False, landmarks=landmarks)
    step.learn(unlabelled(plane[:150], "projection"), np.random.default_rng(0))
    placed = step.apply(unlabelled(plane, "projection").table).numbers
    assert pdist(placed) == pytest.approx(pdist(plane), abs=1e-8)


def test_gowers_formula_gives_landmarks_their_own_place() -> None:
    apart = manhattan(WINE, WINE)
    scaled = ClassicalScaling.of(apart, 4)
    assert scaled.placed(apart) == pytest.approx(scaled.places(), abs=1e-8)


def test_the_step_of_all_rows_is_principal_components() -> None:
    step, pca = Step(components=3), PCA(3).fit(WINE[:120])
    step.standardise = False
    step.learn(unlabelled(WINE[:120], "projection"), np.random.default_rng(0))
    ours, theirs = step.apply(unlabelled(WINE[120:], "projection").table).numbers, pca.transform(WINE[120:])
    assert ours * np.sign((ours * theirs).sum(axis=0)) == pytest.approx(theirs, abs=1e-8)


def test_stress_falls_with_components_and_the_elbow_is_told() -> None:
    model = fitted(MultidimensionalScaling(), unlabelled(WINE, "projection"))
    assert (np.diff(model.stresses_) < 0).all()
    assert "the elbow of the plot is at" in model.explain()[-1].note
