"""The linear classifier beside scikit-learn's least squares on indicators of ±1."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model

from mlcli.engines.calibration import softmax
from mlcli.models.linear._classification import sharpness
from mlcli.models.linear.linear_classifier import LinearClassifier
from tests.golden.asking import answered, fitted
from tests.golden.shipped import standardised, weighted


@pytest.mark.parametrize("dataset", ["iris", "wdbc", "wine"])
@pytest.mark.parametrize("l2", [0.0, 1.0, 100.0])
def test_scores_and_classes_are_those_of_scikit_learn(dataset: str, l2: float) -> None:
    data = standardised(dataset)
    model = fitted(LinearClassifier(l2=l2), data)
    oracle = sklearn.linear_model.RidgeClassifier(alpha=l2, solver="svd").fit(data.table.numbers, data.y)
    scores = oracle.decision_function(data.table.numbers).reshape(len(data), -1)
    assert model.scores(data.table) == pytest.approx(scores, abs=1e-9)
    assert np.array_equal(answered(LinearClassifier(l2=l2), data).predicted, oracle.predict(data.table.numbers))


def test_weights_are_those_of_scikit_learn() -> None:
    data = weighted(standardised("wdbc"))
    side = np.where(data.y == 1, 1.0, -1.0)
    oracle = sklearn.linear_model.LinearRegression().fit(data.table.numbers, side, data.weight)
    model = fitted(LinearClassifier(), data)
    assert model.scores(data.table)[:, 0] == pytest.approx(oracle.predict(data.table.numbers), abs=1e-9)


def test_the_sharpness_is_the_coefficient_of_a_logistic_regression_on_scores() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=2000)
    place = (score + rng.logistic(size=2000) > 0).astype(np.intp)
    oracle = sklearn.linear_model.LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10)
    expected = oracle.fit(score[:, None], place).coef_[0, 0]
    both = np.column_stack([np.zeros(2000), score])
    assert sharpness(both, place, np.ones(2000)) == pytest.approx(expected, rel=2e-2)
    assert sharpness(both, (score > 0).astype(np.intp), np.ones(2000)) < 1e4
    assert softmax(np.zeros((1, 3)))[0] == pytest.approx([1 / 3] * 3)
