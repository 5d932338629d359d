"""Densities beside scipy.stats.multivariate_normal, also where the covariance cannot be inverted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.models.anomaly.gaussian_anomaly import GaussianAnomaly
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of, scores

X, Z = cloud(60, 3), cloud(20, 3, seed=1)


@pytest.mark.parametrize("ddof", [0, 1])
def test_full_is_minus_the_log_density_of_scipy(ddof: int) -> None:
    expected = -multivariate_normal(X.mean(0), np.cov(X.T, ddof=ddof)).logpdf(Z)
    assert scores(GaussianAnomaly(covariance="full", ddof=ddof), X, Z) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("ddof", [0, 1])
def test_independent_is_the_product_of_one_gaussian_per_column(ddof: int) -> None:
    expected = -norm(X.mean(0), X.std(0, ddof=ddof)).logpdf(Z).sum(axis=1)
    assert scores(GaussianAnomaly(ddof=ddof), X, Z) == pytest.approx(expected, rel=1e-9)


def test_in_one_column_both_are_the_same() -> None:
    data = line(1, 2, 4, 9)
    one, other = (asked(fitted(GaussianAnomaly(covariance=c), data), data).score for c in ("independent", "full"))
    assert one == pytest.approx(other, rel=1e-12)


def test_a_column_that_is_the_sum_of_others_adds_nothing_whatever_its_unit() -> None:
    # The density on the plane in which all training rows lie ranks rows as the density of the other columns does.
    wide, asked_wide = (np.column_stack([rows, 1e6 * rows.sum(axis=1)]) for rows in (X, Z))
    with pytest.warns(MlcliWarning, match="1 of 4 directions"):
        found = scores(GaussianAnomaly(covariance="full"), wide, asked_wide)
    plain = scores(GaussianAnomaly(covariance="full"), X, Z)
    assert np.diff(found - plain) == pytest.approx(0.0, abs=1e-6)


def test_one_row_has_no_spread() -> None:
    with pytest.raises(FitError, match="2 training rows are needed"):
        fitted(GaussianAnomaly(), line(1))


def test_weights_count_as_repeats() -> None:
    times = np.arange(60) % 3
    repeated = fitted(GaussianAnomaly(covariance="full"), rows_of(np.repeat(X, times, axis=0)))
    data = rows_of(X)
    weighted = fitted(
        GaussianAnomaly(covariance="full"), type(data)(**{**vars(data), "weight": times.astype(float)})
    )
    assert asked(weighted, rows_of(Z)).score == pytest.approx(asked(repeated, rows_of(Z)).score, rel=1e-9)
