"""Nearest neighbours in more columns than a power of two that a float can hold; expected answers by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mlcli.engines.neighbours.distances import DISTANCES, of_numbers
from mlcli.engines.neighbours.search import SEARCHES, nearest
from mlcli.metrics.intervals import ScoreEstimate
from tests.support.shell import document, typed

COLUMNS = 1_100


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A table whose one nominal column has 1,100 levels: each level has one class, and two rows."""
    lines = [f"c{row // 2},{'ab'[row // 2 % 2]}" for row in range(2 * COLUMNS)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(["city,y", *lines]) + "\n", encoding="utf-8")
    return path


def test_eval_train_and_predict_of_many_encoded_columns(wide: Path, tmp_path: Path) -> None:
    store, model = str(tmp_path / "s.db"), str(tmp_path / "m.mlcli")
    nearest_row = ("-m", "{use: knn, params: {k: 1}, steps: [one-hot]}")
    sidecar = wide.with_suffix(".yaml")
    sidecar.write_text("target: y\ncolumns:\n  city: {kind: nominal}\n", encoding="utf-8")
    judged = typed("eval", str(wide), *nearest_row, "--protocol", "holdout", "--store", store)
    assert judged.exit_code == 0, judged.output
    assert "bug" not in judged.output
    assert typed("train", str(wide), *nearest_row, "-o", model).exit_code == 0
    predicted = typed("predict", model, str(wide), "--json")
    assert predicted.exit_code == 0, predicted.output
    answers = [row["prediction"] for row in document(predicted)]
    assert answers == ["ab"[row // 2 % 2] for row in range(2 * COLUMNS)]


@pytest.mark.parametrize("search", SEARCHES)
def test_nearest_in_many_columns(search: str) -> None:
    rows = np.zeros((12, COLUMNS))
    rows[:, 0] = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047]
    points = of_numbers(rows)
    pairs = list(nearest(DISTANCES["euclidean"], points, points, 2, search=search))
    for row, second in ((0, 1.0), (3, 4.0), (11, 1024.0)):
        distances = np.concatenate([found.distance[found.query == row] for found in pairs])
        assert sorted(distances)[:2] == [0.0, second]


def test_interval_of_an_area_near_its_bound() -> None:
    """On the scale of log odds the interval of such an area reaches over the whole range."""
    made = ScoreEstimate(1e-7, 1e-3, 9).by_odds("")
    assert made.low == pytest.approx(0.0, abs=1e-12)
    assert made.high == pytest.approx(1.0)
