"""RBF networks beside a worked example (section 6), SciPy's interpolator, least squares and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator
from sklearn.datasets import load_wine
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel

from mlcli.engines.centres import squared_from_mean
from mlcli.models.kernel_methods.rbf_network import LeastSquares, RadialBasisNetwork
from tests.golden.asking import answered, asked, fitted
from tests.golden.discriminants import rows as labelled_rows
from tests.golden.test_svm_regression import rows, some
from tests.support.rows import table_of, valued

EXACT: dict[str, Any] = {"every_row": True, "bias": False, "rounds": 0, "cutoff": 0.0}


def test_three_points_are_interpolated_by_these_weights() -> None:
    data = valued(table_of({"x": [0.0, 1.0, 3.0]}), [1.0, -1.0, 2.0])
    model = fitted(RadialBasisNetwork(gamma=1.0, **EXACT), data)
    found = dict(zip(model.points_[:, 0].tolist(), model.weights_[:, 0].tolist(), strict=True))
    assert found == pytest.approx({0.0: 1.597503, 1.0: -1.624861, 3.0: 2.029563}, abs=1e-6)
    assert asked(model, data).predicted == pytest.approx([1.0, -1.0, 2.0])


def test_with_all_rows_as_centres_it_is_scipys_interpolator() -> None:
    X, y = some()
    X, y = X[:60], y[:60]
    model = fitted(RadialBasisNetwork(gamma=0.5, **EXACT), rows(X, y))
    theirs = RBFInterpolator(X, y, kernel="gaussian", epsilon=np.sqrt(0.5), degree=-1)
    new = X + 0.1
    assert asked(model, rows(new, y)).predicted == pytest.approx(theirs(new), rel=1e-6)


@pytest.mark.parametrize("bias", [False, True])
def test_weights_are_the_least_squares_of_the_bells(bias: bool) -> None:
    X, y = some()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = fitted(RadialBasisNetwork(centres=8, gamma=0.05, rounds=0, bias=bias, cutoff=0.0), rows(X, y, weight))
    bells = rbf_kernel(X, model.points_, gamma=0.05)
    theirs = LinearRegression(fit_intercept=bias).fit(bells, y, sample_weight=weight)
    assert asked(model, rows(X, y)).predicted == pytest.approx(theirs.predict(bells), rel=1e-6)
    squared = []
    for row in range(len(y)):
        others = np.delete(np.arange(len(y)), row)
        without = LinearRegression(fit_intercept=bias).fit(bells[others], y[others], sample_weight=weight[others])
        squared.append((without.predict(bells[[row]])[0] - y[row]) ** 2)
    assert model.left_out_ == pytest.approx(np.average(squared, weights=weight), rel=1e-6)


@pytest.mark.parametrize("widths", ["one", "each"])
def test_the_gradient_by_log_gamma_is_that_of_differences(widths: str) -> None:
    X, y = some()
    model = fitted(RadialBasisNetwork(centres=5, rounds=0, widths=widths), rows(X, y))
    squared, weights = squared_from_mean(X, model.points_), np.ones(len(y))
    learned = LeastSquares.of(np.exp(-model.gammas_ * squared), y[:, None], weights, True, model.cutoff)

    def error(log_gammas: Any) -> Any:
        return model.error_and_slopes(squared, np.exp(log_gammas), learned, y[:, None], weights)

    at = np.log(model.gammas_)
    moves = np.eye(5) if widths == "each" else np.ones((1, 5))
    differences = [(error(at + 1e-5 * move)[0] - error(at - 1e-5 * move)[0]) / 2e-5 for move in moves]
    assert error(at)[1][: len(moves)] == pytest.approx(differences, rel=1e-5)


@pytest.mark.parametrize("widths", ["one", "each"])
def test_rounds_lower_the_error_and_one_width_ends_near_the_best(widths: str) -> None:
    X, y = some()
    model = fitted(RadialBasisNetwork(centres=5, gamma=1.0, rounds=100, widths=widths), rows(X, y))
    assert (np.diff(model.errors_) < 0).all()
    bells = [rbf_kernel(X, model.points_, gamma=gamma) for gamma in np.geomspace(1e-3, 1, 200)]
    best = min(np.mean((LinearRegression().fit(one, y).predict(one) - y) ** 2) for one in bells)
    assert model.errors_[-1] < 1.05 * best


def test_classes_are_told_apart_by_the_largest_output() -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert np.mean(answered(RadialBasisNetwork(), labelled_rows(X, y)).predicted == y) > 0.95


@pytest.mark.parametrize("bias", [False, True])
def test_an_answer_is_explained_by_what_each_gaussian_adds(bias: bool) -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = fitted(RadialBasisNetwork(centres=3, bias=bias), labelled_rows(X, y))
    (terms,) = model.explain_answer(labelled_rows(X, y).table)
    centres = {name: line for name, *line in terms.rows if name.startswith("centre")}
    for number, (point, gamma, weights) in enumerate(
        zip(model.points_, model.gammas_, model.weights_, strict=True), 1
    ):
        alike = np.exp(-gamma * np.sum((X[0] - point) ** 2))
        assert centres[f"centre {number}"] == pytest.approx([alike, *alike * weights])
    assert (terms.rows[0][0] == "constant") == bias
    assert np.array(terms.rows[-1][2:]) == pytest.approx(model._outputs(labelled_rows(X, y).table)[0])
