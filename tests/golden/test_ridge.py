"""Ridge beside scikit-learn and the formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sklearn.linear_model

from mlcli.models.linear.linear_regression import LinearRegression
from mlcli.models.linear.ridge import Ridge
from tests.golden.asking import answered, fitted
from tests.golden.shipped import in_numbers, numeric, standardised, with_numbers
from tests.support.rows import table_of, valued


@pytest.mark.parametrize("dataset", ["concrete", "cpu", "diabetes_progression"])
@pytest.mark.parametrize("l2", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_and_predictions_are_those_of_scikit_learn(dataset: str, l2: float, intercept: bool) -> None:
    data = in_numbers(dataset)
    model = fitted(Ridge(l2=l2, intercept=intercept), data)
    oracle = sklearn.linear_model.Ridge(l2, fit_intercept=intercept, solver="cholesky").fit(
        data.table.numbers, data.y
    )
    assert model.coefficients_ == pytest.approx(oracle.coef_, rel=1e-9, abs=1e-9)
    assert model.predict_values(data.table) == pytest.approx(oracle.predict(data.table.numbers), abs=1e-9)


def test_weights_are_those_of_scikit_learn() -> None:
    data = standardised("concrete")
    data = replace(data, weight=np.random.default_rng(2).uniform(0.1, 3, len(data)))
    oracle = sklearn.linear_model.Ridge(1.0).fit(data.table.numbers, data.y, data.weight)
    assert answered(Ridge(), data).predicted == pytest.approx(oracle.predict(data.table.numbers), abs=1e-9)


def test_the_penalty_is_the_precision_of_the_prior_times_the_noise_variance() -> None:
    # S0 section 3.2 with decision 55: RSS / (2σ²) + α/2·‖w‖² has its minimum where l2 = α·σ².
    data = standardised("diabetes_progression")
    model = fitted(Ridge(l2=57.2), data)
    said = dict(model.explain()[1].rows)
    alpha, variance = said["prior precision α = l2/σ²"], said["noise σ"] ** 2
    assert variance == pytest.approx(np.mean((data.y - model.predict_values(data.table)) ** 2), rel=1e-9)
    X, y = data.table.numbers, data.y - data.y.mean()
    posterior = np.linalg.solve(X.T @ X / variance + alpha * np.eye(X.shape[1]), X.T @ y / variance)
    assert model.coefficients_ == pytest.approx(posterior, rel=1e-9)


@pytest.mark.parametrize("dataset", ["concrete", "cpu", "diabetes_progression"])
def test_no_penalty_is_least_squares(dataset: str) -> None:
    data = in_numbers(dataset)
    ridge, plain = fitted(Ridge(l2=0.0), data), fitted(LinearRegression(), data)
    assert np.array_equal(ridge.coefficients_, plain.coefficients_)
    assert np.array_equal(ridge.predict_values(data.table), plain.predict_values(data.table))


def test_a_vanishing_penalty_tends_to_least_squares_on_collinear_columns() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    data = valued(numeric(np.column_stack([X, X[:, 0]])), list(X.sum(axis=1) + rng.normal(size=40)))
    ridge, plain = fitted(Ridge(l2=1e-8), data), fitted(LinearRegression(), data)
    assert ridge.coefficients_ == pytest.approx(plain.coefficients_, abs=1e-6)


def test_more_columns_than_rows_is_solved_among_the_rows() -> None:
    rng = np.random.default_rng(6)
    data = valued(numeric(rng.normal(size=(20, 300))), list(rng.normal(size=20)))
    oracle = sklearn.linear_model.Ridge(0.5, solver="svd").fit(data.table.numbers, data.y)
    assert fitted(Ridge(l2=0.5), data).coefficients_ == pytest.approx(oracle.coef_, abs=1e-12)


def test_an_offset_changes_only_the_intercept() -> None:
    data = standardised("diabetes_progression")
    moved = with_numbers(data, np.round(data.table.numbers * 256) / 256 + 1e6)
    near = with_numbers(data, np.round(data.table.numbers * 256) / 256)
    assert fitted(Ridge(), moved).coefficients_ == pytest.approx(fitted(Ridge(), near).coefficients_, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_one_pass_over_many_rows_is_scikit_learns_answer(weighted: bool, offset: float) -> None:
    rng = np.random.default_rng(0)
    X, noise = offset + rng.normal(size=(200, 3)), rng.normal(size=200)
    y = (X - offset) @ [1.0, -2.0, 0.5] + noise
    weight = rng.integers(0, 3, 200).astype(float).tolist() if weighted else None
    table = table_of({f"x{j}": column for j, column in enumerate(X.T.tolist())})
    ours = fitted(Ridge(l2=2.0), valued(table, y.tolist(), weight))
    theirs = sklearn.linear_model.Ridge(2.0).fit(X - offset, y, sample_weight=weight)
    assert ours.coefficients_ == pytest.approx(theirs.coef_, abs=1e-8 if offset else 1e-12)
    assert ours.predict_values(table) == pytest.approx(theirs.predict(X - offset), abs=1e-7 if offset else 1e-11)
