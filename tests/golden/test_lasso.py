"""Lasso beside scikit-learn: coefficients, the path, and the choice on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model

from mlcli.models.linear.lasso import Lasso
from tests.golden.asking import fitted
from tests.golden.shipped import in_numbers, numeric, standardised, with_numbers
from tests.support.rows import valued

DATASETS = ("concrete", "cpu", "diabetes_progression")


def oracle(l1: float, rows: float, intercept: bool = True) -> Any:
    """scikit-learn divides the squares by the number of rows."""
    return sklearn.linear_model.Lasso(l1 / rows, fit_intercept=intercept, tol=1e-11, max_iter=1_000_000)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("l1", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_are_those_of_scikit_learn(dataset: str, l1: float, intercept: bool) -> None:
    data = standardised(dataset)
    model = fitted(Lasso(l1=l1, intercept=intercept), data)
    expected = oracle(l1, len(data), intercept).fit(data.table.numbers, data.y)
    assert model.predict_values(data.table) == pytest.approx(expected.predict(data.table.numbers), abs=1e-6)
    if dataset == "concrete":
        assert model.coefficients_ == pytest.approx(expected.coef_, abs=1e-6)


def test_columns_in_their_own_units_and_weights_too() -> None:
    data = in_numbers("concrete")
    weight = np.random.default_rng(3).uniform(0.1, 3, len(data))
    model = fitted(Lasso(l1=500.0), replace(data, weight=weight))
    expected = oracle(500.0, float(weight.sum())).fit(data.table.numbers, data.y, weight)
    assert model.coefficients_ == pytest.approx(expected.coef_, abs=1e-6)


def independent() -> Any:
    """One of the two columns that say which sex it is left out."""
    data = standardised("diabetes_progression")
    return with_numbers(data, data.table.numbers[:, :10])


def objectives(X: Any, y: Any, strengths: Any, path: Any) -> Any:
    return [np.sum((y - X @ w) ** 2) / 2 + l1 * np.abs(w).sum() for l1, w in zip(strengths, path, strict=True)]


def test_the_path_is_that_of_scikit_learn() -> None:
    data = independent()
    model = fitted(Lasso(), data)
    X, y = data.table.numbers - data.table.numbers.mean(axis=0), data.y - data.y.mean()
    alphas, path, _ = sklearn.linear_model.lasso_path(X, y, alphas=100, tol=1e-11, max_iter=1_000_000)
    assert model.strengths_ / len(data) == pytest.approx(alphas, rel=1e-9)
    ours, theirs = (objectives(X, y, model.strengths_, w) for w in (model.path_, path.T))
    assert all(mine <= other * (1 + 1e-9) for mine, other in zip(ours, theirs, strict=True))
    assert not model.path_[0].any()


def test_the_criterion_is_akaikes_of_scikit_learn_but_for_few_rows() -> None:
    """LassoLarsIC's AIC has the noise variance given; ours estimates it, as Akaike 1973 does, and corrects."""
    data = independent()
    model, n = fitted(Lasso(), data), len(data)
    k = 40
    residual = data.y - data.y.mean() - (data.table.numbers - data.table.numbers.mean(axis=0)) @ model.path_[k]
    free = np.count_nonzero(model.path_[k]) + 2
    expected = n * np.log(residual @ residual / n) + 2 * free + 2 * free * (free + 1) / (n - free - 1)
    assert model.criterion_[k] == pytest.approx(expected, rel=1e-9)
    assert model.strength_ == model.strengths_[np.argmin(model.criterion_)]


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 120))
    data = valued(numeric(X), list(X[:, :3] @ [3.0, -2.0, 1.0] + 0.3 * rng.normal(size=40)))
    expected = oracle(4.0, 40).fit(X, data.y)
    assert fitted(Lasso(l1=4.0), data).coefficients_ == pytest.approx(expected.coef_, abs=1e-6)
    chosen = fitted(Lasso(), data).coefficients_
    assert (chosen[:3] != 0).all()
    assert np.count_nonzero(chosen) < 20


def test_a_penalty_above_the_first_of_the_path_leaves_only_the_mean() -> None:
    data = standardised("diabetes_progression")
    model = fitted(Lasso(l1=1e9), data)
    assert not model.coefficients_.any()
    assert model.predict_values(data.table) == pytest.approx(data.y.mean())
    assert "11 of 11 columns left out" in model.explain()[0].note
