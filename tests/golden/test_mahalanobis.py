"""Distances beside scikit-learn's EmpiricalCovariance, and probabilities beside SciPy's χ²."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.covariance import EmpiricalCovariance

from mlcli.models.anomaly.mahalanobis import Mahalanobis
from tests.golden.asking import fitted
from tests.golden.screening import cloud, rows_of, scores
from tests.golden.shipped import in_numbers

X, Z = cloud(60, 3), cloud(20, 3, seed=1)


def test_the_score_is_the_root_of_the_squared_distance_of_scikit_learn() -> None:
    # docs/notes.md, 11: the notes print squared distances beside a formula with a root.
    expected = EmpiricalCovariance().fit(X).mahalanobis(Z)
    assert scores(Mahalanobis(), X, Z) ** 2 == pytest.approx(expected, rel=1e-9)


def test_thirty_collinear_columns_are_as_in_scikit_learn() -> None:
    numbers = in_numbers("wdbc").table.numbers
    expected = EmpiricalCovariance().fit(numbers).mahalanobis(numbers)
    assert scores(Mahalanobis(), numbers, numbers + 0.0) ** 2 == pytest.approx(expected, rel=1e-6)


def test_ddof_scales_every_distance_alike() -> None:
    ratio = scores(Mahalanobis(ddof=1), X, Z) / scores(Mahalanobis(), X, Z)
    assert ratio == pytest.approx(np.sqrt(59 / 60), rel=1e-12)


def test_it_says_which_distance_is_how_improbable() -> None:
    limits = fitted(Mahalanobis(), rows_of(X)).explain()[-1].rows
    for distance, squared, share in limits:
        assert squared == pytest.approx(distance**2)
        assert chi2.sf(squared, 3) == pytest.approx(share)


def test_what_columns_add_is_the_squared_distance_where_none_takes_off() -> None:
    model = fitted(Mahalanobis(), rows_of(np.random.default_rng(0).normal(size=(500, 2))))
    data = rows_of(np.array([[4.0, -3.0]]))
    added = model.deviations(data.table)[0]
    assert np.sign(added).tolist() == [1, -1]
    assert np.abs(added).sum() == pytest.approx(model.score_rows(data.table)[0] ** 2, rel=1e-9)
