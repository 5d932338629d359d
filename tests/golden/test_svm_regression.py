"""Support vector regression beside LIBSVM (by scikit-learn), in units of the target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.svm import SVR

from mlcli.models.kernel_methods.svm_regression import SupportVectorRegression
from tests.golden.asking import asked, fitted
from tests.support.rows import table_of, valued

TIGHT = 1e-9
KERNELS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"gamma": 0.3, "C": 10.0, "epsilon": 0.3}, {"gamma": 0.3, "C": 10.0, "epsilon": 0.3}),
    ({"kernel": "linear", "epsilon": 0.05}, {"kernel": "linear", "epsilon": 0.05}),
    ({"kernel": "polynomial", "degree": 2}, {"kernel": "poly", "degree": 2, "coef0": 1.0}),
]


def some() -> tuple[Any, Any]:
    """A third of the rows of a dataset, columns on one scale."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[::3], y[::3]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def rows(X: Any, y: Any, weight: Any = None) -> Any:
    """Rows of numbers with a value each."""
    return valued(table_of({f"x{j}": column for j, column in enumerate(X.T.tolist())}), y, weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("params", "their_params"), KERNELS)
def test_values_are_those_of_libsvm_for_a_target_of_unit_spread(
    params: Any, their_params: Any, weighted: bool
) -> None:
    """To five digits of the spread: LIBSVM keeps its matrix in single precision."""
    X, y = some()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    middle = np.average(y, weights=weight)
    spread = np.sqrt(np.average((y - middle) ** 2, weights=weight))
    width = {"gamma": params.get("gamma", 0.1)}
    theirs = SVR(tol=TIGHT, **{**their_params, **width}).fit(X, (y - middle) / spread, sample_weight=weight)
    model = fitted(SupportVectorRegression(tolerance=TIGHT, **{**params, **width}), rows(X, y, weight))
    expected = middle + spread * theirs.predict(X)
    assert asked(model, rows(X, y)).predicted == pytest.approx(expected, abs=1e-5 * spread)
    outside = np.isclose(np.abs(theirs.dual_coef_[0]), theirs.C * weight[theirs.support_], rtol=1e-9).sum()
    assert model.support_.tolist() == [len(y) - len(theirs.support_), len(theirs.support_) - outside, outside]


def test_the_unit_of_the_target_changes_nothing_but_the_unit_of_answers() -> None:
    X, y = some()
    plain, other = (fitted(SupportVectorRegression(), rows(X, values)) for values in (y, 1024.0 * y))
    assert asked(other, rows(X, y)).predicted == pytest.approx(1024.0 * asked(plain, rows(X, y)).predicted)


def test_the_error_without_each_row_is_near_that_of_refits() -> None:
    X, y = some()
    X, y = X[:60], y[:60]
    model = SupportVectorRegression(gamma=0.05, tolerance=1e-6)
    estimated = fitted(model, rows(X, y)).errors_[1]
    missed = []
    for row in range(len(y)):
        others = np.delete(np.arange(len(y)), row)
        width = {"C": model.C * y.std() / y[others].std(), "epsilon": model.epsilon * y.std() / y[others].std()}
        without = fitted(SupportVectorRegression(gamma=0.05, tolerance=1e-6, **width), rows(X[others], y[others]))
        missed.append(asked(without, rows(X[[row]], y[[row]])).predicted[0] - y[row])
    assert estimated == pytest.approx(np.sqrt(np.mean(np.square(missed))), rel=0.02)
