"""LOF beside SOURCES.md (section 10) and scikit-learn's, for training rows and others (novelty)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor as OfSklearn

from mlcli.core.tables import Array, Flags
from mlcli.engines.neighbours import neighbourhoods
from mlcli.models.anomaly.lof import LocalOutlierFactor
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, rows_of, scores, scores_of_its_own
from tests.support.memory import peak_of

X, Z = cloud(300, 5), 2 * cloud(90, 5, seed=1)
SIZES = [1, 7, 20, 299]


@pytest.mark.parametrize(
    ("reachability", "expected"),
    [(True, [1, 1, 1, 1, 5]), (False, [1.5, 0.833333, 0.833333, 1.5, 6.25])],
)
def test_five_rows_of_the_notes(reachability: bool, expected: list[float]) -> None:
    # SOURCES.md, section 10: 0 1 2 3 10 with k = 2; docs/notes.md, 8: a mean over neighbours, not a sum.
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


def by_definition(stored: Array, asked: Array, k: int) -> Array:
    """LOF of the paper (Breunig et al. 2000, definitions 3 to 7), pair by pair; all as near as the k-th count."""

    def neighbours(rows: Array) -> tuple[Array, Array, Flags]:
        apart = np.sqrt(((rows[:, None] - stored[None]) ** 2).sum(axis=2))
        if rows is stored:
            np.fill_diagonal(apart, np.inf)
        kth = np.sort(apart, axis=1)[:, k - 1]
        return apart, kth, apart <= kth[:, None] * (1 + 1e-12)

    def density(apart: Array, near: Flags) -> Array:
        reach = np.where(near, np.maximum(apart, kth[None]), 0.0).sum(axis=1) / near.sum(axis=1)
        return np.asarray(1 / (reach + 1e-10))

    apart, kth, near = neighbours(stored)
    dense = density(apart, near)
    apart, _, near = neighbours(asked)
    return np.asarray((near @ dense) / near.sum(axis=1) / density(apart, near))


@pytest.mark.parametrize("levels", [2, 4, 12])
@pytest.mark.parametrize("k", [1, 5, 30])
def test_equal_rows_score_as_the_definition_says(levels: int, k: int) -> None:
    numbers = np.random.default_rng(levels).integers(0, levels, (200, 2)).astype(float)
    model = LocalOutlierFactor(neighbours=k)
    assert scores_of_its_own(model, numbers) == pytest.approx(by_definition(numbers, numbers, k), rel=1e-9)
    others = np.random.default_rng(1).integers(-1, levels, (50, 2)).astype(float)
    assert scores(model, numbers, others) == pytest.approx(by_definition(numbers, others, k), rel=1e-9)


def test_rows_that_are_all_equal_are_as_dense_as_their_neighbours() -> None:
    assert scores_of_its_own(LocalOutlierFactor(neighbours=3), np.ones((9, 2))).tolist() == [1.0] * 9


@pytest.mark.parametrize("distinct", [4, 2000])
def test_memory_grows_with_the_rows_and_not_with_their_square(distinct: int) -> None:
    def peak(n: int) -> int:
        numbers = np.random.default_rng(0).integers(0, distinct, (n, 2)).astype(float)
        return peak_of(lambda: scores_of_its_own(LocalOutlierFactor(neighbours=5), numbers))

    peak(500)
    # Blocks of pairs take up to a fixed size, reached at 2,000 rows; a square would be 4 times as much at 4,000.
    assert peak(4000) < 3 * peak(2000)


@pytest.mark.parametrize("ties", [False, True])
def test_neighbours_that_are_searched_anew_give_the_same_scores(
    ties: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.round(X) if ties else X
    kept = scores_of_its_own(LocalOutlierFactor(neighbours=5), numbers)
    monkeypatch.setattr(neighbourhoods, "KEPT_PAIRS", 0)
    assert np.array_equal(scores_of_its_own(LocalOutlierFactor(neighbours=5), numbers), kept)


def test_both_routes_to_the_neighbours_give_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = scores_of_its_own(LocalOutlierFactor(), X), scores(LocalOutlierFactor(), X, Z)
    monkeypatch.setattr("mlcli.engines.neighbours.search.loops_pay", lambda pairs: True)
    compiled = scores_of_its_own(LocalOutlierFactor(), X), scores(LocalOutlierFactor(), X, Z)
    for one, other in zip(plain, compiled, strict=True):
        assert one == pytest.approx(other, rel=1e-12)
