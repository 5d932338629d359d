"""``data:`` takes files, folders and patterns."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from mlcli.data.load import load
from tests.support.shell import document, typed

SPEC = "models: [lda]\nprotocol: {folds: 3}\nmetrics: [accuracy]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
    cells = document(typed("run", "spec/many.yaml", "--dry-run", "--json"))["cells"]
    assert list(dict.fromkeys(cell["dataset"] for cell in cells)) == names
    if not data.startswith("{"):
        shell = document(typed("eval", data.strip("'"), "-m", "lda", "--folds", "3", "-j", "1", "--json"))["cells"]
        assert list(dict.fromkeys(cell["dataset"] for cell in shell)) == names


def test_a_pattern_without_a_table_is_refused(folder: Path) -> None:
    iris_files()
    Path("many.yaml").write_text(f"data: ['data/*.parquet']\n{SPEC}")
    result = typed("run", "many.yaml")
    assert (result.exit_code, "the folder holds one.csv" in result.stderr) == (4, True)
