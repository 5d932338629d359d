"""Kernel ridge beside scikit-learn's, beside ridge where the kernel is linear, and beside refits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.linear_model import Ridge

from mlcli.models.kernel_methods.kernel_ridge import KernelRidge
from tests.golden.asking import asked, fitted
from tests.golden.discriminants import rows as labelled_rows
from tests.golden.test_svm_regression import rows, some

KERNELS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"gamma": 0.05}, {"kernel": "rbf", "gamma": 0.05}),
    (
        {"kernel": "polynomial", "gamma": 0.1, "degree": 2},
        {"kernel": "poly", "gamma": 0.1, "degree": 2, "coef0": 1.0},
    ),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("params", "their_params"), KERNELS)
def test_it_is_scikit_learns_around_a_level_at_which_coefficients_add_up_to_nothing(
    params: Any, their_params: Any, weighted: bool
) -> None:
    X, y = some()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = fitted(KernelRidge(alpha=0.3, **params), rows(X, y, weight))
    theirs = Theirs(alpha=0.3, **their_params).fit(X, y - model.levels_[0], sample_weight=weight)
    assert asked(model, rows(X, y)).predicted == pytest.approx(model.levels_[0] + theirs.predict(X), rel=1e-8)
    assert abs(model.coefficients_.sum()) < 1e-9 * np.abs(model.coefficients_).sum()


def test_with_a_linear_kernel_it_is_ridge() -> None:
    X, y = some()
    theirs = Ridge(alpha=2.0).fit(X, y)
    model = fitted(KernelRidge(kernel="linear", alpha=2.0), rows(X, y))
    assert asked(model, rows(X, y)).predicted == pytest.approx(theirs.predict(X), rel=1e-8)
    weights = np.array([weight for _, weight in model.explain()[2].rows])
    assert weights == pytest.approx(theirs.coef_, rel=1e-6)


def test_the_error_without_each_row_is_that_of_refits() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X[:40], y[:40]
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 40)
    model = KernelRidge(gamma=0.1, alpha=0.5)
    missed = []
    for row in range(40):
        others = np.delete(np.arange(40), row)
        without = fitted(model.fresh(), rows(X[others], y[others], weight[others]))
        missed.append(asked(without, rows(X[[row]], y[[row]])).predicted[0] - y[row])
    expected = np.sqrt(np.average(np.square(missed), weights=weight))
    assert fitted(model, rows(X, y, weight)).errors_[1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_class_is_the_one_whose_indicator_is_largest(load: Any) -> None:
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = fitted(KernelRidge(gamma=0.1), labelled_rows(X, y))
    indicators = np.eye(3)[y] - model.levels_
    expected = model.levels_ + Theirs(alpha=1.0, kernel="rbf", gamma=0.1).fit(X, indicators).predict(X)
    answers = asked(model, labelled_rows(X, y))
    assert np.array_equal(answers.predicted, expected.argmax(axis=1))
    assert np.log(answers.probabilities) == pytest.approx(
        np.log(answers.probabilities[:, :1]) + model.slope_ * (expected - expected[:, :1]), abs=1e-6
    )
