"""LOF beside worked-examples.md (section 10) and scikit-learn's, for training rows and others (novelty)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor as OfSklearn

from mlcli.models.anomaly import _nearest, _neighbours
from mlcli.models.anomaly.lof import LocalOutlierFactor
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of, scores, scores_of_its_own

X, Z = cloud(300, 5), 2 * cloud(90, 5, seed=1)
SIZES = [1, 7, 20, 299]


@pytest.mark.parametrize(
    ("reachability", "expected"),
    [(True, [1, 1, 1, 1, 5]), (False, [1.5, 0.833333, 0.833333, 1.5, 6.25])],
)
def test_five_rows_of_the_notes(reachability: bool, expected: list[float]) -> None:
    # worked-examples.md, section 10: 0 1 2 3 10 with k = 2; decisions.md, 8: a mean over neighbours, not a sum.
    data = line(0, 1, 2, 3, 10)
    found = asked(fitted(LocalOutlierFactor(neighbours=2, reachability=reachability), data), data).score
    assert found == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("k", SIZES)
def test_training_rows_score_as_in_scikit_learn(k: int) -> None:
    expected = -OfSklearn(n_neighbors=k).fit(X).negative_outlier_factor_
    assert scores_of_its_own(LocalOutlierFactor(neighbours=k), X) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("k", SIZES)
def test_other_rows_score_as_novelties_in_scikit_learn(k: int) -> None:
    expected = -OfSklearn(n_neighbors=k, novelty=True).fit(X).score_samples(Z)
    assert scores(LocalOutlierFactor(neighbours=k), X, Z) == pytest.approx(expected, rel=1e-9)


def test_a_training_row_among_others_is_asked_like_any_other() -> None:
    model = fitted(LocalOutlierFactor(), rows_of(X))
    expected = -OfSklearn(n_neighbors=20, novelty=True).fit(X).score_samples(X[:5])
    assert asked(model, rows_of(X[:5])).score == pytest.approx(expected, rel=1e-9)


def test_other_rows_of_the_same_numbers_are_not_taken_for_the_training_rows() -> None:
    model = fitted(LocalOutlierFactor(), rows_of(X))
    other = rows_of(X[::-1] + 0.0)
    expected = -OfSklearn(n_neighbors=20, novelty=True).fit(X).score_samples(X[::-1])
    assert asked(model, other).score == pytest.approx(expected, rel=1e-9)


def test_rows_that_stand_on_each_other_have_a_finite_score() -> None:
    data = line(*[5] * 30, 6, 7)
    found = asked(fitted(LocalOutlierFactor(neighbours=3), data), data).score
    assert np.isfinite(found).all()
    assert found[:30] == pytest.approx(1.0)
    assert found[31] > 1e6


def test_where_many_rows_tie_the_order_of_rows_decides_nothing() -> None:
    numbers = np.random.default_rng(0).integers(0, 4, (200, 2)).astype(float)
    order = np.random.default_rng(1).permutation(200)
    plain = scores_of_its_own(LocalOutlierFactor(neighbours=5), numbers)
    assert scores_of_its_own(LocalOutlierFactor(neighbours=5), numbers[order]) == pytest.approx(plain[order])


@pytest.mark.parametrize("ties", [False, True])
def test_neighbours_that_are_searched_anew_give_the_same_scores(
    ties: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.round(X) if ties else X
    kept = scores_of_its_own(LocalOutlierFactor(neighbours=5), numbers)
    monkeypatch.setattr(_neighbours, "KEPT_PAIRS", 0)
    assert np.array_equal(scores_of_its_own(LocalOutlierFactor(neighbours=5), numbers), kept)


def test_both_routes_to_the_neighbours_give_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = scores_of_its_own(LocalOutlierFactor(), X), scores(LocalOutlierFactor(), X, Z)
    monkeypatch.setattr(_nearest, "COMPILED_FROM", 0)
    compiled = scores_of_its_own(LocalOutlierFactor(), X), scores(LocalOutlierFactor(), X, Z)
    for one, other in zip(plain, compiled, strict=True):
        assert one == pytest.approx(other, rel=1e-12)
