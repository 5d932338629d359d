"""One-class SVM beside scikit-learn's (LIBSVM): decision values, the share outside, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.svm import OneClassSVM as OfSklearn

from mlcli.models.anomaly.one_class_svm import OneClassSvm
from mlcli.models.anomaly.svdd import SupportVectorDescription
from tests.golden.asking import fitted
from tests.golden.screening import cloud, line, rows_of, scores, scores_of_its_own

X, Z = 20 + cloud(203, 3), 20 + 2 * cloud(60, 3, seed=1)
"""Away from the origin, for a linear kernel; of so many rows that ν n is not whole, which would leave ρ open."""
KERNELS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"gamma": 0.05}, {"gamma": 0.05}),
    ({}, {"gamma": "scale"}),
    ({"kernel": "linear"}, {"kernel": "linear"}),
    (
        {"kernel": "polynomial", "gamma": 0.1, "degree": 2},
        {"kernel": "poly", "gamma": 0.1, "degree": 2, "coef0": 1.0},
    ),
]


@pytest.mark.parametrize("nu", [0.05, 0.1, 0.5, 0.93])
@pytest.mark.parametrize(("ours", "theirs"), KERNELS)
def test_decision_values_are_those_of_scikit_learn(ours: Any, theirs: Any, nu: float) -> None:
    if theirs.get("gamma") == "scale":
        theirs = {"gamma": 1 / (3 * np.mean((X - X.mean()) ** 2))}
    expected = -OfSklearn(nu=nu, tol=1e-9, **theirs).fit(X).decision_function(Z) / (nu * len(X))
    found = scores(OneClassSvm(nu=nu, tolerance=1e-9, **ours), X, Z)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5 * float(np.abs(expected).max()))


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
def test_nu_bounds_the_share_outside(nu: float) -> None:
    outside = float((scores_of_its_own(OneClassSvm(nu=nu, tolerance=1e-6), X) > 1e-5).mean())
    assert nu - 0.05 <= outside <= nu


@pytest.mark.parametrize("method", [OneClassSvm, SupportVectorDescription])
@pytest.mark.parametrize("nu", [0.05, 0.1, 0.2])
def test_rows_on_the_boundary_are_not_flagged(method: Any, nu: float) -> None:
    # Schölkopf et al. 2001, proposition 4: ν bounds the share of outliers, and rows on the plane are none.
    model = fitted(method(nu=nu), rows_of(X))
    flagged = float((model.score_rows(rows_of(X).table) > model.own_limit()[0]).mean())
    assert flagged == pytest.approx(model.support_[2])
    assert flagged <= nu


def test_all_rows_outside_count_alike() -> None:
    # ν = 1: every α is at its bound 1/n, so that the score is one of Parzen's density: ρ minus the mean kernel.
    data = line(0, 1, 5)
    model = fitted(OneClassSvm(nu=1.0, gamma=1.0), data)
    assert model.coefficients_ == pytest.approx([1 / 3] * 3)


def test_the_farthest_column_is_the_reason() -> None:
    row = X.mean(axis=0) + np.array([0.0, 90.0, -20.0])
    added = fitted(OneClassSvm(), rows_of(X)).deviations(rows_of(row[None]).table)[0]
    assert added[1] > -added[2] > 0
