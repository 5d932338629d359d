"""LDA beside scikit-learn, SciPy and the definition (docs/notes.md 49)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.models.discriminants.lda import LinearDiscriminants
from tests.golden.asking import answered, asked, fitted
from tests.golden.discriminants import PRIORS, bayes, probabilities, rows
from tests.golden.shipped import in_numbers, numeric, with_numbers
from tests.support.rows import labelled


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_lda_of_maximum_likelihood_is_scikit_learns(load: Any, priors: Any) -> None:
    X, y = load(return_X_y=True)
    theirs = LinearDiscriminantAnalysis(priors=priors).fit(X, y).predict_proba(X)
    assert probabilities(LinearDiscriminants(priors=priors, ddof=0), X, y) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_lda_is_bayes_rule_with_scipys_densities_of_the_covariance_over_n_minus_k(load: Any) -> None:
    X, y = load(return_X_y=True)
    pooled = sum((np.sum(y == k) - 1) * np.cov(X[y == k].T) for k in range(3)) / (len(y) - 3)
    bells = [multivariate_normal(X[y == k].mean(axis=0), pooled) for k in range(3)]
    expected = bayes([np.mean(y == k) * bell.pdf(X) for k, bell in enumerate(bells)])
    assert probabilities(LinearDiscriminants(), X, y) == pytest.approx(expected, abs=1e-9)


def test_columns_with_near_copies_keep_nine_digits() -> None:
    """Of 30 columns, mean radius, perimeter and area follow from each other but for their third digit."""
    X, y = load_breast_cancer(return_X_y=True)
    theirs = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    assert probabilities(LinearDiscriminants(ddof=0), X, y) == pytest.approx(theirs, abs=1e-9)


def test_units_and_offsets_of_columns_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.round(X * 8) / 8
    same = probabilities(LinearDiscriminants(), X, y)
    other = X * [1e-6, 1.0, 1e5, 3.0] + [0.0, 1e7, -2e8, 5.0]
    assert probabilities(LinearDiscriminants(), other, y) == pytest.approx(same, abs=1e-9)


def test_constant_columns_and_those_that_follow_from_others_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    more = np.column_stack([X, np.full(len(X), 0.1), X @ [1.0, 2.0, 0.0, -1.0]])
    plain = probabilities(LinearDiscriminants(), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert probabilities(LinearDiscriminants(), more, y) == pytest.approx(plain, abs=1e-9)


def test_with_more_columns_than_rows_it_is_scikit_learns_and_says_what_it_leaves_out() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 30)), np.arange(20) % 2
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    model = LinearDiscriminants(ddof=0)
    with pytest.warns(MlcliWarning, match="30 columns vary within classes, and the rows show only 18 directions"):
        fitted(model, rows(X, y))
    new = rng.normal(size=(10, 30))
    said = asked(model, rows(new, np.arange(10) % 2)).probabilities
    assert said == pytest.approx(theirs.predict_proba(new), abs=1e-9)


def test_a_column_that_no_class_varies_in_is_told() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(MlcliWarning, match="1 column does not vary within any class, though the classes differ"):
        fitted(LinearDiscriminants(), rows(np.column_stack([X, y]), y))


def test_priors_are_checked() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(UsageError, match=r"priors add up to 0\.5, not to 1"):
        build(LinearDiscriminants, {"priors": [0.25, 0.25]})
    with pytest.raises(FitError, match="2 priors were given for 3 classes"):
        fitted(LinearDiscriminants(priors=(0.5, 0.5)), rows(X, y))


def test_rows_that_weigh_too_little_for_ddof_do_without_and_say_so() -> None:
    X, y = load_iris(return_X_y=True)
    light = rows(X, y, weight=np.full(len(y), 0.01))
    with pytest.warns(MlcliWarning, match="the rows weigh too little for covariances with ddof 1"):
        said = answered(LinearDiscriminants(), light).probabilities
    assert said == pytest.approx(probabilities(LinearDiscriminants(ddof=0), X, y), abs=1e-9)


class ToTheDiagonal:
    """What scikit-learn is told of covariances: products of two columns are that much smaller."""

    def __init__(self, shrinkage: float) -> None:
        self.shrinkage = shrinkage

    def fit(self, X: Any) -> Any:
        scatter = np.cov(X.T, bias=True)
        self.covariance_ = (1 - self.shrinkage) * scatter + self.shrinkage * np.diag(np.diag(scatter))
        return self


@pytest.mark.parametrize("dataset", ["iris", "wine", "wdbc"])
@pytest.mark.parametrize("shrinkage", [0.05, 0.5, 1.0])
def test_a_given_shrinkage_is_that_of_scikit_learn(dataset: str, shrinkage: float) -> None:
    data = in_numbers(dataset)
    oracle = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=ToTheDiagonal(shrinkage))
    expected = oracle.fit(data.table.numbers, data.y).predict_proba(data.table.numbers)
    said = answered(LinearDiscriminants(shrinkage=shrinkage, ddof=0), data)
    assert said.probabilities == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("dataset", ["iris", "wine", "wdbc"])
def test_the_rule_is_that_of_ledoit_and_wolf(dataset: str) -> None:
    data = in_numbers(dataset)
    means = np.array([data.table.numbers[data.y == k].mean(axis=0) for k in range(len(data.classes))])
    away = data.table.numbers - means[data.y]
    expected = ledoit_wolf_shrinkage(away / away.std(axis=0), assume_centered=True)
    assert fitted(LinearDiscriminants(shrinkage=None), data).shrunk_ == pytest.approx(expected, rel=1e-9)


def test_more_columns_than_rows_are_no_obstacle_to_shrinkage() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 200))
    y = (X[:, :5].sum(axis=1) > 0).astype(int)
    data = labelled(numeric(X), ["ab"[k] for k in y])
    train, test = data.take(np.arange(60)), data.take(np.arange(60, 120))
    model = fitted(LinearDiscriminants(shrinkage=None), train)
    assert 0.3 < model.shrunk_ <= 1
    assert (model.predict_proba(test.table).argmax(axis=1) == test.y).mean() > 0.55


def test_columns_that_vary_only_between_classes_are_left_out_when_shrunk() -> None:
    data = in_numbers("iris")
    more = with_numbers(data, np.column_stack([data.table.numbers, data.y.astype(float)]))
    said, without = (answered(LinearDiscriminants(shrinkage=0.2), rows) for rows in (more, data))
    assert said.probabilities == pytest.approx(without.probabilities, abs=1e-9)
