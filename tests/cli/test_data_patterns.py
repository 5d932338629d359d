"""Which files ``data:`` and commands take: folders, patterns, packed files and Parquet."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest
from pyarrow import csv
from pyarrow import parquet as pq

from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
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


def test_packed_and_parquet_files_stand_for_csv_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    iris = shipped_paths()["iris"]
    Path("flowers.csv.gz").write_bytes(gzip.compress(iris.read_bytes()))
    pq.write_table(csv.read_csv(iris), "flowers.parquet")
    assert "150 rows, 5 columns; classification of species" in typed("data", "flowers.csv.gz").stdout
    assert typed("train", "flowers.parquet", "-m", "one-r", "-o", "flowers.mlcli").exit_code == 0
    answers = [typed("predict", "flowers.mlcli", name).stdout for name in ("flowers.csv.gz", "flowers.parquet")]
    assert answers[0] == answers[1]
    assert len(answers[0].splitlines()) == 151
    Path("both.yaml").write_text("data: [flowers.csv.gz, flowers.parquet]\nmodels: [one-r]\nprotocol: holdout\n")
    done = typed("run", "both.yaml", "--jobs", "1")
    assert (done.exit_code, "are the same data" in done.output) == (3, True)
    pq.write_table(csv.read_csv(iris).slice(0, 140), "flowers.parquet")
    done = typed("run", "both.yaml", "--jobs", "1")
    assert (done.exit_code, done.stdout.count(": classification of species")) == (0, 2)


def test_an_existing_sidecar_of_a_packed_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.csv.gz").write_bytes(gzip.compress(b"a,y\n" + b"1,u\n2,v\n" * 5))
    assert typed("train", "my.csv.gz", "-m", "one-r", "-o", "my.mlcli").exit_code == 0
    Path("my.yaml").write_text("target: y\n")
    done = typed("predict", "my.mlcli", "my.csv.gz", "-o", "my.yaml")
    assert (done.exit_code, Path("my.yaml").read_text()) == (2, "target: y\n")
