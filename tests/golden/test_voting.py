"""Voting beside scikit-learn's, and what weights are learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import LinearRegression, Ridge

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.models.ensembles.voting import Voting, error_of_majority
from tests.golden.asking import answered, fitted
from tests.golden.shipped import in_numbers

CLASSIFIERS = [
    {"use": "lda", "params": {"ddof": 0}, "steps": []},
    {"use": "qda", "params": {"ddof": 0}, "steps": []},
]


def voting(**params: Any) -> Any:
    return build(Voting, params)


@pytest.mark.parametrize("weights", [None, [1.0, 3.0]])
def test_probabilities_are_those_of_scikit_learn(weights: Any) -> None:
    data = in_numbers("wine")
    theirs = [("lda", LinearDiscriminantAnalysis()), ("qda", QuadraticDiscriminantAnalysis())]
    oracle = VotingClassifier(theirs, voting="soft", weights=weights).fit(data.table.numbers, data.y)
    ours = answered(voting(models=CLASSIFIERS, weights=weights), data)
    assert ours.probabilities == pytest.approx(oracle.predict_proba(data.table.numbers), abs=1e-9)


def test_a_row_is_explained_by_what_each_model_says() -> None:
    """The notes: 0.8, 0.7, 0.2 and 0.9 make 0.65 together; here with weights."""
    data = in_numbers("wine")
    model, row = fitted(voting(models=CLASSIFIERS, weights=[1.0, 3.0]), data), data.table.take(np.array([70]))
    (table,) = model.explain_answer(row)
    *each, mean = [np.array(line[2:]) for line in table.rows]
    assert [line[:2] for line in table.rows] == [("1 lda", 1.0), ("2 qda", 3.0), ("weighted mean", 4.0)]
    assert mean == pytest.approx((each[0] + 3 * each[1]) / 4)
    assert mean == pytest.approx(model.predict_proba(row)[0])


def test_values_are_those_of_scikit_learn() -> None:
    data = in_numbers("cpu")
    oracle = VotingRegressor([("line", LinearRegression()), ("ridge", Ridge(5.0))], weights=[1, 2])
    models = ["linear-regression", {"use": "ridge", "params": {"l2": 5.0}, "steps": []}]
    ours = answered(voting(models=models, weights=[1.0, 2.0]), data)
    assert ours.predicted == pytest.approx(oracle.fit(data.table.numbers, data.y).predict(data.table.numbers))


def test_votes_of_a_majority() -> None:
    """S2, "Simplest Ensemble Voting": three of four decide; four numbers are averaged to 0.65."""
    data = in_numbers("wine")
    models = ["zero-r", "lda", "naive-bayes", "knn"]
    shares = answered(voting(models=models, combine="votes"), data).probabilities
    assert set(np.unique(np.round(shares * 4))) <= {0, 1, 2, 3, 4}
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(data)))


def test_independent_voters() -> None:
    """S2, "When to work": 25 voters at 0.35; the same of other errors and numbers by SciPy."""
    assert error_of_majority([0.35] * 25) == pytest.approx(0.0604449136)
    for voters, error in ((25, 0.5), (25, 0.45), (3, 0.2), (1, 0.3)):
        assert error_of_majority([error] * voters) == pytest.approx(binom.sf(voters // 2, voters, error))
    assert error_of_majority([0.1, 0.3]) == pytest.approx(0.1 * 0.3 + (0.1 * 0.7 + 0.9 * 0.3) / 2)


def test_weights_are_accuracies_on_rows_held_out() -> None:
    data = in_numbers("wine")
    model = fitted(voting(models=["zero-r", "lda"], validation=0.25), data)
    held = round(0.25 * len(data))
    assert model.weights_ * held == pytest.approx(np.round(model.weights_ * held))
    assert model.weights_[1] > 0.9 > 0.5 > model.weights_[0]
    assert model.explain()[0].rows[0][1] == pytest.approx(model.weights_[0] / model.weights_.sum())


def test_weights_of_values_are_inverse_squared_errors() -> None:
    model = fitted(voting(models=["zero-r", "linear-regression"], validation=0.25), in_numbers("cpu"))
    assert model.weights_[1] > 3 * model.weights_[0] > 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights": [1.0]}, "there are 3 models but 1 weights"),
        ({"weights": [0.0, 0.0, 0.0]}, "above 0"),
        ({"weights": [1.0, 1.0, 1.0], "validation": 0.2}, "nothing to learn"),
    ],
)
def test_weights_that_do_not_fit_are_refused(params: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        voting(**params)
