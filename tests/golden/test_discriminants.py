"""LDA and QDA beside scikit-learn, SciPy and the definitions (decisions.md 49; Friedman 1989)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.core.tables import Array
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.discriminants.qda import QuadraticDiscriminants
from tests.golden.asking import answered, asked, fitted
from tests.rows import labelled, table_of

PRIORS = (0.2, 0.3, 0.5)


def rows(X: Array, y: Any, weight: Any = None) -> Any:
    table = table_of({f"x{j}": column for j, column in enumerate(X.T.tolist())})
    return labelled(table, [f"c{code}" for code in y], weight=weight)


def probabilities(model: Any, X: Array, y: Any) -> Array:
    return np.asarray(answered(model, rows(X, y)).probabilities)


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_those_of_maximum_likelihood_are_scikit_learns(load: Any, priors: Any) -> None:
    X, y = load(return_X_y=True)
    linear = LinearDiscriminantAnalysis(priors=priors).fit(X, y).predict_proba(X)
    assert probabilities(LinearDiscriminants(priors=priors, ddof=0), X, y) == pytest.approx(linear, abs=1e-9)
    quadratic = QuadraticDiscriminantAnalysis(priors=priors, tol=0.0).fit(X, y).predict_proba(X)
    assert probabilities(QuadraticDiscriminants(priors=priors, ddof=0), X, y) == pytest.approx(quadratic, abs=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_lda_is_bayes_rule_with_scipys_densities_of_the_covariance_over_n_minus_k(load: Any) -> None:
    X, y = load(return_X_y=True)
    pooled = sum((np.sum(y == k) - 1) * np.cov(X[y == k].T) for k in range(3)) / (len(y) - 3)
    bells = [multivariate_normal(X[y == k].mean(axis=0), pooled) for k in range(3)]
    expected = bayes([np.mean(y == k) * bell.pdf(X) for k, bell in enumerate(bells)])
    assert probabilities(LinearDiscriminants(), X, y) == pytest.approx(expected, abs=1e-9)


def bayes(joint: Any) -> Array:
    """Joint probabilities, a list per class, as posteriors."""
    columns = np.column_stack(joint)
    return np.asarray(columns / columns.sum(axis=1, keepdims=True))


def test_columns_with_near_copies_keep_nine_digits() -> None:
    """Of 30 columns, mean radius, perimeter and area follow from each other but for their third digit."""
    X, y = load_breast_cancer(return_X_y=True)
    theirs = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    assert probabilities(LinearDiscriminants(ddof=0), X, y) == pytest.approx(theirs, abs=1e-9)


def test_qda_is_bayes_rule_with_scipys_densities() -> None:
    X, y = load_iris(return_X_y=True)
    bells = [multivariate_normal(X[y == k].mean(axis=0), np.cov(X[y == k].T)) for k in range(3)]
    expected = bayes([bell.pdf(X) for bell in bells])
    assert probabilities(QuadraticDiscriminants(), X, y) == pytest.approx(expected, abs=1e-9)


def test_shrinkage_goes_from_qda_to_lda() -> None:
    X, y = load_wine(return_X_y=True)
    shared = probabilities(LinearDiscriminants(), X, y)
    assert probabilities(QuadraticDiscriminants(shrinkage=1.0), X, y) == pytest.approx(shared, abs=1e-9)
    own = [np.cov(X[y == k].T) for k in range(3)]
    pooled = sum((np.sum(y == k) - 1) * own[k] for k in range(3)) / (len(y) - 3)
    bells = [multivariate_normal(X[y == k].mean(axis=0), 0.7 * own[k] + 0.3 * pooled) for k in range(3)]
    expected = bayes([np.mean(y == k) * bell.pdf(X) for k, bell in enumerate(bells)])
    assert probabilities(QuadraticDiscriminants(shrinkage=0.3), X, y) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("model", [LinearDiscriminants(), QuadraticDiscriminants()])
def test_units_and_offsets_of_columns_change_nothing(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    other = X * [1e-6, 1.0, 1e5, 3.0] + [0.0, 1e7, -2e8, 5.0]
    # 5.1 + 1e7 is rounded to 2e-9, so the same cells are taken in both
    plain = (other - [0.0, 1e7, -2e8, 5.0]) / [1e-6, 1.0, 1e5, 3.0]
    same = probabilities(model, plain, y)
    assert probabilities(model.fresh(), other, y) == pytest.approx(same, abs=1e-7)


def test_constant_columns_and_those_that_follow_from_others_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    more = np.column_stack([X, np.full(len(X), 0.1), X @ [1.0, 2.0, 0.0, -1.0]])
    for model in (LinearDiscriminants(), QuadraticDiscriminants()):
        plain = probabilities(model, X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert probabilities(model.fresh(), more, y) == pytest.approx(plain, abs=1e-9)


def test_lda_with_more_columns_than_rows_is_scikit_learns_and_says_so() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), np.arange(20) % 2
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    model = LinearDiscriminants(ddof=0)
    with pytest.warns(MlcliWarning, match="30 columns vary within classes, and the rows show only 18 directions"):
        fitted(model, rows(X, y))
    new = rows(rng.normal(size=(10, 30)), np.arange(10) % 2)
    said = asked(model, new).probabilities
    assert said == pytest.approx(theirs.predict_proba(new.table.numbers), abs=1e-9)


def test_a_column_that_no_class_varies_in_is_told() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(MlcliWarning, match="1 column does not vary within any class, though the classes differ"):
        fitted(LinearDiscriminants(), rows(np.column_stack([X, y]), y))


def test_a_class_that_lies_flat_is_told_or_refused() -> None:
    X, y = load_iris(return_X_y=True)
    X[y == 1, 2] = 4.0
    with pytest.warns(MlcliWarning, match="the covariance of class c1 is singular"):
        fitted(QuadraticDiscriminants(), rows(X, y))
    with pytest.raises(FitError, match="the covariance of class c1 is singular"):
        fitted(QuadraticDiscriminants(floor=0.0), rows(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(QuadraticDiscriminants(floor=0.0, shrinkage=0.1), rows(X, y))


def test_a_class_of_one_row_has_the_shared_covariance() -> None:
    X, y = load_iris(return_X_y=True)
    keep = (y != 2) | (np.arange(len(y)) == 149)
    with pytest.warns(MlcliWarning, match="too few rows of class c2"):
        answers = answered(QuadraticDiscriminants(), rows(X[keep], y[keep]))
    assert answers.predicted[-1] == 2


@pytest.mark.parametrize("model", [LinearDiscriminants, QuadraticDiscriminants])
def test_priors_are_checked(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(UsageError, match=r"priors add up to 0\.5, not to 1"):
        build(model, {"priors": [0.25, 0.25]})
    with pytest.raises(FitError, match="2 priors were given for 3 classes"):
        fitted(model(priors=(0.5, 0.5)), rows(X, y))


@pytest.mark.parametrize("model", [LinearDiscriminants, QuadraticDiscriminants])
def test_rows_that_weigh_too_little_are_refused(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(FitError, match="weigh too little"):
        fitted(model(), rows(X, y, weight=np.full(len(y), 0.01)))
