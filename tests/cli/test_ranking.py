"""Rankings in the shell: the kind is found by the sidecar or by the models, and rows get their place."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.support.shell import document, typed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight customers with four offers each; the cheapest is the best."""
    monkeypatch.chdir(tmp_path)
    offers = ((9, 1), (1, 4), (4, 3), (6, 2))
    lines = [f"c{who},{price + who},{stars}" for who in range(8) for price, stars in offers]
    Path("offers.csv").write_text("\n".join(["who,price,stars", *lines]) + "\n")
    Path("offers.yaml").write_text("target: stars\ncolumns: {who: {role: group}, stars: numeric}\n")
    return tmp_path


def kinds(*words: str, code: int = 0) -> set[str]:
    """The kinds of task of the cells of an eval."""
    result = typed("eval", *words, "--folds", "3", "--json")
    assert result.exit_code == code, result.output
    return {cell["kind"] for cell in document(result)["cells"]}


def test_the_kind_is_stated_or_implied_by_the_models(folder: Path) -> None:
    assert kinds("offers.csv") == {"regression"}
    assert kinds("offers.csv", "--task", "ranking") == {"ranking"}
    assert kinds("offers.csv", "-m", "ranking-svm") == {"ranking"}


def test_of_the_tasks_of_a_sidecar_the_models_choose() -> None:
    assert kinds("travelmode", "-m", "single-best-column") == {"ranking"}
    assert kinds("travelmode", "-m", "zero-r") == {"classification"}
    assert kinds("travelmode", "-m", "ranking-svm", "-m", "zero-r", code=5) == {"ranking"}


def test_both_baselines_stand_beside_the_panel_and_the_first_is_the_one_to_beat() -> None:
    result = typed("eval", "travelmode", "--folds", "3")
    assert result.exit_code == 0, result.output
    table = result.stdout.partition("* best of its column")[0]
    assert [line.split()[0] for line in table.splitlines()[-4:-1]] == [
        "single-best-column",
        "random-order",
        "ranking-svm",
    ]
    assert "above the baseline single-best-column" in result.stdout
    assert result.stdout.count("worst groups") == 1
    assert "best first" in result.stdout


def test_predict_gives_each_row_its_place_in_its_group(folder: Path) -> None:
    trained = typed("train", "offers.csv", "-m", "ranking-svm", "-o", "order.mlcli")
    assert trained.exit_code == 0, trained.output
    # The groups of new rows have names of their own, and stand in any order.
    result = typed("predict", "order.mlcli", "-", given="price,who\n4,x\n100,y\n1,x\n4,x\n200,y\n")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["rank"] for row in rows] == ["2", "1", "1", "2", "2"]
    assert [row["who"] for row in rows] == ["x", "y", "x", "x", "y"]
    lacking = typed("predict", "order.mlcli", "-", given="price\n4\n")
    assert lacking.exit_code == 4
    assert "lacks 1 of the 2 needed columns: who" in lacking.stderr
    refused = typed("predict", "order.mlcli", "offers.csv", "--probabilities")
    assert refused.exit_code == 4
    assert "an order has no probabilities" in refused.stderr


def test_a_saved_model_is_judged_by_the_groups_of_other_rows(folder: Path) -> None:
    assert typed("train", "offers.csv", "-m", "single-best-column", "-o", "order.mlcli").exit_code == 0
    cells = document(typed("eval", "offers.csv", "-m", "./order.mlcli", "--folds", "3", "--json"))["cells"]
    assert cells[-1]["metrics"]["pairwise-accuracy"]["mean"] == 1.0


def test_rows_without_groups_are_refused_with_what_is_missing() -> None:
    result = typed("eval", "iris", "-m", "ranking-svm")
    assert result.exit_code == 4
    assert "ranking needs a column with the role group" in result.stderr
    assert "roles: {group: COLUMN}" in result.stderr


def test_a_number_of_first_rows_may_stand_behind_a_metric() -> None:
    cells = document(typed("eval", "travelmode", "--folds", "3", "--metric", "ndcg@2", "--json"))["cells"]
    assert set(cells[0]["metrics"]) == {"ndcg@2"}
