"""Paths of data, stores and plug-ins with bytes that are not UTF-8, or with a null byte."""

from __future__ import annotations

import os
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest

import mlcli
from mlcli.cli import _console
from mlcli.data.shipped import shipped_paths
from tests.support.shell import in_shell, typed

NAME = os.fsdecode(b"caf\xe9")
"""In Latin-1 it is a word; in UTF-8 it is nothing."""
STRICT = {"PYTHONIOENCODING": "utf-8:strict"}
"""As under most locales: a stream that refuses what is no text."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of such a name with a table, also called so."""
    place = tmp_path / NAME
    place.mkdir()
    shutil.copy(shipped_paths()["weather_nominal"], place / f"{NAME}.csv")
    shutil.copy(shipped_paths()["weather_nominal"], place / "w.csv")
    (place / "e.yaml").write_text("data: [w.csv]\nmodels: [zero-r]\nprotocol: {folds: 2}\n")
    return place


def answered(*words: str | Path) -> str:
    result = typed(*map(str, words))
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_a_store_keeps_and_finds_runs_of_such_data(folder: Path) -> None:
    data, store = folder / f"{NAME}.csv", folder / f"{NAME}.db"
    answered("eval", data, "-m", "zero-r", "--folds", "2", "--store", store)
    assert "\\udce9" in answered("runs", "show", "1", "--store", store, "--json")
    for verb in ("runs show", "runs verify", "runs rerun"):
        answered(*verb.split(), "1", "--store", store)
    answered("runs", "export", folder / "out.db", "--store", store)
    assert "zero-r" in answered("runs", "show", "1", "--store", folder / "out.db")


def test_an_experiment_in_such_a_folder_runs_and_is_found_by_its_file(folder: Path) -> None:
    named = folder / f"{NAME}.yaml"
    (folder / "e.yaml").rename(named)
    answered("run", named, "--dry-run")
    answered("run", named, "--junit", folder / "j.xml", "--html", folder / "r.html")
    answered("runs", "show", named)
    suite = ET.parse(folder / "j.xml").getroot()[0]
    assert suite.get("name") == "caf\\udce9"


def test_models_and_plug_ins_of_such_a_folder_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    answered("new", "model", "nearest-mean")
    plugin = ("--plugin", folder / "nearest_mean.py")
    answered("train", "iris", "-m", "nearest-mean", "-o", folder / "m.mlcli", *plugin)
    assert answered("predict", folder / "m.mlcli", "iris", *plugin).startswith("row,")


def test_parquet_is_read_from_such_a_folder(folder: Path) -> None:
    with (folder / "w.parquet").open("wb") as file:
        pd.read_csv(folder / "w.csv").to_parquet(file)
    assert "14 rows" in answered("data", folder / "w.parquet")


def test_an_experiment_cannot_name_such_a_file_and_says_so(folder: Path) -> None:
    result = typed("init", str(folder / f"{NAME}.csv"), "-o", str(folder / "new.yaml"))
    assert result.exit_code == 6
    assert "a name that is not UTF-8" in result.stderr


def test_json_of_such_names_is_printed_to_any_stream(folder: Path) -> None:
    done = in_shell("data", f"{NAME}.csv", "--json", folder=folder, **STRICT)
    assert done.returncode == 0, done.stderr
    assert "\\udce9" in done.stdout


def test_a_report_of_a_bug_names_such_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["mlcli", "eval", NAME])
    report = _console.write_bug_report(f"a traceback with {NAME}")
    assert "caf\\udce9" in report.read_text(encoding="utf-8")
    report.unlink()


@pytest.mark.parametrize("key", ["plugins", "models"])
def test_a_null_byte_in_a_path_is_refused(tmp_path: Path, key: str) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(f'data: [iris]\n{key}: ["./a\\0b"]\n')
    for command in (("run", "--dry-run"), ("run",)):
        result = typed(*command, str(file))
        assert result.exit_code in (3, 7)
        assert "null byte" in result.stderr


@pytest.mark.filterwarnings("ignore::mlcli.MlcliWarning")
def test_a_null_byte_in_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(mlcli.MlcliError, match="null byte"):
        mlcli.load("a\0b")
    with pytest.raises(mlcli.MlcliError, match="null byte"):
        mlcli.eval("weather_nominal", "zero-r", store=f"{tmp_path}/a\0b")
    with pytest.raises(mlcli.MlcliError, match="null byte"):
        mlcli.train("weather_nominal", "zero-r").save(f"{tmp_path}/a\0b")
