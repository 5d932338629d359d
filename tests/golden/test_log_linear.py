"""The log-linear model beside scikit-learn's logistic regression, and by the condition of maximum entropy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.linear_model

from mlcli.core.errors import FitError
from mlcli.data.load import load
from mlcli.models.linear.log_linear import LogLinear
from mlcli.tasks.table import kind_named
from tests.golden.asking import answered, fitted
from tests.golden.shipped import standardised, weighted


def nominal(name: str) -> Any:
    dataset = load(name)
    return kind_named("classification").rows.from_table(dataset.table, dataset.schema)


@pytest.mark.parametrize("dataset", ["iris", "wine", "wdbc"])
@pytest.mark.parametrize("l2", [0.1, 5.0])
def test_with_every_pair_it_is_softmax_regression_with_a_penalised_intercept(dataset: str, l2: float) -> None:
    data = weighted(standardised(dataset))
    X = np.column_stack([np.ones(len(data)), data.table.numbers])
    # Two weight vectors cost half of what their difference costs scikit-learn, which has one for two classes.
    c = 1 / l2 if len(data.classes) > 2 else 2 / l2
    oracle = sklearn.linear_model.LogisticRegression(C=c, fit_intercept=False, tol=1e-10, max_iter=10_000)
    expected = oracle.fit(X, data.y, data.weight).predict_proba(X)
    said = answered(LogLinear(l2=l2, least=0.0), data)
    assert said.probabilities == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("conjunctions", [(), ("outlook*windy", "humidity*windy")])
@pytest.mark.parametrize("least", [0.0, 1.0, 3.0])
def test_features_are_expected_as_often_as_they_occur(conjunctions: tuple[str, ...], least: float) -> None:
    """Berger et al. 1996: expected minus observed counts are −l2 × weight, and 0 weights are those not seen."""
    data = nominal("weather_nominal")
    model = fitted(LogLinear(conjunctions=conjunctions, least=least, l2=0.3, tolerance=1e-11), data)
    names, X = model._features(data.table)
    p = model.predict_proba(data.table)
    observed, expected = data.outputs.T @ X, p.T @ X
    seen = observed >= least
    assert (model.weights_ == 0)[~seen].all()
    assert (observed - expected)[seen] == pytest.approx(0.3 * model.weights_[seen], abs=1e-8)
    assert len(names) == X.shape[1] == (11 if not conjunctions else 11 + 6 + 4)
    assert model.explain()


def test_cells_that_are_empty_or_new_have_no_feature() -> None:
    data = nominal("weather_nominal")
    model = fitted(LogLinear(), data)
    codes = data.table.codes.copy()
    codes[0] = -1
    empty = type(data.table)(data.table.columns, data.table.numbers, codes)
    bias = model.weights_[:, 0]
    assert model.predict_proba(empty)[0] == pytest.approx(np.exp(bias) / np.exp(bias).sum())


def test_a_conjunction_of_no_column_is_refused() -> None:
    with pytest.raises(FitError, match="names 'wind', which is no column"):
        fitted(LogLinear(conjunctions=("outlook*wind",)), nominal("weather_nominal"))


def test_it_says_which_features_weigh_most() -> None:
    (bars,) = fitted(LogLinear(), nominal("weather_nominal")).explain()
    assert "outlook=overcast → yes" in bars.labels
    assert list(map(abs, bars.values)) == sorted(map(abs, bars.values), reverse=True)
