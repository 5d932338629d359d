"""Triangles in the place of spectra: the same whitening but for a rotation, which no density sees."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.models.discriminants._triangles import SMALL, WIDE, Upper, inverse_of_lower, whitening_triangle
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.discriminants.qda import QuadraticDiscriminants
from tests.golden.asking import asked, fitted
from tests.rows import labelled, table_of


@pytest.mark.parametrize("size", [1, SMALL, SMALL + 1, 3 * SMALL])
def test_the_inverse_of_a_lower_triangle(size: int) -> None:
    triangle = np.tril(np.random.default_rng(size).normal(size=(size, size))) / size + np.eye(size)
    assert inverse_of_lower(triangle) @ triangle == pytest.approx(np.eye(size), abs=1e-12)


def test_a_triangle_makes_a_covariance_the_identity() -> None:
    rows = np.random.default_rng(1).normal(size=(300, 120))
    covariance = rows.T @ rows / 300
    found = whitening_triangle(covariance, 1e-5)
    assert found is not None
    triangle, at_least = found
    assert triangle.T @ covariance @ triangle == pytest.approx(np.eye(120), abs=1e-12)
    assert np.array_equal(triangle, np.triu(triangle))
    assert 0 < at_least <= np.linalg.eigvalsh(covariance)[0]


def test_a_covariance_without_spread_in_some_direction_has_no_triangle() -> None:
    assert whitening_triangle(np.diag([1.0, 1e-7]), 1e-5) is None
    assert whitening_triangle(np.ones((2, 2)), 1e-5) is None


@pytest.mark.parametrize("size", [WIDE - 1, WIDE, 2 * WIDE + 1])
def test_rows_times_a_triangle(size: int) -> None:
    rng = np.random.default_rng(size)
    rows, full = rng.normal(size=(7, size)), rng.normal(size=(size, size))
    for matrix in (full, np.triu(full), np.triu(full)[:, 1:], np.zeros_like(full)):
        assert Upper.of(matrix).after(rows) == pytest.approx(rows @ matrix, abs=1e-10)


def test_many_columns_are_told_by_their_normal_densities() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(2 * WIDE + 150, WIDE)), np.arange(2 * WIDE + 150) % 2
    X[y == 1] *= rng.uniform(0.7, 1.4, size=WIDE)
    data = labelled(table_of({f"x{j}": column for j, column in enumerate(X.T)}), ["ab"[k] for k in y])
    logs = np.empty((len(X), 2))
    for k in (0, 1):
        of_class = X[y == k]
        covariance, away = np.cov(of_class.T), X - of_class.mean(axis=0)
        distance = np.einsum("ij,ij->i", away @ np.linalg.inv(covariance), away)
        logs[:, k] = np.log(np.mean(y == k)) - 0.5 * (np.linalg.slogdet(covariance)[1] + distance)
    odds = np.exp(logs[:, 1] - logs[:, 0])
    told = asked(fitted(QuadraticDiscriminants(), data), data).probabilities
    assert told[:, 1] == pytest.approx(odds / (1 + odds), abs=1e-9)


def test_linear_discriminants_of_many_columns_are_those_of_a_spectrum() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(3 * WIDE, WIDE)), np.arange(3 * WIDE) % 3
    data = labelled(table_of({f"x{j}": column for j, column in enumerate(X.T)}), ["abc"[k] for k in y])
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    within = (X - means[y]).T @ (X - means[y]) / (len(X) - 3)
    expected = np.linalg.solve(within, (means - X.mean(axis=0)).T).T
    assert fitted(LinearDiscriminants(), data).coefficients_ == pytest.approx(expected, abs=1e-11)
