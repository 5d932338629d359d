"""Relative density beside SOURCES.md (section 10) and its formula over scikit-learn's neighbours."""

from __future__ import annotations

import pytest
from sklearn.neighbors import NearestNeighbors

from mlcli.models.anomaly.relative_density import RelativeDensity
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, line, scores, scores_of_its_own

X, Z = cloud(200, 4), 2 * cloud(50, 4, seed=1)


@pytest.mark.parametrize(
    ("over", "expected"),
    [("mean", [1.5, 0.833333, 0.833333, 1.5, 6.25]), ("sum", [3, 1.666667, 1.666667, 3, 12.5])],
)
def test_five_rows_of_the_notes(over: str, expected: list[float]) -> None:
    data = line(0, 1, 2, 3, 10)
    found = asked(fitted(RelativeDensity(neighbours=2, over=over), data), data).score
    assert found == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("k", [1, 7, 20])
def test_the_formula_over_neighbours_found_elsewhere(k: int) -> None:
    search = NearestNeighbors(n_neighbors=k).fit(X)
    own_distance, own_place = search.kneighbors()
    distance, place = search.kneighbors(Z)
    density = 1 / own_distance.mean(axis=1)
    expected = density[place].mean(axis=1) * distance.mean(axis=1)
    of_training = density[own_place].mean(axis=1) * own_distance.mean(axis=1)
    assert scores(RelativeDensity(neighbours=k), X, Z) == pytest.approx(expected, rel=1e-8)
    assert scores_of_its_own(RelativeDensity(neighbours=k), X) == pytest.approx(of_training, rel=1e-8)
