"""QDA beside scikit-learn, SciPy and the definition (docs/notes.md 49; Friedman 1989)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.models.discriminants.gaussian_bayes import GaussianBayes
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.discriminants.qda import QuadraticDiscriminants
from tests.golden.asking import answered, fitted
from tests.golden.discriminants import PRIORS, bayes, probabilities, rows
from tests.support.rows import labelled


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_qda_of_maximum_likelihood_is_scikit_learns(load: Any, priors: Any) -> None:
    X, y = load(return_X_y=True)
    theirs = QuadraticDiscriminantAnalysis(priors=priors, tol=0.0).fit(X, y).predict_proba(X)
    assert probabilities(QuadraticDiscriminants(priors=priors, ddof=0), X, y) == pytest.approx(theirs, abs=1e-9)


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


def test_units_and_offsets_of_columns_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.round(X * 8) / 8
    same = probabilities(QuadraticDiscriminants(), X, y)
    other = X * [1e-6, 1.0, 1e5, 3.0] + [0.0, 1e7, -2e8, 5.0]
    assert probabilities(QuadraticDiscriminants(), other, y) == pytest.approx(same, abs=1e-9)


def test_constant_columns_and_those_that_follow_from_others_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    more = np.column_stack([X, np.full(len(X), 0.1), X @ [1.0, 2.0, 0.0, -1.0]])
    plain = probabilities(QuadraticDiscriminants(), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert probabilities(QuadraticDiscriminants(), more, y) == pytest.approx(plain, abs=1e-9)


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


def test_priors_are_checked() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(UsageError, match=r"priors add up to 0\.5, not to 1"):
        build(QuadraticDiscriminants, {"priors": [0.25, 0.25]})
    with pytest.raises(FitError, match="2 priors were given for 3 classes"):
        fitted(QuadraticDiscriminants(priors=(0.5, 0.5)), rows(X, y))


def test_rows_that_weigh_too_little_for_ddof_do_without_and_say_so() -> None:
    X, y = load_iris(return_X_y=True)
    light = rows(X, y, weight=np.full(len(y), 0.01))
    with pytest.warns(MlcliWarning, match="the rows weigh too little for covariances with ddof 1"):
        said = answered(QuadraticDiscriminants(), light).probabilities
    assert said == pytest.approx(probabilities(QuadraticDiscriminants(ddof=0), X, y), abs=1e-9)


def test_it_tells_the_covariance_of_each_class_and_how_many_numbers_it_has_learned() -> None:
    X, y = load_iris(return_X_y=True)
    model = fitted(QuadraticDiscriminants(), rows(X, y))
    told = next(one for one in model.explain() if one.title == "Covariances")
    expected = np.concatenate([np.cov(X[y == k].T) for k in range(3)])
    assert np.array([line[2:] for line in told.rows], float) == pytest.approx(expected, rel=1e-9)
    assert model.adjustable_parameters(rows(X, y).table) == 3 * (4 + 10) + 2


@pytest.mark.parametrize(
    ("model", "covariance"),
    [
        (QuadraticDiscriminants(), lambda X: np.cov(X.T)),
        (GaussianBayes(), lambda X: np.diag(X.var(axis=0))),
        (GaussianBayes(covariance="full"), lambda X: np.cov(X.T, ddof=0)),
    ],
    ids=["qda", "diagonal", "full"],
)
def test_an_answer_is_explained_by_prior_times_density(model: Any, covariance: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = fitted(model, rows(X, y))
    asked = rows(X[60:61], y[60:61])
    (factors, *_) = model.explain_answer(asked.table)
    prior, density, product, share = (np.array(line[1:], float) for line in factors.rows)
    bells = [multivariate_normal(X[y == k].mean(axis=0), covariance(X[y == k])) for k in range(3)]
    assert prior == pytest.approx(np.log([1 / 3] * 3))
    assert density == pytest.approx([bell.logpdf(X[60]) for bell in bells], rel=1e-9)
    assert product == pytest.approx(prior + density)
    assert share == pytest.approx(model.predict_proba(asked.table)[0], abs=1e-12)


def test_a_class_without_rows_has_no_density() -> None:
    X, y = load_iris(return_X_y=True)
    data = labelled(rows(X, y).table, [f"c{k}" for k in y], ("c0", "c1", "c2", "none"))
    (factors, *_) = fitted(QuadraticDiscriminants(), data).explain_answer(data.table)
    assert factors.rows[-1][-1] == 0
