"""Mixtures beside scikit-learn from the same start, the notes, and the rise of the likelihood that EM promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
import sklearn.mixture

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.pipeline import Pipeline, learn
from mlcli.core.state import check_loaded
from mlcli.core.tables import Array
from mlcli.engines.covariances import COVARIANCE_TYPES
from mlcli.models.density._components import MixtureOfGaussians
from mlcli.models.density.gaussian import Gaussian
from mlcli.models.density.gmm import FittedMixture, GaussianMixture, maximise_likelihood, mixture_of_clusters
from mlcli.prepare.min_max import MinMax
from mlcli.prepare.standardise import Standardise
from tests.golden.asking import answered, asked, fitted
from tests.golden.densities import numbers_of, unlabelled

PEER = {"full": "full", "diagonal": "diag", "spherical": "spherical"}
ROUNDS = 25


def start_of(X: Array, covariance: str, components: int = 3) -> MixtureOfGaussians:
    """Clusters of rows as they come."""
    member = np.arange(components) == (np.arange(len(X)) * components // len(X))[:, None]
    return mixture_of_clusters(X, np.ones(len(X)), member, COVARIANCE_TYPES[covariance], np.zeros(X.shape[1]))


def em_from(
    X: Array, start: MixtureOfGaussians, rounds: int, floor: float = 0.0, weights: Any = None
) -> FittedMixture:
    """Exactly so many rounds of ours."""
    counts = np.ones(len(X)) if weights is None else weights
    least, unit = floor * X.var(axis=0), X.std(axis=0)
    return maximise_likelihood(X, counts, start, least, unit, "log-likelihood", -np.inf, rounds)


def peer_from(X: Array, start: MixtureOfGaussians, covariance: str) -> Any:
    """Exactly so many rounds of scikit-learn's."""
    inverse = {
        "full": lambda: np.linalg.inv(start.covariances),
        "diagonal": lambda: 1.0 / start.covariances,
        "spherical": lambda: 1.0 / start.covariances[:, 0],
    }
    made = sklearn.mixture.GaussianMixture(
        len(start.shares),
        covariance_type=PEER[covariance],
        reg_covar=0.0,
        tol=0.0,
        max_iter=ROUNDS,
        weights_init=start.shares,
        means_init=start.means,
        precisions_init=inverse[covariance](),
    )
    return made.fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("covariance", PEER)
@pytest.mark.parametrize("dataset", ["faithful", "iris", "wine"])
def test_from_the_same_start_the_mixture_is_that_of_scikit_learn(dataset: str, covariance: str) -> None:
    X = numbers_of(dataset)
    start = start_of(X, covariance)
    ours, theirs = em_from(X, start, ROUNDS).mixture, peer_from(X, start, covariance)
    assert ours.shares == pytest.approx(theirs.weights_, abs=1e-6)
    assert ours.means == pytest.approx(theirs.means_, rel=1e-6)
    assert ours.log_density(X) == pytest.approx(theirs.score_samples(X), rel=1e-6, abs=1e-6)
    assert ours.responsibilities(X) == pytest.approx(theirs.predict_proba(X), abs=1e-6)


def test_the_responsibility_of_the_notes() -> None:
    # SOURCES.md section 10: x = 1 between N(0, 1) and N(4, 1), half each.
    mixture = MixtureOfGaussians(
        COVARIANCE_TYPES["full"], np.full(2, 0.5), np.array([[0.0], [4.0]]), np.ones((2, 1, 1))
    )
    assert mixture.responsibilities(np.array([[1.0]]))[0, 0] == pytest.approx(0.982014, abs=5e-7)


@pytest.mark.parametrize("covariance", PEER)
def test_the_density_is_the_sum_of_those_of_scipy(covariance: str) -> None:
    X = scipy.stats.zscore(numbers_of("wine"))
    found = fitted(GaussianMixture(covariance=covariance), unlabelled(X, "density")).mixture()
    parts = [
        share * scipy.stats.multivariate_normal(mean, spread if covariance == "full" else np.diag(spread)).pdf(X)
        for share, mean, spread in zip(found.shares, found.means, found.covariances, strict=True)
    ]
    assert np.exp(found.log_density(X)) == pytest.approx(np.sum(parts, axis=0), rel=1e-8)


@pytest.mark.parametrize("floor", [1e-6, 1e-2, 0.3])
@pytest.mark.parametrize("covariance", PEER)
@pytest.mark.parametrize("dataset", ["faithful", "iris", "wine", "glass"])
def test_the_log_likelihood_never_falls_whatever_the_floor(dataset: str, covariance: str, floor: float) -> None:
    # S0 6.3.2; the floor binds in most of these cases.
    X = numbers_of(dataset)
    path = np.array(em_from(X, start_of(X, covariance, 5), 60, floor).log_likelihoods)
    # The start need not be above the floor, so the first round may fall to it.
    assert (np.diff(path[1:]) >= -1e-9 * np.abs(path[1:-1])).all()


def test_two_kinds_of_eruptions_are_found() -> None:
    # mclust (Scrucca et al. 2016), model VVV with 2 components on faithful: log-likelihood -1130.264,
    # BIC -2322.192 in its sign (2 ln L - k ln n).
    answers = answered(GaussianMixture(components=2), unlabelled(numbers_of("faithful"), "density"))
    assert answers.fit_log_likelihood == pytest.approx(-1130.264, abs=1e-3)
    assert answers.free_parameters == 11
    assert 2 * answers.fit_log_likelihood - 11 * np.log(272) == pytest.approx(-2322.192, abs=2e-3)


@pytest.mark.parametrize("covariance", PEER)
def test_one_component_is_one_gaussian(covariance: str) -> None:
    data = unlabelled(numbers_of("wine"), "density")
    one, mixture = Gaussian(covariance=covariance), GaussianMixture(covariance=covariance, components=1)
    assert answered(mixture, data).log_density == pytest.approx(answered(one, data).log_density, rel=1e-9)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("step", [Standardise, MinMax])
def test_the_unit_of_a_column_changes_no_log_likelihood(covariance: str, step: Any) -> None:
    data = unlabelled(numbers_of("wine"), "density")
    plain = fitted(GaussianMixture(covariance=covariance), data)
    scaled = Pipeline(steps=(step(),), model=GaussianMixture(covariance=covariance))
    learn(scaled, data, np.random.default_rng(1))
    assert asked(scaled, data).log_density == pytest.approx(asked(plain, data).log_density, abs=1e-6)


def test_rows_are_put_into_the_component_that_is_most_responsible() -> None:
    data = unlabelled(numbers_of("iris"), "clustering")
    model = fitted(GaussianMixture(), data)
    oracle = sklearn.mixture.GaussianMixture(
        3, means_init=model.means_, weights_init=model.shares_, precisions_init=np.linalg.inv(model.covariances_)
    ).fit(data.table.numbers)
    assert np.array_equal(model.cluster_of(data.table), oracle.predict(data.table.numbers))


@pytest.mark.parametrize("seed", range(4))
def test_the_petals_that_were_rounded_to_the_same_width_are_no_component(seed: int) -> None:
    # 29 irises have a petal width of 0.2 exactly: a component of these is likelier than the mixture that is known
    # (mclust 6, VVV with 3 components: log-likelihood -180.186), by as much as the floor allows.
    model = fitted(GaussianMixture(restarts=20), unlabelled(numbers_of("iris"), "density"), seed)
    assert model.fit_log_likelihood_ == pytest.approx(-180.186, abs=1e-2)


def test_a_component_on_one_row_stays_finite_and_is_warned_of() -> None:
    X = np.array([[0.0], [0.1], [0.2], [0.3], [50.0]])
    with pytest.warns(MlcliWarning, match="shrunk onto rows"):
        answers = answered(GaussianMixture(components=2), unlabelled(X, "density"))
    assert np.isfinite(answers.log_density).all()
    assert answers.fit_log_likelihood < 20


@pytest.mark.parametrize("method", [GaussianMixture(components=2), Gaussian()])
def test_a_column_of_one_value_is_left_out_and_said(method: Any) -> None:
    X = numbers_of("faithful")
    wide = unlabelled(np.insert(X, 1, 7.0, axis=1), "density")
    with pytest.warns(MlcliWarning, match="one value in all training rows are left out of the density: x1"):
        model = fitted(replace(method), wide)
    alone = fitted(replace(method), unlabelled(X, "density"))
    assert model.fit_log_likelihood_ == pytest.approx(alone.fit_log_likelihood_, rel=1e-12)
    assert model.free_parameters() == alone.free_parameters()
    assert [row[0] for row in model.explain()[1].rows] == [row[0] for row in alone.explain()[1].rows]
    model.varies_ = np.array([0, 3])
    with pytest.raises(ValueError, match="columns that are not there"):
        check_loaded(model)


def test_more_components_than_different_rows_are_refused() -> None:
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0)
    with pytest.raises(FitError, match="different rows"):
        answered(GaussianMixture(components=3), unlabelled(X, "density"))


def test_em_that_is_cut_short_says_so() -> None:
    with pytest.warns(UserWarning, match="max_iterations"):
        answered(GaussianMixture(max_iterations=1, tolerance=0.0), unlabelled(numbers_of("iris"), "density"))


@pytest.mark.parametrize("start", ["k-means-plus-plus", "random-points"])
def test_the_order_of_rows_changes_no_start(start: str) -> None:
    X = numbers_of("wine")
    order = np.random.default_rng(2).permutation(len(X))
    models = [fitted(GaussianMixture(start=start), unlabelled(rows, "density")) for rows in (X, X[order])]
    assert models[0].means_ == pytest.approx(models[1].means_, rel=1e-6)
