"""Point 14: a new file is read by the rules of the file that a saved model, or the other file, was read by."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.shell import document, typed

SIDECAR = """\
target: bought
missing: ["?"]
columns:
  colour: {kind: nominal, empty: none}
  step: nominal
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def test_eval_reads_a_new_file_as_predict_does(folder: Path) -> None:
    write_shop(folder / "old.csv", 90)
    (folder / "old.yaml").write_text(SIDECAR)
    write_shop(folder / "new.csv", 30, seed=2)
    assert typed("train", "old.csv", "-m", "naive-bayes", "-o", "nb.mlcli").exit_code == 0
    predicted = typed("predict", "nb.mlcli", "new.csv", "--format", "csv")
    assert "empty" not in predicted.stderr
    rows = [line.split(",") for line in predicted.stdout.splitlines()]
    truth, said = (rows[0].index(name) for name in ("bought", "prediction"))
    accuracy = np.mean([row[truth] == row[said] for row in rows[1:]])
    judged = typed("eval", "new.csv", "-m", "nb.mlcli", "--metric", "accuracy", "--store", "runs.db", "--json")
    assert judged.exit_code == 0, judged.stderr
    assert answers_of(judged)["nb.mlcli"]["metrics"]["accuracy"]["mean"] == pytest.approx(accuracy)
    assert typed("rerun", "1", "--store", "runs.db").exit_code == 0


def test_a_new_file_is_compared_by_the_rules_of_the_first(folder: Path) -> None:
    write_shop(folder / "old.csv", 60)
    (folder / "old.yaml").write_text(SIDECAR)
    write_shop(folder / "new.csv", 60)
    same = typed("data", "old.csv", "--against", "new.csv", "--json")
    assert same.exit_code == 0, same.stderr
    assert {one["distance"] for one in document(same)["columns"]} == {0.0}


@pytest.mark.parametrize("rows", [1, 5])
def test_a_saved_model_needs_no_folds(folder: Path, rows: int) -> None:
    write_shop(folder / "old.csv", 60)
    (folder / "old.yaml").write_text(SIDECAR)
    write_shop(folder / "few.csv", rows, seed=3)
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


def test_a_saved_detector_is_judged_by_the_labels_of_the_file(folder: Path) -> None:
    write_parts(folder / "plain.csv", 60, 0, labels=())
    write_parts(folder / "labelled.csv", 36, 4)
    write_parts(folder / "good.csv", 30, 0)
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


def test_anomalies_are_split_as_given_and_by_time(folder: Path) -> None:
    write_parts(folder / "labelled.csv", 90, 10)
    start = ("eval", "labelled.csv", "-m", "mahalanobis", "--target", "state", "--drop", "split", "--json")
    for protocol in ("given", "{use: given, validation: unused}", "forward-chaining"):
        result = typed(*start, "--protocol", protocol)
        assert result.exit_code == 0, result.stderr
        assert answers_of(result)["mahalanobis"]["metrics"]["auc"]["mean"] == 1.0
