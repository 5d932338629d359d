"""One against one: decisions of scikit-learn's, and probabilities that agree with all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.multiclass import OneVsOneClassifier

from mlcli.core.params import build
from mlcli.models.ensembles.one_against_one import OneAgainstOne
from tests.golden.asking import answered
from tests.golden.shipped import in_numbers


def test_votes_decide_as_those_of_scikit_learn() -> None:
    data = in_numbers("wine")
    oracle = OneVsOneClassifier(QuadraticDiscriminantAnalysis()).fit(data.table.numbers, data.y)
    ours = answered(build(OneAgainstOne, {"base": {"use": "qda", "steps": []}, "combine": "votes"}), data)
    assert np.array_equal(ours.predicted, oracle.predict(data.table.numbers))


def shares_of(r: np.ndarray) -> np.ndarray:
    """What the method makes of the answers to the pairs of one row."""
    model = build(OneAgainstOne, {})
    model.code_ = model.code(len(r), np.random.default_rng(0))
    first, second = np.triu_indices(len(r), 1)
    return np.asarray(model.shares(r[first, second][None, :])[0])


def test_probabilities_that_agree_with_all_pairs_are_found() -> None:
    P = np.array([0.5, 0.3, 0.15, 0.05])
    assert shares_of(P[:, None] / (P[:, None] + P)) == pytest.approx(P, abs=1e-8)


def test_otherwise_they_minimise_the_second_objective_of_wu_lin_and_weng() -> None:
    """Equation 18 of Wu, Lin & Weng 2004, by a general solver."""
    rng = np.random.default_rng(3)
    r = np.triu(rng.uniform(0.05, 0.95, (4, 4)), 1)
    r = r + np.tril(1 - r.T, -1)

    def objective(p: np.ndarray) -> float:
        return float(sum((r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(4) for j in range(4) if i != j))

    limits = {"type": "eq", "fun": lambda p: p.sum() - 1}
    found = minimize(objective, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=limits, options={"ftol": 1e-15})
    assert shares_of(r) == pytest.approx(found.x, abs=1e-5)
