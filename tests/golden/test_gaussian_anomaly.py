"""Densities beside scipy.stats.multivariate_normal, also where the covariance cannot be inverted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal, norm

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


@pytest.mark.parametrize("covariance", ["independent", "full"])
def test_it_tells_the_deviations_and_the_covariance_that_it_has_learned(covariance: str) -> None:
    told = {one.title: one for one in fitted(GaussianAnomaly(covariance=covariance), rows_of(X)).explain()}
    usual = told["Mean and standard deviation of each column"]
    assert (
        pytest.approx(np.array([X.mean(0), X.std(0, ddof=1)]), rel=1e-9)
        == np.array([line[1:] for line in usual.rows], float).T
    )
    assert ("Covariance" in told) == (covariance == "full")
    if covariance == "full":
        matrix = np.array([line[1:] for line in told["Covariance"].rows], float)
        assert matrix == pytest.approx(np.cov(X.T), rel=1e-9)


@pytest.mark.parametrize("covariance", ["independent", "full"])
def test_an_answer_is_explained_by_z_and_by_the_density_beside_epsilon(covariance: str) -> None:
    model = fitted(GaussianAnomaly(covariance=covariance), rows_of(X))
    model.threshold_ = 4.0
    cells, distance, density = model.explain_answer(rows_of(Z[:1]).table)
    z = (Z[0] - X.mean(0)) / X.std(0, ddof=1)
    assert [line[-1] for line in cells.rows] == pytest.approx(z, rel=1e-9)
    spread = np.cov(X.T) * (np.eye(3) if covariance == "independent" else 1.0)
    normal = multivariate_normal(X.mean(0), spread)
    squared = float((Z[0] - X.mean(0)) @ np.linalg.solve(spread, Z[0] - X.mean(0)))
    assert distance.rows[0] == pytest.approx((np.sqrt(squared), squared, chi2.sf(squared, 3)), rel=1e-9)
    assert density.rows[0][1:] == pytest.approx((normal.pdf(Z[0]), normal.logpdf(Z[0])), rel=1e-9)
    assert density.rows[1][1:] == pytest.approx((np.exp(-4.0), -4.0))


def test_where_directions_are_left_out_the_covariance_is_not_told() -> None:
    wide = np.column_stack([X, X.sum(axis=1)])
    with pytest.warns(MlcliWarning, match="1 of 4 directions"):
        model = fitted(GaussianAnomaly(covariance="full"), rows_of(wide))
    assert model.explain()[0].title == "Mean of each column"
    assert model.explain_answer(rows_of(wide).table)[0].title == "Mahalanobis distance of the row"
