"""Similarity beside worked examples (section 6: three landmarks), and the choice of its width."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from mlcli.core.errors import FitError
from mlcli.models.kernel_methods.similarity import Similarity
from mlcli.prepare.landmarks import Landmarks
from tests.golden.asking import answered, asked, fitted
from tests.golden.discriminants import rows as labelled_rows
from tests.golden.test_svm_regression import rows
from tests.support.rows import labelled, table_of, valued
from tests.support.shell import document, typed

LANDMARKS = {"x": [0.0, 2.0, 0.0], "y": [0.0, 0.0, 2.0]}
ASKED = {"x": [0.0, 1.0, 0.0], "y": [0.0, 0.0, 2.0]}


@pytest.mark.parametrize(
    ("form", "expected"),
    [("plain", [1.135335, 1.213061, 0.153651]), ("normalised", [0.893493, 0.936621, 0.133187])],
)
def test_three_landmarks_answer_by_a_kernel_of_width_one(form: str, expected: list[float]) -> None:
    model = fitted(Similarity(form=form, sigma=1.0), valued(table_of(LANDMARKS), [1.0, 1.0, 0.0]))
    assert asked(model, valued(table_of(ASKED), [0.0, 0.0, 0.0])).predicted == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("form", "expected"), [("plain", 0.606531), ("normalised", 0.936621 / 2)])
def test_an_answer_is_explained_by_what_each_landmark_adds(form: str, expected: float) -> None:
    model = fitted(Similarity(form=form, sigma=1.0), valued(table_of(LANDMARKS), [1.0, 1.0, 0.0]))
    (terms,) = model.explain_answer(table_of(ASKED).take(np.array([1])))
    names, kernels, added = zip(*terms.rows, strict=True)
    assert names == ("training row 1", "training row 2", "training row 3", "sum")
    assert kernels[:3] == pytest.approx([0.606531, 0.606531, 0.082085], abs=1e-6)
    assert added == pytest.approx([expected, expected, 0.0, 2 * expected], abs=1e-6)


@pytest.mark.parametrize("form", ["plain", "normalised"])
def test_the_share_of_a_class_is_its_share_of_the_likeness(form: str) -> None:
    model = fitted(Similarity(form=form, sigma=1.0), labelled(table_of(LANDMARKS), ["yes", "yes", "no"]))
    shares = asked(model, labelled(table_of(ASKED), ["yes", "yes", "no"])).probabilities[:, 1]
    assert shares == pytest.approx([0.893493, 0.936621, 0.133187], abs=1e-6)


def test_far_from_all_landmarks_the_nearest_answers() -> None:
    model = fitted(Similarity(gamma=1.0), valued(table_of({"x": [0.0, 1.0]}), [3.0, 5.0]))
    far = valued(table_of({"x": [-1e6, 1e6]}), [0.0, 0.0])
    assert asked(model, far).predicted.tolist() == [3.0, 5.0]


def test_the_width_is_the_one_that_answers_left_out_rows_best() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X[:100], y[:100]
    model = fitted(Similarity(), rows(X, y))
    for gamma, error in model.errors_:
        likeness = rbf_kernel(X, gamma=gamma)
        np.fill_diagonal(likeness, 0.0)
        missed = likeness @ y / likeness.sum(axis=1) - y
        assert error == pytest.approx(np.mean(missed**2), rel=1e-6)
    assert model.gamma_ == model.errors_[model.errors_[:, 1].argmin(), 0]


def test_landmarks_are_training_rows_and_fewer() -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = Similarity(landmarks=40)
    answers = answered(model, labelled_rows(X, y))
    assert len(model.points_) == 40
    assert all(np.abs(X - point).max(axis=1).min() < 1e-8 for point in model.points_)
    assert np.mean(answers.predicted == y) > 0.9


LANDMARK_TABLE = table_of({"x": [0.0, 2.0, 0.0], "y": [0.0, 0.0, 2.0]})

ASKED_TABLE = table_of({"x": [1.0, 0.5], "y": [0.0, 0.5]})

KERNELS = {
    "gaussian": lambda u: math.exp(-u),
    "laplacian": lambda u: math.exp(-math.sqrt(u)),
    "cauchy": lambda u: 1 / (1 + u),
    "epanechnikov": lambda u: max(1 - u, 0.0),
    "triangular": lambda u: max(1 - math.sqrt(u), 0.0),
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", ["plain", "normalised"])
def test_answers_are_weighted_by_the_kernel(kernel: str, form: str) -> None:
    model = fitted(Similarity(form=form, kernel=kernel, gamma=0.3), valued(LANDMARK_TABLE, [1.0, 1.0, 5.0]))
    distances = euclidean_distances(ASKED_TABLE.numbers, LANDMARK_TABLE.numbers)
    weights = np.vectorize(KERNELS[kernel])(0.3 * distances**2)
    expected = weights @ [1.0, 1.0, 5.0] / (weights.sum(axis=1) if form == "normalised" else 1.0)
    assert asked(model, valued(ASKED_TABLE, [0.0, 0.0])).predicted == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["epanechnikov", "triangular"])
def test_the_nearest_landmark_answers_where_the_kernel_has_ended(kernel: str) -> None:
    model = fitted(Similarity(kernel=kernel, gamma=1.0), valued(table_of({"x": [0.0, 1.0]}), [3.0, 5.0]))
    far = valued(table_of({"x": [-1e6, 1e6]}), [0.0, 0.0])
    assert asked(model, far).predicted.tolist() == [3.0, 5.0]


def test_only_named_rows_answer() -> None:
    """exp(−1/2) and exp(−1/2) of rows 1 and 2 at (1, 0): the mean of 1 and 4."""
    model = fitted(Similarity(sigma=1.0, landmark_rows=(1, 2)), valued(LANDMARK_TABLE, [1.0, 4.0, 9.0]))
    assert asked(model, valued(ASKED_TABLE, [0.0, 0.0])).predicted[0] == pytest.approx(2.5)


def test_rows_that_are_not_there_are_refused() -> None:
    with pytest.raises(FitError, match="none of the landmark_rows 7, 8 is a training row"):
        fitted(Similarity(sigma=1.0, landmark_rows=(7, 8)), valued(LANDMARK_TABLE, [1.0, 4.0, 9.0]))


def test_train_shows_the_named_landmarks(tmp_path: Path) -> None:
    words = ("train", "iris", "-m", "{use: similarity, steps: []}", "-p", "landmark_rows=[1, 51, 101]")
    printed = document(typed(*words, "-p", "gamma=1", "-o", str(tmp_path / "m.mlcli"), "--json"))
    shown = next(one for one in printed["findings"] if one["title"] == "Landmarks")
    assert shown["rows"] == [
        [1, 5.1, 3.5, 1.4, 0.2, "setosa"],
        [51, 7.0, 3.2, 4.7, 1.4, "versicolor"],
        [101, 6.3, 3.3, 6.0, 2.5, "virginica"],
    ]


def test_the_step_takes_named_rows_and_other_kernels() -> None:
    step = Landmarks(landmark_rows=(3, 1), kernel="cauchy", gamma=0.5)
    step.learn(valued(LANDMARK_TABLE, [0.0, 0.0, 0.0]), np.random.default_rng(1))
    assert step.apply(ASKED_TABLE).numbers == pytest.approx(np.array([[1 / 3.5, 1 / 1.5], [1 / 2.25, 1 / 1.25]]))


def test_named_rows_that_a_fold_holds_out(tmp_path: Path) -> None:
    """Five folds: each row is held out once, and the others still serve."""
    steps = "{use: landmarks, params: {landmark_rows: [1, 51, 101]}}"
    models = ("similarity", "-p", "landmark_rows=[1, 51, 101]"), (f"{{use: lda, steps: [{steps}]}}",)
    for number, model in enumerate(models):
        words = ("eval", "iris", "-m", *model, "--folds", "5", "--store", str(tmp_path / f"{number}.db"))
        printed = typed(*words)
        assert printed.exit_code == 0, printed.output
    saved = str(tmp_path / "m.mlcli")
    assert typed("train", "iris", "-m", models[1][0], "-o", saved).exit_code == 0
    assert typed("predict", saved, "iris").exit_code == 0
