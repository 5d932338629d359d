"""Grubbs' test beside SOURCES.md (section 10), the tables of Grubbs, and chance."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.errors import FitError
from mlcli.core.findings import Table
from mlcli.core.tables import Array, Flags
from mlcli.models.anomaly.grubbs import Grubbs, critical, repeated_tests
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of, scores


def passing(values: Array, alpha: float, sides: int) -> Flags:
    """Which values are no outliers."""
    out = [test.row for test in repeated_tests(values, alpha, sides) if test.out]
    return ~np.isin(np.arange(len(values)), out)


def test_five_values_of_the_notes() -> None:
    # SOURCES.md, section 10: G = 1.787458 of 9 is above the critical value 1.715037, so that 9 goes.
    first, second = repeated_tests(np.array([5, 5.1, 4.9, 5, 9]), 0.05, sides=2)
    assert (first.row, first.out, second.out) == (4, True, False)
    assert (first.statistic, first.critical) == pytest.approx((1.787458, 1.715037), abs=5e-7)


def test_the_farthest_are_shown_with_g_and_its_critical_value() -> None:
    _, tests = fitted(Grubbs(), line(5, 5.1, 4.9, 5, 9)).explain()
    assert isinstance(tests, Table)
    name, *numbers, verdict = tests.rows[0]
    assert numbers == pytest.approx([9, 5.8, 1.790251, 1.787458, 1.715037], abs=5e-7)
    assert (name, verdict, len(tests.rows), tests.rows[1][-1]) == ("x0", "outlier", 2, "")


@pytest.mark.parametrize(("n", "expected"), [(3, 1.153), (4, 1.463), (10, 2.176), (20, 2.557), (100, 3.207)])
def test_one_sided_values_are_those_of_the_tables(n: int, expected: float) -> None:
    # Grubbs & Beck 1972, Technometrics 14, table I: 5 %, one-sided. Beyond about 20 the formula is a
    # bound (of Bonferroni), slightly above.
    assert critical(n, 0.05, sides=1) == pytest.approx(expected, abs=3e-3)


@pytest.mark.parametrize("sides", [1, 2])
def test_it_errs_as_often_as_alpha_says(sides: int) -> None:
    rows = np.random.default_rng(0).normal(size=(1000, 12))
    wrong = np.mean([not passing(row, 0.05, sides).all() for row in rows])
    assert wrong == pytest.approx(0.05, abs=0.02)  # three deviations of a share of 1,000


def test_new_rows_are_measured_without_the_outliers() -> None:
    model = fitted(Grubbs(), line(5, 5.1, 4.9, 5, 9))
    rest = np.array([5, 5.1, 4.9, 5])
    limit = critical(4, 0.05, sides=2) * rest.std(ddof=1)
    expected = np.abs(np.array([5.3, 9, 4.5]) - 5) / limit
    assert asked(model, line(5.3, 9, 4.5)).score == pytest.approx(expected)
    assert model.outliers_.tolist() == [1]


def test_distances_are_tested_on_the_far_side_alone() -> None:
    X = cloud(200, 3)
    X[7] += 60
    apart = X - X.mean(axis=0)
    distance = np.sqrt(np.einsum("ij,ij->i", apart @ np.linalg.inv(np.cov(X.T)), apart))
    passed = passing(distance, 0.05, sides=1)
    rest = distance[passed]
    expected = (distance - rest.mean()) / (rest.std(ddof=1) * critical(len(rest), 0.05, sides=1))
    assert not passed[7]
    assert scores(Grubbs(of="distances"), X, X) == pytest.approx(expected, rel=1e-9)


def test_equal_values_round_one_other_are_left_as_they_are() -> None:
    assert passing(np.array([5.0] * 9 + [6.0]), 0.05, sides=2).all()
    assert np.isfinite(asked(fitted(Grubbs(), line(*[5] * 9, 6)), line(5, 6, 7)).score).all()


def test_two_rows_are_refused() -> None:
    with pytest.raises(FitError, match="at least 3"):
        fitted(Grubbs(), rows_of(cloud(2, 2)))
