"""Elastic net beside scikit-learn, lasso and ridge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sklearn.linear_model

from mlcli.models.linear.elastic_net import ElasticNet
from mlcli.models.linear.lasso import Lasso
from mlcli.models.linear.ridge import Ridge
from tests.golden.asking import fitted
from tests.golden.shipped import in_numbers, standardised


@pytest.mark.parametrize("dataset", ["concrete", "cpu", "diabetes_progression"])
@pytest.mark.parametrize(("strength", "share"), [(1.0, 0.5), (300.0, 0.1), (3000.0, 0.9)])
def test_coefficients_are_those_of_scikit_learn(dataset: str, strength: float, share: float) -> None:
    data = standardised(dataset)
    model = fitted(ElasticNet(strength=strength, share=share), data)
    expected = sklearn.linear_model.ElasticNet(strength / len(data), l1_ratio=share, tol=1e-14, max_iter=1_000_000)
    expected.fit(data.table.numbers, data.y)
    assert model.coefficients_ == pytest.approx(expected.coef_, abs=1e-6)
    assert model.predict_values(data.table) == pytest.approx(expected.predict(data.table.numbers), abs=1e-6)


def test_columns_in_their_own_units_and_weights_too() -> None:
    data = in_numbers("concrete")
    weight = np.random.default_rng(3).uniform(0.1, 3, len(data))
    model = fitted(ElasticNet(strength=500.0), replace(data, weight=weight))
    expected = sklearn.linear_model.ElasticNet(500.0 / weight.sum(), tol=1e-14, max_iter=1_000_000)
    assert model.coefficients_ == pytest.approx(expected.fit(data.table.numbers, data.y, weight).coef_, abs=1e-6)


def test_its_ends_are_lasso_and_ridge() -> None:
    data = standardised("diabetes_progression")
    lasso, net = fitted(Lasso(l1=50.0), data), fitted(ElasticNet(strength=50.0, share=1.0), data)
    assert np.array_equal(net.coefficients_, lasso.coefficients_)
    assert np.array_equal(fitted(ElasticNet(share=1.0), data).coefficients_, fitted(Lasso(), data).coefficients_)
    ridge = fitted(Ridge(l2=50.0), data)
    nearly = fitted(ElasticNet(strength=50.0, share=1e-9), data)
    assert nearly.coefficients_ == pytest.approx(ridge.coefficients_, abs=1e-6)
