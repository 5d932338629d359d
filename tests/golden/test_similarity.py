"""Similarity beside worked examples (section 6: three landmarks), and the choice of its width."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics.pairwise import rbf_kernel

from mlcli.models.kernel_methods.similarity import Similarity
from tests.golden.asking import answered, asked, fitted
from tests.golden.discriminants import rows as labelled_rows
from tests.golden.test_svm_regression import rows
from tests.rows import labelled, table_of, valued

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
