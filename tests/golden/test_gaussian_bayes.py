"""Gaussian Bayes beside scikit-learn's naive Bayes and QDA, and SciPy's densities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from mlcli.models.discriminants.gaussian_bayes import GaussianBayes
from tests.golden.asking import answered
from tests.golden.shipped import in_numbers, standardised, weighted


@pytest.mark.parametrize("dataset", ["iris", "wine", "wdbc"])
def test_a_diagonal_is_the_naive_bayes_of_scikit_learn(dataset: str) -> None:
    data = weighted(in_numbers(dataset))
    oracle = GaussianNB(var_smoothing=0.0).fit(data.table.numbers, data.y, data.weight)
    said = answered(GaussianBayes(floor=0.0), data)
    assert said.probabilities == pytest.approx(oracle.predict_proba(data.table.numbers), abs=1e-9)


@pytest.mark.parametrize("dataset", ["iris", "wine"])
def test_a_full_covariance_is_the_qda_of_scikit_learn(dataset: str) -> None:
    data = in_numbers(dataset)
    oracle = QuadraticDiscriminantAnalysis().fit(data.table.numbers, data.y)
    said = answered(GaussianBayes(covariance="full"), data)
    assert said.probabilities == pytest.approx(oracle.predict_proba(data.table.numbers), abs=1e-6)


def bayes(data: Any, variance: Any) -> Any:
    """By SciPy's density of each class."""
    joint = []
    for k in range(len(data.classes)):
        rows = data.table.numbers[data.y == k]
        normal = scipy.stats.multivariate_normal(rows.mean(axis=0), variance(rows))
        joint.append(len(rows) * normal.pdf(data.table.numbers))
    return np.array(joint).T / np.sum(joint, axis=0)[:, None]


def test_spheres_have_the_mean_variance_of_their_columns() -> None:
    data = standardised("iris")
    said = answered(GaussianBayes(covariance="spherical"), data)
    expected = bayes(data, lambda rows: rows.var(axis=0).mean() * np.eye(4))
    assert said.probabilities == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal", "full"])
def test_a_class_of_one_row_has_the_floor(covariance: str) -> None:
    data = in_numbers("iris").take(np.arange(49, 150))
    said = answered(GaussianBayes(covariance=covariance), data)
    assert said.predicted[0] == 0
    assert np.isfinite(said.probabilities).all()


def test_given_priors_are_taken() -> None:
    data = in_numbers("iris")
    some = replace(data.take(np.arange(0, 150, 3)))
    said = answered(GaussianBayes(priors=(0.0, 0.5, 0.5)), some)
    assert (said.probabilities[:, 0] == 0).all()
