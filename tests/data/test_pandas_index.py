"""The index that pandas writes into a file is an identifier."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from mlcli.data.load import load
from tests.support.shell import typed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


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
