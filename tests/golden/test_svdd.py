"""SVDD beside the one-class SVM of scikit-learn (Gaussian), an optimiser of SciPy, and a ball known by sight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import OneClassSVM as OfSklearn

from mlcli.models.anomaly.svdd import SupportVectorDescription
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, scores

X, Z = cloud(203, 3), 2 * cloud(60, 3, seed=1)
"""Of so many rows that ν n is not whole, which would leave the radius open."""


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8])
def test_gaussian_scores_are_twice_those_of_the_plane_of_scikit_learn(nu: float) -> None:
    plane = OfSklearn(nu=nu, gamma=0.05, tol=1e-9).fit(X).decision_function(Z) / (nu * len(X))
    found = scores(SupportVectorDescription(nu=nu, gamma=0.05, tolerance=1e-9), X, Z)
    assert found == pytest.approx(-2 * plane, rel=1e-5, abs=1e-6)


def test_the_smallest_ball_round_three_numbers_ends_at_the_outer_ones() -> None:
    # 0 1 6: ν = 1/3 lets α reach 1, so that no row is outside: the centre is 3, R = 3.
    model = fitted(SupportVectorDescription(kernel="linear", nu=1 / 3, tolerance=1e-9), line(0, 1, 6))
    assert asked(model, line(3, 0, 6, 8)).score == pytest.approx([-9, 0, 0, 16], abs=1e-6)


@pytest.mark.parametrize(
    ("params", "kernel"),
    [
        ({"kernel": "linear"}, lambda A, B: A @ B.T),
        ({"kernel": "polynomial", "gamma": 0.5, "degree": 2}, lambda A, B: (0.5 * A @ B.T + 1) ** 2),
    ],
)
def test_centre_and_radius_are_those_of_the_optimiser_of_scipy(params: Any, kernel: Any) -> None:
    A, B, nu = cloud(23, 2) / 3, cloud(9, 2, seed=2) / 3, 0.3
    K, most = kernel(A, A), 1 / (nu * 23)
    found = minimize(
        lambda alpha: alpha @ K @ alpha - alpha @ np.diag(K),
        np.full(23, 1 / 23),
        jac=lambda alpha: 2 * K @ alpha - np.diag(K),
        bounds=[(0, most)] * 23,
        constraints={"type": "eq", "fun": lambda alpha: alpha.sum() - 1, "jac": lambda alpha: np.ones(23)},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    alpha = found.x
    apart = np.diag(K) - 2 * K @ alpha
    edge = apart[(alpha > 1e-3 * most) & (alpha < 0.999 * most)].mean()
    expected = np.diag(kernel(B, B)) - 2 * kernel(B, A) @ alpha - edge
    ours = scores(SupportVectorDescription(nu=nu, tolerance=1e-9, **params), A, B)
    assert ours == pytest.approx(expected, rel=1e-3, abs=1e-3 * float(np.abs(expected).max()))
