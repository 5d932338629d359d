"""Gates run the model that they name; `data:` takes folders and patterns; the index of pandas is an id."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from mlcli.data.load import load
from tests.cli.shell import document, typed

SPEC = "models: [lda]\nprotocol: {folds: 3}\nmetrics: [accuracy]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_gates(data: str, gates: str, spec: str = SPEC) -> tuple[dict[str, str], list[dict[str, object]]]:
    Path("gates.yaml").write_text(f"data: [{data}]\n{spec}expect: [{gates}]\n")
    results = document(typed("run", "gates.yaml", "--json", "-j", "1"))
    return {cell["model"]: cell["status"] for cell in results["cells"]}, results["gates"]


def test_a_gate_runs_one_r_on_a_table_that_is_too_large_for_it_otherwise(folder: Path) -> None:
    cells, (gate,) = run_gates("digits", "beats: one-r")
    assert cells == {"zero-r": "done", "one-r": "done", "lda": "done"}
    assert (gate["model"], gate["passed"]) == ("lda", True)


def test_a_gate_runs_any_method_that_is_not_among_the_models(folder: Path) -> None:
    cells, gates = run_gates("iris", "beats: knn")
    assert cells["knn"] == "done"
    assert [(gate["model"], gate["passed"]) for gate in gates] == [("lda", False)]
    assert "knn" not in run_gates("iris, wine", "{data: wine, beats: zero-r}")[0]


def test_a_gate_runs_its_method_where_models_are_chosen_by_a_validation_part(folder: Path) -> None:
    spec = "models: [lda, naive-bayes]\nprotocol: train-validation-test\nmetrics: [accuracy]\n"
    cells, gates = run_gates("iris", "beats: one-r", spec)
    assert cells["one-r"] == "done"
    assert [gate["model"] for gate in gates] == ["chosen"]


def test_a_gate_with_an_unknown_name_is_refused_before_anything_is_run(folder: Path) -> None:
    Path("gates.yaml").write_text(f"data: [iris]\n{SPEC}expect:\n  - beats: one-rr\n")
    result = typed("run", "gates.yaml")
    assert result.exit_code == 3
    assert "gates.yaml:6:5: 'beats': there is no model 'one-rr'" in result.stderr
    assert "did you mean 'one-r'?" in result.stderr


def test_one_r_that_is_left_out_of_a_large_table_is_named(folder: Path) -> None:
    shown = typed("eval", "digits", "-m", "lda", "--metric", "accuracy", "--folds", "3", "-j", "1")
    assert shown.exit_code == 0
    line = next(line for line in shown.stdout.splitlines() if line.startswith("one-r"))
    assert line.split()[1] == "skipped"
    assert line.endswith("ask for it with -m one-r")


def iris_files() -> None:
    rows = load("iris").table
    frame = pd.DataFrame({column.name: cells for column, cells in rows.parts()}).iloc[:, :4]
    frame["kind"] = ["a", "b", "c"] * 50
    Path("data/deeper").mkdir(parents=True)
    for number, name in enumerate(("data/one.csv", "data/two.tsv", "data/deeper/three.csv")):
        frame.iloc[number:].to_csv(name, index=False, sep="\t" if name.endswith("tsv") else ",")
    Path("data/readme.txt").write_text("not a table")


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ("data", ["one", "two"]),
        ("data/*.csv", ["one"]),
        ("data/one.*", ["one"]),
        ("'data/**/*.csv'", ["three", "one"]),
        ("{path: 'data/t*', target: kind}", ["two"]),
    ],
)
def test_data_takes_folders_and_patterns(folder: Path, data: str, names: list[str]) -> None:
    iris_files()
    Path("spec").mkdir()
    written = data.replace("data", "../data")
    Path("spec/many.yaml").write_text(f"data: [{written}]\n{SPEC}")
    cells = document(typed("plan", "spec/many.yaml", "--json"))["cells"]
    assert list(dict.fromkeys(cell["dataset"] for cell in cells)) == names
    if not data.startswith("{"):
        shell = document(typed("eval", data.strip("'"), "-m", "lda", "--folds", "3", "-j", "1", "--json"))["cells"]
        assert list(dict.fromkeys(cell["dataset"] for cell in shell)) == names


def test_a_pattern_without_a_table_is_refused(folder: Path) -> None:
    iris_files()
    Path("many.yaml").write_text(f"data: ['data/*.parquet']\n{SPEC}")
    result = typed("run", "many.yaml")
    assert (result.exit_code, "the folder holds one.csv" in result.stderr) == (4, True)


def frame_of(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"a": [float(row % 7) for row in range(rows)], "y": ["no", "yes"] * (rows // 2)})


def roles_of(file: str) -> dict[str, str]:
    return {field.column.name: field.role for field in load(file).schema.fields}


def test_the_index_that_pandas_writes_is_an_identifier(folder: Path) -> None:
    frame = frame_of(20)
    frame.to_csv("once.csv")
    assert roles_of("once.csv") == {"Unnamed: 0": "id", "a": "feature", "y": "target"}
    assert list(roles_of("once.csv")) == list(pd.read_csv("once.csv").columns)
    pd.read_csv("once.csv").to_csv("twice.csv")
    assert list(roles_of("twice.csv")) == list(pd.read_csv("twice.csv").columns)
    assert [*roles_of("twice.csv").values()][:2] == ["id", "id"]
    pd.concat([frame, frame]).to_csv("joined.csv")
    assert roles_of("joined.csv")["Unnamed: 0"] == "id"


def test_a_model_of_such_a_file_predicts_with_and_without_the_index(folder: Path) -> None:
    frame_of(20).to_csv("with.csv")
    frame_of(20).to_csv("without.csv", index=False)
    assert typed("train", "with.csv", "-m", "knn", "-o", "knn.mlcli").exit_code == 0
    for file in ("with.csv", "without.csv"):
        assert typed("predict", "knn.mlcli", file).exit_code == 0


def test_other_columns_without_a_name_are_refused_still(folder: Path) -> None:
    Path("odd.csv").write_text(",a,,y\n0,1,2,no\n1,2,3,yes\n")
    result = typed("data", "odd.csv")
    assert (result.exit_code, "column 3 has no name" in result.stderr) == (4, True)


def test_a_yardstick_that_compare_leaves_out_is_not_called_unscored(folder: Path) -> None:
    Path("two.yaml").write_text("data: [iris]\nmodels: [lda, knn]\nprotocol: {folds: 3}\n")
    assert typed("run", "two.yaml").exit_code == 0
    assert "no score to compare" not in typed("compare", "two.yaml").stdout
    assert "one-r" in typed("compare", "two.yaml", "--against", "one-r").stdout
