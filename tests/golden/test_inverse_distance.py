"""Inverse distance beside SOURCES.md (section 10) and scikit-learn's neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from mlcli.core.pipeline import set_threshold
from mlcli.models.anomaly.inverse_distance import InverseDistance
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of, scores, scores_of_its_own

X, Z = cloud(200, 4), 2 * cloud(50, 4, seed=1)


def test_five_rows_of_the_notes() -> None:
    data = line(0, 1, 2, 3, 10)
    found = asked(fitted(InverseDistance(neighbours=2), data), data).score
    assert -found == pytest.approx([0.666667, 1, 1, 0.666667, 0.133333], abs=5e-7)


@pytest.mark.parametrize("k", [1, 7, 199])
def test_density_is_one_over_the_mean_distance(k: int) -> None:
    search = NearestNeighbors(n_neighbors=k).fit(X)
    others, own = search.kneighbors(Z)[0], search.kneighbors()[0]
    assert scores(InverseDistance(neighbours=k), X, Z) == pytest.approx(-1 / others.mean(axis=1), rel=1e-8)
    assert scores_of_its_own(InverseDistance(neighbours=k), X) == pytest.approx(-1 / own.mean(axis=1), rel=1e-8)


def test_rows_on_each_other_have_a_density() -> None:
    data = line(4, 4, 4, 9)
    found = asked(fitted(InverseDistance(neighbours=2), data), data).score
    assert np.isfinite(found).all()
    assert found.argmax() == 3


def test_its_own_threshold_flags_what_lies_far_out_by_mean_distance() -> None:
    data = rows_of(X)
    model = fitted(InverseDistance(neighbours=5), data)
    set_threshold(model, data, data)
    usual = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()[0].mean(axis=1)
    low, high = np.quantile(usual, [0.25, 0.75], method="inverted_cdf")
    assert -1 / model.threshold_ == pytest.approx(high + 3 * (high - low), rel=1e-8)
    far = rows_of(X[:1] + np.array([0, 60, -20, 0]), first=200)
    assert asked(model, far).score[0] >= model.threshold_
    assert "of mean distances" in model.threshold_from_
