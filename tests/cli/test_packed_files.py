"""Packed and Parquet files stand wherever a CSV file does: in eval, data, train, predict, and in an experiment."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyarrow import csv
from pyarrow import parquet as pq

from mlcli.data.shipped import shipped_paths
from tests.support.shell import typed


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
