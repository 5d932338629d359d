"""Least absolute deviations beside SciPy's linear programmes and scikit-learn's quantile regression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import sklearn.linear_model

from mlcli.models.linear.least_absolute import LeastAbsolute
from tests.golden.asking import answered, fitted
from tests.golden.shipped import in_numbers, numeric, weighted, with_numbers
from tests.support.rows import valued


def least(X: Any, y: Any, weight: Any, intercept: bool, quantile: float = 0.5) -> float:
    """The least Σ w |residual| (or of quantiles) by HiGHS."""
    n, p = X.shape
    columns = np.hstack([X, np.full((n, 1), float(intercept)), np.eye(n), -np.eye(n)])
    cost = np.concatenate([np.zeros(p + 1), quantile * weight, (1 - quantile) * weight])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * (2 * n)
    return float(scipy.optimize.linprog(cost, A_eq=columns, b_eq=y, bounds=bounds, method="highs").fun)


@pytest.mark.parametrize("dataset", ["concrete", "cpu", "diabetes_progression"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_error_is_the_least_that_there_is(dataset: str, intercept: bool) -> None:
    data = in_numbers(dataset).take(np.arange(0, 200))
    said = answered(LeastAbsolute(intercept=intercept), data).predicted
    expected = 2 * least(data.table.numbers, data.y, np.ones(len(data)), intercept)
    assert np.abs(said - data.y).sum() == pytest.approx(expected, rel=1e-6)


def test_weights_count_as_in_the_programme() -> None:
    data = weighted(in_numbers("concrete")).take(np.arange(0, 300))
    said = answered(LeastAbsolute(), data).predicted
    expected = 2 * least(data.table.numbers, data.y, data.weights, True)
    assert data.weights @ np.abs(said - data.y) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_other_quantiles_are_those_of_scikit_learn(quantile: float) -> None:
    data = in_numbers("diabetes_progression")
    data = with_numbers(data, data.table.numbers[:, :10])
    oracle = sklearn.linear_model.QuantileRegressor(quantile=quantile, alpha=0.0, solver="highs")
    oracle.fit(data.table.numbers, data.y)
    model = fitted(LeastAbsolute(quantile=quantile), data)
    assert model.coefficients_ == pytest.approx(oracle.coef_, abs=1e-4)
    below = (data.y < model.predict_values(data.table) - 1e-6).mean()
    assert below <= quantile + 1e-9


def test_one_far_value_moves_nothing() -> None:
    x = np.arange(11.0)
    y = 2 * x + 1
    y[5] = 1e6
    data = valued(numeric(x[:, None]), list(y))
    model = fitted(LeastAbsolute(), data)
    assert model.coefficients_ == pytest.approx([2.0], abs=1e-6)
    assert model.predict_values(data.table)[0] == pytest.approx(1.0, abs=1e-5)


def test_the_median_without_a_column_that_varies() -> None:
    data = valued(numeric(np.zeros((5, 1))), [1.0, 2.0, 4.0, 8.0, 100.0])
    assert answered(LeastAbsolute(), data).predicted == pytest.approx(4.0, abs=1e-6)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_columns_that_are_nearly_copies_do_not_hide_the_minimum(quantile: float) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(70, 6)) + 1e4
    X = np.column_stack([X, X[:, 0] + 1e-6 * rng.normal(size=70)])
    y = (X - 1e4) @ rng.normal(size=7) + rng.normal(size=70)
    said = answered(LeastAbsolute(quantile=quantile), valued(numeric(X), list(y))).predicted
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    standard[:, 6] = (X[:, 6] - X[:, 0]) / (X[:, 6] - X[:, 0]).std()
    expected = least(standard, y, np.ones(70), True, quantile)
    error = np.maximum(quantile * (y - said), (quantile - 1) * (y - said)).sum()
    assert error == pytest.approx(expected, rel=1e-5)
