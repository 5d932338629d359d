"""Ratings in the shell: known by the roles of columns, judged, saved, and asked about strangers."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.ratings import drawn
from tests.support.shell import document, typed

SIDECAR = "target: stars\nroles: {user: [viewer], item: [film]}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ratings from 1 to 5 of films by viewers, both known by numbers."""
    monkeypatch.chdir(tmp_path)
    data = drawn(traits=0)
    stars = np.clip(np.round(data.y), 1, 5).astype(int)
    lines = [f"{100 + u},{200 + i},{r}" for u, i, r in zip(data.users, data.items, stars, strict=True)]
    Path("films.csv").write_text("\n".join(["viewer,film,stars", *lines]) + "\n")
    Path("films.yaml").write_text(SIDECAR)
    return tmp_path


def test_the_roles_tell_the_task_though_the_stars_look_like_classes(folder: Path) -> None:
    cells = document(typed("eval", "films.csv", "--folds", "3", "--json"))["cells"]
    assert [cell["kind"] for cell in cells] == ["recommendation"] * 3
    assert [cell["model"] for cell in cells] == ["global-mean", "user-item-bias", "matrix-factorisation"]
    assert set(cells[0]["metrics"]) == {"rmse", "mae", "precision-at-10", "recall-at-10"}
    assert cells[1]["metrics"]["rmse"]["mean"] < 0.7 * cells[0]["metrics"]["rmse"]["mean"]


def test_another_task_may_be_asked_for(folder: Path) -> None:
    cells = document(typed("eval", "films.csv", "--task", "regression", "-m", "zero-r", "--json"))["cells"]
    assert [cell["kind"] for cell in cells] == ["regression"]


def test_the_table_counts_users_and_items_and_shows_lists(folder: Path) -> None:
    shown = typed("eval", "films.csv", "-m", "user-item-bias", "--folds", "3").stdout
    assert "400 rows, 30 users, 20 items; k-fold" in shown
    assert re.search(r"user and item known +400 ", shown)
    assert "recommended, best first" in shown


def test_a_user_that_is_missing_is_refused_with_its_place(folder: Path) -> None:
    with Path("films.csv").open("a") as file:
        file.write(",201,3\n")
    result = typed("eval", "films.csv")
    assert result.exit_code == 4
    assert "films.csv:402, column 'viewer': the user is missing" in result.output


def test_without_the_roles_it_says_how_to_give_them(folder: Path) -> None:
    Path("films.yaml").write_text("target: stars\ntask: recommendation\n")
    result = typed("eval", "films.csv")
    assert result.exit_code == 4
    assert "roles: {user: COLUMN, item: COLUMN}" in result.output


def test_a_step_cannot_stand_before_it(folder: Path) -> None:
    result = typed("eval", "films.csv", "-m", "{use: user-item-bias, steps: [impute]}", "--json")
    assert result.exit_code == 5
    assert "takes users and items as they are" in document(result)["cells"][1]["why"]


def test_a_saved_model_rates_pairs_that_no_row_had_and_strangers(folder: Path) -> None:
    assert typed("train", "films.csv", "-m", "matrix-factorisation", "-o", "m.mlcli").exit_code == 0
    result = typed("predict", "m.mlcli", "-", given="film,viewer,note\n200,100,a\n999,100,b\n999,888,c\n")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["note"] for row in rows] == ["a", "b", "c"]
    ratings = [float(row["prediction"]) for row in rows]
    assert len(set(ratings)) == 3
    stars = [int(line.rpartition(",")[2]) for line in Path("films.csv").read_text().splitlines()[1:]]
    assert ratings[2] == pytest.approx(np.mean(stars))
    cells = document(typed("eval", "films.csv", "-m", "m.mlcli", "--folds", "3", "--json"))["cells"]
    assert {cell["status"] for cell in cells} == {"done"}
    assert next(cell for cell in cells if "saved" in cell)["rows_learned_from"] == 400


def test_users_alone_are_answered_with_the_items_that_they_have_not_rated(folder: Path) -> None:
    typed("train", "films.csv", "-m", "user-item-bias", "-o", "m.mlcli")
    result = typed("predict", "m.mlcli", "-", given="viewer\n100\nstranger\n")
    assert "'stranger' was not there in training" in result.stderr
    known, stranger = csv.DictReader(io.StringIO(result.stdout))
    assert [known["viewer"], stranger["viewer"]] == ["100", "stranger"]
    rated = {line.split(",")[1] for line in Path("films.csv").read_text().splitlines() if line.startswith("100,")}
    films = [known[f"film {place}"] for place in range(1, 11)]
    assert rated.isdisjoint(films)
    asked = "viewer,film\n" + "".join(f"100,{film}\n" for film in films if film)
    stars = [
        float(row["prediction"])
        for row in csv.DictReader(io.StringIO(typed("predict", "m.mlcli", "-", given=asked).stdout))
    ]
    assert stars == sorted(stars, reverse=True) != []
    assert all(stranger[f"film {place}"] for place in range(1, 11))
    assert typed("predict", "m.mlcli", "-", given="film\n200\n").exit_code == 4


def test_a_pair_that_is_rated_twice_is_told(folder: Path) -> None:
    assert "training has a rating of" not in typed("eval", "films.csv", "--folds", "3").stdout
    first = Path("films.csv").read_text().splitlines()[1]
    with Path("films.csv").open("a") as file:
        file.write(f"{first.rpartition(',')[0]},2\n" * 9)
    assert "a user and an item that training has a rating of" in typed("eval", "films.csv", "--folds", "3").stdout


def test_no_rows_have_no_answers(folder: Path) -> None:
    typed("train", "films.csv", "-m", "user-item-bias", "-o", "m.mlcli")
    assert typed("predict", "m.mlcli", "-", given="viewer,film\n").stdout == "row,viewer,film,prediction\n"
    assert typed("predict", "m.mlcli", "-", given="viewer\n").stdout.startswith("row,viewer,film 1,film 2")
