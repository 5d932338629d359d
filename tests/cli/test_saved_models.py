"""Saved models beside models that learn: one table, and no score that flatters without saying so."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.experiment.saved.model_file import load_model, save_model
from tests.support.shell import document, typed

ROWS = [f"{place / 7:.3f},{place % 5},{'high' if place % 40 > 20 else 'low'}\n" for place in range(80)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two halves of the same rows, and a model that has learned from the first."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("learned", ROWS[::2]), ("new", ROWS[1::2])):
        Path(f"{name}.csv").write_text("size,noise,level\n" + "".join(rows))
    assert typed("train", "learned.csv", "-m", "knn", "-o", "near.mlcli").exit_code == 0
    return tmp_path


def test_a_model_that_knows_the_rows_is_not_compared(folder: Path) -> None:
    text = typed("eval", "learned.csv", "-m", "near.mlcli", "-m", "one-r").stdout
    assert text.count("learned: classification of level") == 1
    row = next(line for line in text.splitlines() if line.startswith("near.mlcli"))
    assert "40 rows, 40 SEEN" in row
    assert "*" not in row
    last = " ".join(text.rsplit("\n\n", 1)[1].split())
    assert last.startswith("near.mlcli is not compared: it has learned from 40 of these 40 rows")
    assert "near.mlcli" not in last.partition("other rows.")[2]


def test_a_model_that_meets_new_rows_is_compared_with_the_baseline(folder: Path) -> None:
    text = typed("eval", "new.csv", "-m", "near.mlcli").stdout
    assert "40 unseen rows" in text
    assert "SEEN" not in text
    last = " ".join(text.rsplit("\n\n", 1)[1].split())
    assert last.startswith("By accuracy: near.mlcli with ")
    assert "the baseline zero-r" in last


def test_a_model_that_keeps_its_positive_class_says_so(folder: Path) -> None:
    assert typed("train", "weather_nominal", "-m", "one-r", "-o", "w.mlcli").exit_code == 0
    asked = ("eval", "weather_nominal", "-m", "w.mlcli", "--positive")
    assert "the positive class stays 'no', as in training; for 'yes' train it again" in typed(*asked, "yes").stdout
    assert "the positive class stays" not in typed(*asked, "no").stdout


def test_scripts_learn_how_many_rows_the_model_knew(folder: Path) -> None:
    zero_r, *_, near = document(typed("eval", "learned.csv", "-m", "near.mlcli", "--json"))["cells"]
    assert (near["saved"], near["rows_learned_from"]) == ("near.mlcli", 40)
    assert "rows_learned_from" not in zero_r


def test_a_stored_run_remembers_it(folder: Path) -> None:
    shown = typed("eval", "learned.csv", "-m", "near.mlcli", "--store", "s.db").stdout
    assert typed("runs", "show", "1", "--store", "s.db").stdout == shown


def test_words_that_meant_missing_in_training_do_so_in_new_rows(folder: Path) -> None:
    rows = "".join(f"{place if place % 7 else '?'},{'high' if place > 20 else 'low'}\n" for place in range(40))
    for name in ("marked.csv", "again.csv"):
        Path(name).write_text("size,level\n" + rows)
    Path("marked.yaml").write_text('missing: ["?"]\ntarget: level\n')
    assert typed("train", "marked.csv", "-m", "naive-bayes", "-o", "nb.mlcli").exit_code == 0
    predicted = typed("predict", "nb.mlcli", "again.csv")
    assert (predicted.exit_code, predicted.stderr) == (0, "")
    assert predicted.stdout == typed("predict", "nb.mlcli", "-", given=Path("again.csv").read_text()).stdout
    judged = typed("eval", "again.csv", "-m", "nb.mlcli").stdout
    assert "40 rows, 40 SEEN" in judged
    assert "not there in training" not in judged


def test_a_plan_says_what_a_model_has_learned_from(folder: Path) -> None:
    Path("first.yaml").write_text("data: [learned.csv]\nmodels: [near.mlcli]\n")
    assert "near.mlcli has learned from 40 rows of these" in typed("run", "first.yaml", "--dry-run").stdout


def test_columns_that_do_not_fit_are_one_problem_before_anything_runs(folder: Path) -> None:
    result = typed("eval", "iris", "-m", "near.mlcli")
    assert result.exit_code == 7
    assert result.stdout == ""
    assert "near.mlcli on iris: lacks 3 of the 3 needed columns: size, noise, level" in result.stderr


def test_a_model_that_breaks_when_it_is_asked_is_the_fault_of_its_file(folder: Path) -> None:
    typed("train", "learned.csv", "-m", "decision-tree", "-o", "tree.mlcli")
    saved = load_model(Path("tree.mlcli"))
    tree: Any = saved.pipeline.model
    tree.tree_.feature[2], tree.tree_.left[2] = 7, 3  # large sizes are asked for an eighth column
    save_model(Path("tree.mlcli"), saved)
    for words in (["eval", "new.csv", "-m", "tree.mlcli", "-m", "one-r"], ["predict", "tree.mlcli", "new.csv"]):
        done = typed(*words)
        assert (done.exit_code, "tree.mlcli" in done.stderr) == (7, True)


def test_cells_that_no_model_could_multiply_are_named_each(folder: Path) -> None:
    Path("far.csv").write_text("size,noise\n1,1\n1e200,1\n2,-1e300\n")
    done = typed("predict", "near.mlcli", "far.csv")
    assert (done.exit_code, done.stdout) == (4, "")
    assert "far.csv:3, column 'size': 1e+200 is too large to be multiplied" in done.stderr
    assert "far.csv:4, column 'noise': -1e+300 is too large" in done.stderr
    assert "correct the cell, or leave the row out" in done.stderr


@pytest.mark.parametrize(
    ("method", "params"),
    [("mds", ""), ("t-sne", ""), ("agglomerative", "clusters: 12"), ("divisive", "clusters: 12")],
)
def test_fitted_rows_are_known_again_by_every_digit(folder: Path, method: str, params: str) -> None:
    """Neighbours near 1e9 agree in nine digits; a file with 17 digits gives the cells as they were."""
    some = [7, 3, 11]
    for name, rows in (("near", range(12)), ("some", some)):
        Path(f"{name}.csv").write_text("x,y\n" + "".join(f"{1e9 + place / 3:.17g},1\n" for place in rows))
    typed("train", "near.csv", "-m", f"{{use: {method}, params: {{{params}}}, steps: []}}", "-o", "placed.mlcli")
    every, found = (
        [line.partition(",")[2] for line in typed("predict", "placed.mlcli", f"{name}.csv").stdout.splitlines()]
        for name in ("near", "some")
    )
    assert len(set(every)) > 1
    assert found[1:] == [every[place + 1] for place in some]


SIDECAR = """\
target: bought
missing: ["?"]
columns:
  colour: {kind: nominal, empty: none}
  step: nominal
"""


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_shop(path: Path, rows: int, seed: int = 1) -> None:
    """Decimal commas, a word for missing cells, levels that look like numbers, empty cells that mean a level."""
    rng = random.Random(seed)
    lines = ["age;code;colour;step;bought"]
    for row in range(rows):
        age = "?" if row % 9 == 8 else f"{rng.gauss(40, 10):.2f}".replace(".", ",")
        colour = ("red", "blue", "")[row % 3]
        bought = "yes" if rng.random() < (0.2 if colour else 0.9) else "no"
        lines.append(f"{age};0{rng.randint(1, 3)};{colour};{rng.randint(1, 3)};{bought}")
    path.write_text("\n".join(lines) + "\n")


def answers_of(result: Any) -> dict[str, dict[str, Any]]:
    return {one["label"]: one for one in document(result)["cells"]}


def test_eval_reads_a_new_file_as_predict_does(empty_folder: Path) -> None:
    write_shop(empty_folder / "old.csv", 90)
    (empty_folder / "old.yaml").write_text(SIDECAR)
    write_shop(empty_folder / "new.csv", 30, seed=2)
    assert typed("train", "old.csv", "-m", "naive-bayes", "-o", "nb.mlcli").exit_code == 0
    predicted = typed("predict", "nb.mlcli", "new.csv", "--format", "csv")
    assert "empty" not in predicted.stderr
    rows = [line.split(",") for line in predicted.stdout.splitlines()]
    truth, said = (rows[0].index(name) for name in ("bought", "prediction"))
    accuracy = np.mean([row[truth] == row[said] for row in rows[1:]])
    judged = typed("eval", "new.csv", "-m", "nb.mlcli", "--metric", "accuracy", "--store", "runs.db", "--json")
    assert judged.exit_code == 0, judged.stderr
    assert answers_of(judged)["nb.mlcli"]["metrics"]["accuracy"]["mean"] == pytest.approx(accuracy)
    assert typed("runs", "rerun", "1", "--store", "runs.db").exit_code == 0


def test_a_new_file_is_compared_by_the_rules_of_the_first(empty_folder: Path) -> None:
    write_shop(empty_folder / "old.csv", 60)
    (empty_folder / "old.yaml").write_text(SIDECAR)
    write_shop(empty_folder / "new.csv", 60)
    same = typed("data", "old.csv", "new.csv", "--json")
    assert same.exit_code == 0, same.stderr
    assert {one["distance"] for one in document(same)["columns"]} == {0.0}


@pytest.mark.parametrize("rows", [1, 5])
def test_a_saved_model_needs_no_folds(empty_folder: Path, rows: int) -> None:
    write_shop(empty_folder / "old.csv", 60)
    (empty_folder / "old.yaml").write_text(SIDECAR)
    write_shop(empty_folder / "few.csv", rows, seed=3)
    assert typed("train", "old.csv", "-m", "naive-bayes", "-o", "nb.mlcli").exit_code == 0
    result = typed("eval", "few.csv", "-m", "nb.mlcli", "--metric", "accuracy", "--json")
    assert result.exit_code == 0, result.stderr
    cells = answers_of(result)
    assert cells["nb.mlcli"]["status"] == "done"
    assert cells["zero-r"]["status"] == "skipped"
    assert typed("eval", "few.csv", "-m", "nb.mlcli", "-m", "knn").exit_code == 4


def write_parts(path: Path, good: int, bad: int, *, labels: tuple[str, ...] = ("ok", "broken")) -> None:
    """Good rows within 0.5 of the origin, bad ones near (8, 8); without labels if none are named."""
    rng = random.Random(len(path.name))
    lines = ["x,y" + (",state,split" if labels else "")]
    for row in range(good + bad):
        far = 8.0 if bad and row % ((good + bad) // bad) == 1 else 0.0
        cells = [f"{far + rng.uniform(-0.5, 0.5):.3f}" for _ in range(2)]
        part = ("train", "train", "train", "validation", "test")[row // 10 % 5]
        lines.append(",".join([*cells, *([labels[far > 0], part] if labels else [])]))
    path.write_text("\n".join(lines) + "\n")


def test_a_saved_detector_is_judged_by_the_labels_of_the_file(empty_folder: Path) -> None:
    write_parts(empty_folder / "plain.csv", 60, 0, labels=())
    write_parts(empty_folder / "labelled.csv", 36, 4)
    write_parts(empty_folder / "good.csv", 30, 0)
    assert typed("train", "plain.csv", "-m", "mahalanobis", "--task", "anomaly", "-o", "a.mlcli").exit_code == 0
    judged = typed("eval", "labelled.csv", "-m", "a.mlcli", "--target", "state", "--json")
    metrics = answers_of(judged)["a.mlcli"]["metrics"]
    assert metrics["auc"]["mean"] == 1.0
    assert metrics["recall"]["mean"] == 1.0
    options = ("--target", "state", "--drop", "split", "--task", "anomaly")
    assert typed("train", "labelled.csv", "-m", "mahalanobis", *options, "-o", "b.mlcli").exit_code == 0
    for model, more in (("a", ("--target", "state", "--positive", "broken")), ("b", ())):
        for metric in (("--metric", "specificity"), ()):
            good = typed("eval", "good.csv", "-m", f"{model}.mlcli", *more, *metric, "--json")
            assert good.exit_code == 0, good.stderr
            assert answers_of(good)[f"{model}.mlcli"]["metrics"]["specificity"]["mean"] == 1.0
    assert typed("eval", "plain.csv", "-m", "b.mlcli").exit_code == 0


def test_anomalies_are_split_as_given_and_by_time(empty_folder: Path) -> None:
    write_parts(empty_folder / "labelled.csv", 90, 10)
    start = ("eval", "labelled.csv", "-m", "mahalanobis", "--target", "state", "--drop", "split", "--json")
    for protocol in ("given", "{use: given, validation: unused}", "forward-chaining"):
        result = typed(*start, "--protocol", protocol)
        assert result.exit_code == 0, result.stderr
        assert answers_of(result)["mahalanobis"]["metrics"]["auc"]["mean"] == 1.0
