"""The linear SVM beside LIBSVM, LIBLINEAR, and SciPy's linear and quadratic programmes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.models.linear.linear_svm import LinearSVM
from tests.golden.asking import answered, fitted
from tests.golden.shipped import in_numbers, standardised


def two(dataset: str) -> Any:
    data = standardised(dataset)
    return data if len(data.classes) == 2 else data.take(np.flatnonzero(data.y > 0))


@pytest.mark.parametrize("dataset", ["iris", "wdbc"])
@pytest.mark.parametrize("c", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_hinge_has_the_plane_of_libsvm(dataset: str, c: float, weighted: bool) -> None:
    data = two(dataset)
    if weighted:
        data = replace(data, weight=np.random.default_rng(1).uniform(0.5, 2, len(data)))
    oracle = SVC(kernel="linear", C=c, tol=1e-9).fit(data.table.numbers, data.y, data.weight)
    model = fitted(LinearSVM(C=c), data)
    assert model.coefficients_ == pytest.approx(oracle.coef_, abs=1e-3)
    # LIBSVM's plane is the less exact; the intercept is free within limits where no row lies on the margin.
    theirs = objective_of(oracle.coef_[0], oracle.intercept_[0], data, c)
    assert theirs * (1 - 1e-4) <= objective(model, data, c) <= theirs * (1 + 1e-9)


def objective(model: Any, data: Any, c: float) -> float:
    return objective_of(model.coefficients_[0], model.scores(data.table)[0, 0], data, c, at=0)


def objective_of(w: Any, b: float, data: Any, c: float, at: int | None = None) -> float:
    X, side = data.table.numbers, np.where(data.y == data.y.max(), 1, -1)
    level = b if at is None else b - X[at] @ w
    lack = np.maximum(1 - side * (X @ w + level), 0)
    return float(w @ w / 2 + c * data.weights @ lack)


def test_one_against_rest_is_that_of_libsvm() -> None:
    data = standardised("wine")
    oracle = OneVsRestClassifier(SVC(kernel="linear", tol=1e-9)).fit(data.table.numbers, data.y)
    method = LinearSVM(multiclass="one-against-rest")
    model = fitted(method, data)
    assert model.scores(data.table) == pytest.approx(oracle.decision_function(data.table.numbers), abs=1e-4)
    assert np.array_equal(answered(method, data).predicted, oracle.predict(data.table.numbers))


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("c", [0.05, 1.0])
def test_the_squared_hinge_has_the_plane_of_liblinear(penalty: str, c: float) -> None:
    # LIBLINEAR penalises the intercept as one more coefficient, the less the larger its column is.
    data = two("wdbc")
    oracle = LinearSVC(
        C=c, penalty=penalty, dual=False, tol=1e-12, max_iter=20_000, intercept_scaling=1e3, random_state=1
    )
    oracle.fit(data.table.numbers, data.y)
    model = fitted(LinearSVM(C=c, loss="squared-hinge", penalty=penalty), data)
    ours, theirs = (
        c * (np.maximum(1 - np.where(data.y == 1, 1, -1) * scores, 0) ** 2).sum()
        + ((w**2).sum() / 2 if penalty == "l2" else np.abs(w).sum())
        for w, scores in (
            (model.coefficients_, model.scores(data.table)[:, 0]),
            (oracle.coef_, oracle.decision_function(data.table.numbers)),
        )
    )
    assert theirs * (1 - 1e-2) <= ours <= theirs * (1 + 1e-9)
    if penalty == "l2":
        assert model.coefficients_ == pytest.approx(oracle.coef_, abs=1e-4)


@pytest.mark.parametrize("c", [0.05, 1.0])
def test_the_l1_norm_svm_is_a_linear_programme(c: float) -> None:
    data = two("iris")
    X, side = data.table.numbers, np.where(data.y == 2, 1.0, -1.0)
    n, p = X.shape
    # w = u − v with u, v ≥ 0; y (x·(u − v) + b) + ξ ≥ 1.
    rows = -np.hstack([side[:, None] * X, -side[:, None] * X, side[:, None], np.eye(n)])
    cost = np.concatenate([np.ones(2 * p), [0.0], np.full(n, c)])
    bounds = [(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n
    least = scipy.optimize.linprog(cost, A_ub=rows, b_ub=-np.ones(n), bounds=bounds, method="highs")
    model = fitted(LinearSVM(C=c, penalty="l1"), data)
    lack = np.maximum(1 - side * model.scores(data.table)[:, 0], 0).sum()
    assert np.abs(model.coefficients_).sum() + c * lack == pytest.approx(least.fun, rel=1e-7)
    if c < 1:
        assert (np.abs(model.coefficients_) < 1e-6).sum() == (
            np.abs(least.x[:p] - least.x[p : 2 * p]) < 1e-9
        ).sum()


@pytest.mark.parametrize("multiclass", ["weston-watkins", "crammer-singer"])
def test_all_classes_at_once_reach_the_minimum_of_a_quadratic_programme(multiclass: str) -> None:
    # (72) of S0 with decision 18; SciPy minimises over W, b and the slacks, of each row and class or of each row.
    data = in_numbers("iris").take(np.arange(0, 150, 6))
    X, y, c = data.table.numbers, data.y, 0.5
    others = [(i, j) for i in range(len(X)) for j in range(3) if j != y[i]]
    slack = np.arange(len(others)) if multiclass == "weston-watkins" else np.array([i for i, _ in others])
    size = 3 * 5

    def gaps(z: Any) -> Any:
        scores = np.column_stack([X, np.ones(len(X))]) @ z[:size].reshape(3, 5).T
        return np.array([scores[i, y[i]] - scores[i, j] - 1 for i, j in others]) + z[size:][slack]

    def cost(z: Any) -> float:
        return float((z[:size].reshape(3, 5)[:, :4] ** 2).sum() / 2 + c * z[size:].sum())

    start = np.append(np.zeros(size), np.ones(slack[-1] + 1))
    bounds = [(None, None)] * size + [(0, None)] * len(start[size:])
    constraints = {"type": "ineq", "fun": gaps}
    least = scipy.optimize.minimize(
        cost,
        start,
        bounds=bounds,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    model = fitted(LinearSVM(C=c, multiclass=multiclass), data)
    scores = model.scores(data.table)
    lacks = np.array([max(0.0, 1 - scores[i, y[i]] + scores[i, j]) for i, j in others])
    lack = sum(lacks[slack == k].max() for k in range(slack[-1] + 1))
    assert (model.coefficients_**2).sum() / 2 + c * lack == pytest.approx(least.fun, rel=1e-6)
    assert model.coefficients_.sum(axis=0) == pytest.approx(0.0, abs=1e-9)


def test_two_points_have_the_margin_of_half_their_distance() -> None:
    data = two("iris").take(np.array([0, 60]))
    model = fitted(LinearSVM(C=1e6), data)
    apart = np.linalg.norm(np.diff(data.table.numbers, axis=0))
    assert 1 / model.norms_[0] == pytest.approx(apart / 2, rel=1e-6)
    assert model.support_ == (2,)


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(UsageError, match="weston-watkins goes with loss hinge and penalty l2"):
        build(LinearSVM, {"multiclass": "weston-watkins", "penalty": "l1"})
