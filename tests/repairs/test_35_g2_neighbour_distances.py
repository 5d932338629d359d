"""Relative and random-neighbour distances of ``knn-distance``, by hand and by SciPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.models.anomaly.knn_distance import NeighbourDistance
from tests.cli.shell import typed
from tests.golden.asking import asked, fitted
from tests.golden.screening import cloud, rows_of

LINE = rows_of(np.array([[0.0], [1.0], [3.0]]))


def detector(**params: Any) -> Any:
    return build(NeighbourDistance, params)


def test_relative_distance_by_hand() -> None:
    # The neighbours of 10 are 3 and 1: (7 + 9) / 2 by |3 - 1|; of 0.5 they are 0 and 1: ½ by 1.
    model = fitted(detector(which="relative", neighbours=2), LINE)
    scores = asked(model, rows_of(np.array([[10.0], [0.5]]), first=3)).score
    assert scores == pytest.approx([4.0, 0.5])
    # Of a training row the others: of 3 they are 1 and 0, (2 + 3) / 2 by 1.
    assert asked(model, LINE).score[2] == pytest.approx(2.5)


def test_relative_distance_of_a_cloud_with_scipy() -> None:
    X, new = cloud(60, 3), cloud(5, 3, seed=4)
    scores = asked(fitted(detector(which="relative", neighbours=6), rows_of(X)), rows_of(new, first=60)).score
    for row, score in zip(new, scores, strict=True):
        distance = cdist(row[None], X)[0]
        near = np.argsort(distance)[:6]
        assert score == pytest.approx(distance[near].mean() / pdist(X[near]).mean())


def test_one_neighbour_has_no_relative_distance() -> None:
    with pytest.raises(UsageError, match="at least 2"):
        detector(which="relative", neighbours=1)


def test_random_distance_is_the_mean_over_samples_of_the_nearest_row() -> None:
    X, new = cloud(40, 2), cloud(6, 2, seed=5)
    model = fitted(detector(which="random", sample=3, subsets=7), rows_of(X))
    assert model.drawn_.shape == (7, 3)
    expected = np.mean([cdist(new, X[sample]).min(axis=1) for sample in model.drawn_], axis=0)
    assert asked(model, rows_of(new, first=40)).score == pytest.approx(expected)


def test_random_distance_of_large_samples_is_the_nearest_distance() -> None:
    X = cloud(10, 2)
    apart = cdist(X, X) + np.diag(np.full(10, np.inf))
    model = fitted(detector(which="random", sample=400, subsets=3), rows_of(X))
    assert asked(model, rows_of(X)).score == pytest.approx(apart.min(axis=1))


@pytest.mark.parametrize("which", ["relative", "random"])
def test_in_the_shell(which: str, tmp_path: Path) -> None:
    words = ("-m", "knn-distance", "-p", f"which={which}")
    result = typed("eval", "wdbc", "--task", "anomaly", *words)
    assert result.exit_code == 0, result.output
    saved = str(tmp_path / "model.mlcli")
    assert typed("train", "wdbc", "--task", "anomaly", *words, "-o", saved).exit_code == 0
    assert typed("explain", saved, "wdbc", "--row", "1").exit_code == 0
