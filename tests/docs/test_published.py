"""Results that others have published come out of our commands; docs/published.md tells of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlcli.data.shipped import find
from tests.support.shell import document, typed

LEAVE_ONE_OUT = ("--protocol", "leave-one-out", "--metric", "accuracy")
WINE = {"lda": 0.989, "qda": 0.994}
"""Aeberhard, Coomans & de Vel 1992, Tech. Rep. 92-02, as UCI's wine.names has it."""


def scores(*words: str) -> dict[str, Any]:
    cells = document(typed(*words, "--json"))["cells"]
    return {cell["model"]: cell["metrics"]["accuracy"]["mean"] for cell in cells if cell["status"] == "done"}


def test_discriminants_of_wine() -> None:
    found = scores("eval", "wine", "-m", "lda", "-m", "qda", *LEAVE_ONE_OUT)
    assert {name: round(found[name], 3) for name in WINE} == WINE


def test_the_nearest_neighbour_of_wine_is_one_row_off() -> None:
    found = scores("eval", "wine", "-m", "{use: knn, params: {k: 1}}", *LEAVE_ONE_OUT)
    assert abs(found["knn"] - 0.961) * 178 < 1.1


def test_the_quadratic_discriminant_of_iris_makes_four_errors() -> None:
    """SAS/STAT User's Guide, The DISCRIM Procedure: cross validation error count estimate 0.0267."""
    assert round(1 - scores("eval", "iris", "-m", "qda", *LEAVE_ONE_OUT)["qda"], 4) == 0.0267


def test_it_makes_three_on_the_rows_that_it_has_learned_from(tmp_path: Path) -> None:
    """The same: resubstitution error count estimate 0.02."""
    saved = str(tmp_path / "quadratic.mlcli")
    assert typed("train", "iris", "-m", "qda", "-o", saved).exit_code == 0
    assert round(1 - scores("eval", "iris", "-m", saved, "--metric", "accuracy")["qda"], 4) == 0.02


def test_the_nearest_neighbour_of_ionosphere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D. Aha in UCI's ionosphere.names: nearest neighbor attains an accuracy of 92.1 %."""
    monkeypatch.chdir(tmp_path)
    header, *rows = find("ionosphere").read_text().splitlines()
    for name, some in (("first", rows[:200]), ("rest", rows[200:])):
        Path(f"{name}.csv").write_text("\n".join([header, *some]) + "\n")
    nearest = "{use: knn, params: {k: 1}, steps: []}"
    assert typed("train", "first.csv", "-m", nearest, "-o", "nearest.mlcli").exit_code == 0
    found = scores("eval", "rest.csv", "-m", "nearest.mlcli", "--metric", "accuracy")
    assert round(found["knn"], 3) == 0.921


def test_a_new_day_of_the_weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Witten & Frank, Data Mining, section 4.2: probability of yes 20.5 %, of no 79.5 %."""
    monkeypatch.chdir(tmp_path)
    Path("day.csv").write_text("outlook,temperature,humidity,windy\nsunny,cool,high,TRUE\n")
    words = ("train", "weather_nominal", "-m", "naive-bayes", "-p", "smoothing=none", "-o", "bayes.mlcli")
    assert typed(*words).exit_code == 0
    answer = typed("predict", "bayes.mlcli", "day.csv", "--probabilities").stdout.splitlines()[1].split(",")
    assert [round(float(share), 3) for share in answer[2:]] == [0.205, 0.795]
