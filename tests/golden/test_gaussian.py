"""One Gaussian beside SciPy, scikit-learn and a density written out by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.stats
import sklearn.mixture

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.metrics.base import Undefined
from mlcli.metrics.registry import metric_named
from mlcli.models.density.gaussian import Gaussian
from mlcli.models.density.gmm import GaussianMixture
from tests.golden.asking import answered, fitted
from tests.golden.densities import numbers_of, unlabelled

pytestmark = pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")

PEER = {"full": "full", "diagonal": "diag", "spherical": "spherical"}


@pytest.mark.parametrize("dataset", ["faithful", "iris", "wine"])
def test_the_density_is_that_of_scipy(dataset: str) -> None:
    X = numbers_of(dataset)
    oracle = scipy.stats.multivariate_normal(X.mean(axis=0), np.cov(X.T, ddof=0))
    said = answered(Gaussian(), unlabelled(X, "density")).log_density
    assert said == pytest.approx(oracle.logpdf(X), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("covariance", PEER)
@pytest.mark.parametrize("dataset", ["faithful", "iris", "wine"])
def test_density_bic_and_aic_are_those_of_a_mixture_of_one_in_scikit_learn(dataset: str, covariance: str) -> None:
    X = numbers_of(dataset)
    oracle = sklearn.mixture.GaussianMixture(1, covariance_type=PEER[covariance], reg_covar=0.0).fit(X)
    answers = answered(Gaussian(covariance=covariance), unlabelled(X, "density"))
    assert answers.log_density == pytest.approx(oracle.score_samples(X), rel=1e-9)
    for name, expected in (("bic", oracle.bic(X)), ("aic", oracle.aic(X)), ("log-likelihood", oracle.score(X))):
        found = metric_named(name, type(answers)).compute(answers)
        assert not isinstance(found, Undefined)
        assert found == pytest.approx(expected, rel=1e-9)


def test_ddof_1_divides_by_one_row_less() -> None:
    X = numbers_of("iris")
    model = fitted(Gaussian(ddof=1), unlabelled(X, "density"))
    assert model.covariance_ == pytest.approx(np.cov(X.T), rel=1e-12)


def test_two_rows_in_one_column_by_hand() -> None:
    # μ = 1, σ² = 1: the density at 0 and at 2 is exp(−½) / √(2π).
    said = answered(Gaussian(), unlabelled(np.array([[0.0], [2.0]]), "density")).log_density
    assert said == pytest.approx([-0.5 - 0.5 * np.log(2 * np.pi)] * 2, rel=1e-14)


def test_columns_that_follow_from_each_other_leave_a_finite_density() -> None:
    x = np.random.default_rng(1).normal(size=50)
    said = answered(Gaussian(), unlabelled(np.column_stack([x, 2 * x]), "density")).log_density
    assert np.isfinite(said).all()


def test_without_a_floor_they_are_refused() -> None:
    x = np.arange(8.0)
    with pytest.raises(FitError, match="floor"):
        answered(Gaussian(floor=0.0), unlabelled(np.column_stack([x, x]), "density"))


def test_an_offset_of_a_million_loses_no_digits() -> None:
    X = np.round(numbers_of("iris") * 16) / 16
    near = answered(Gaussian(), unlabelled(X, "density")).log_density
    far = answered(Gaussian(), unlabelled(X + 2.0**20, "density")).log_density
    assert far == pytest.approx(near, rel=1e-9)


def test_the_floor_is_a_limit_and_not_an_addition() -> None:
    X = numbers_of("iris")
    free, limited = (fitted(Gaussian(floor=floor), unlabelled(X, "density")).covariance_ for floor in (0.0, 1e-3))
    assert np.array_equal(free, limited)
    raised = fitted(Gaussian(floor=0.1), unlabelled(X, "density")).covariance_
    relative = raised / np.sqrt(np.outer(np.diag(free), np.diag(free)))
    assert np.linalg.eigvalsh(relative).min() == pytest.approx(0.1, rel=1e-9)


def test_columns_that_follow_from_each_other_are_warned_of() -> None:
    x = np.random.default_rng(0).normal(size=(40, 2))
    dependent = unlabelled(np.column_stack([x, x.sum(axis=1)]), "density")
    with pytest.warns(MlcliWarning, match="columns follow from each other"):
        fitted(Gaussian(), dependent)
    with pytest.warns(MlcliWarning, match="columns follow from each other"):
        fitted(GaussianMixture(components=2), dependent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(Gaussian(covariance="diagonal"), dependent)
