"""Counts within a radius beside scikit-learn's, and the radius that is taken where none is given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from mlcli.core.pipeline import set_threshold
from mlcli.models.anomaly.fixed_radius import FixedRadius
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of, scores, scores_of_its_own

X, Z = cloud(300, 4), 2 * cloud(90, 4, seed=1)


def test_rows_at_the_distance_itself_are_near() -> None:
    data = line(0, 1, 2, 3, 10)
    model = fitted(FixedRadius(radius=1), data)
    assert asked(model, data).score == pytest.approx([3 / 4, 2 / 4, 2 / 4, 3 / 4, 1])
    assert asked(model, line(1.5)).score == pytest.approx([3 / 5])


@pytest.mark.parametrize("radius", [0.5, 2.0, 5.0])
def test_counts_are_those_of_scikit_learn(radius: float) -> None:
    peer = NearestNeighbors(radius=radius).fit(X)
    count = np.array([len(near) for near in peer.radius_neighbors(Z, return_distance=False)])
    assert scores(FixedRadius(radius=radius), X, Z) == pytest.approx(1 - count / 300, abs=1e-12)
    count = np.array([len(near) for near in peer.radius_neighbors(return_distance=False)])
    assert scores_of_its_own(FixedRadius(radius=radius), X) == pytest.approx(1 - count / 299, abs=1e-12)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_a_middling_row_has_the_share_of_the_others_within_the_radius(share: float) -> None:
    found = scores_of_its_own(FixedRadius(share=share), X)
    assert np.median(1 - found) == pytest.approx(share, abs=1 / 299)


def test_equal_rows_have_a_radius() -> None:
    assert fitted(FixedRadius(), line(3, 3, 3, 3)).radius_ > 0
    assert fitted(FixedRadius(), line(3, 3, 3, 3, 3, 5)).radius_ == 2


def test_the_farthest_column_is_the_reason() -> None:
    answers = asked(fitted(FixedRadius(), rows_of(X)), rows_of(X[:1] + np.array([0, 60, -20, 0]), first=300))
    assert answers.columns[answers.reasons[0, 0]] == "x1"
    assert answers.shares[0, 0] > 0.5


def test_its_own_threshold_is_far_out_by_the_logarithm_of_near_rows() -> None:
    data = rows_of(X)
    model = fitted(FixedRadius(share=0.5), data)
    set_threshold(model, data, data)
    near = NearestNeighbors(radius=model.radius_).fit(X).radius_neighbors(return_distance=False)
    usual = np.log([len(rows) / 299 for rows in near])
    low, high = np.quantile(usual, [0.25, 0.75])
    assert np.log(1 - model.threshold_) == pytest.approx(low - 3 * (high - low), abs=0.1)
    assert asked(model, rows_of(X[:1] + np.array([0, 60, -20, 0]), first=300)).score[0] >= model.threshold_


def test_where_many_rows_have_none_near_no_row_is_flagged() -> None:
    data = line(0, 1, 2, 3, 10, 20, 30)
    model = fitted(FixedRadius(radius=1), data)
    set_threshold(model, data, data)
    assert not (asked(model, line(50, 0.5)).score >= model.threshold_).any()
