"""Kernel density beside SciPy's and scikit-learn's, its bandwidth beside a search written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from sklearn.neighbors import KernelDensity as Theirs

from mlcli.models.density.kde import TRIED, KernelDensity
from tests.golden.asking import asked, fitted
from tests.golden.densities import numbers_of, unlabelled


@pytest.mark.parametrize("bandwidth", ["scott", "silverman"])
def test_the_density_is_that_of_scipy(bandwidth: str) -> None:
    """SciPy's covariance has N − 1 in it; its factor is ours times the root of N − 1 over N."""
    X = numbers_of("faithful")
    known, new = X[:200], X[200:]
    rule = scipy.stats.gaussian_kde(known.T, bandwidth)
    oracle = scipy.stats.gaussian_kde(known.T, rule.factor * np.sqrt(199 / 200))
    model = fitted(KernelDensity(bandwidth=bandwidth), unlabelled(known, "density"))
    assert asked(model, unlabelled(new, "density")).log_density == pytest.approx(oracle.logpdf(new.T), rel=1e-9)


def test_variances_alone_are_scikit_learn_on_scaled_columns() -> None:
    X = numbers_of("iris")
    model = fitted(KernelDensity(covariance="diagonal", factor=0.7), unlabelled(X, "density"))
    scale = X.std(axis=0)
    oracle = Theirs(bandwidth=0.7 * 150 ** (-1 / 8)).fit(X / scale)
    said = asked(model, unlabelled(X, "density")).log_density
    assert said == pytest.approx(oracle.score_samples(X / scale) - np.log(scale).sum(), rel=1e-9)


def test_the_likeliest_bandwidth_leaves_each_row_out() -> None:
    X = np.unique(numbers_of("faithful")[:60], axis=0)
    model: Any = fitted(KernelDensity(bandwidth="likelihood", covariance="diagonal"), unlabelled(X, "density"))
    Z, scott = X / X.std(axis=0), len(X) ** (-1 / 6)

    def likely(h: float) -> float:
        rows = range(len(X))
        return sum(float(Theirs(bandwidth=h).fit(np.delete(Z, row, 0)).score_samples(Z[[row]])[0]) for row in rows)

    assert model.h_ == pytest.approx(max(scott * TRIED, key=likely))


def test_drawn_rows_lie_as_the_rows_do() -> None:
    X = numbers_of("faithful")
    model: Any = fitted(KernelDensity(), unlabelled(X, "density"))
    drawn = model.sample_rows(20_000, np.random.default_rng(1)).numbers
    assert drawn.mean(axis=0) == pytest.approx(X.mean(axis=0), rel=0.02)
    assert np.cov(drawn.T, ddof=0) == pytest.approx((1 + model.h_**2) * np.cov(X.T, ddof=0), rel=0.05)
