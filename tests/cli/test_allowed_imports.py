"""What a model file, a store or an experiment file names is imported only where the command names it, too."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

import mlcli
from mlcli.core.registry import ALLOWED_IMPORTS, PLUGIN_FILES
from mlcli.engines.imported import _imported_class
from tests.cli.crafted import INTRUDER, changed_model, model_node
from tests.support.shell import typed

CLASS = "intruder.Intruder"
EXPERIMENT = (
    "data: [weather_nominal]\nmodels: [{use: bagging, params: {base: zero-r, bags: 2}}]\nprotocol: {folds: 2}\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module that leaves a file when it is imported, on the path as under ``python -m mlcli``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(PLUGIN_FILES, "")
    monkeypatch.setenv(ALLOWED_IMPORTS, "")
    (tmp_path / "intruder.py").write_text(INTRUDER)
    sys.modules.pop("intruder", None)
    _imported_class.cache_clear()
    return tmp_path


def refused(*words: str) -> bool:
    """Whether a command says how to allow the import, and has not made it."""
    result = typed(*words)
    assert result.exit_code not in (0, 1), result.output
    assert not os.path.exists("intruded")
    return f"--allow-import {CLASS}" in result.stderr


def name_the_class(structure: Any) -> None:
    model_node(structure)["id"] = CLASS


def name_the_class_inside(structure: Any) -> None:
    use = {"dict": {"use": CLASS, "params": {"dict": {}}}}
    model_node(structure).update(id="bagging", params={"dict": {"base": use}})


@pytest.mark.parametrize("change", [name_the_class, name_the_class_inside])
def test_a_model_file_has_nothing_imported_that_the_command_does_not_name(folder: Path, change: Any) -> None:
    assert typed("train", "weather_nominal", "-m", "zero-r", "-o", "m.mlcli").exit_code == 0
    changed_model(folder / "m.mlcli", folder / "evil.mlcli", change)
    (folder / "e.yaml").write_text("data: [weather_nominal]\nmodels: [evil.mlcli]\n")
    assert refused("predict", "evil.mlcli", "weather_nominal")
    assert refused("explain", "evil.mlcli", "weather_nominal")
    assert refused("eval", "weather_nominal", "-m", "evil.mlcli")
    assert refused("report", "evil.mlcli", "--format", "text")
    assert refused("run", "e.yaml")
    with pytest.raises(mlcli.MlcliError, match=CLASS):
        mlcli.load("evil.mlcli")
    assert typed("predict", "evil.mlcli", "weather_nominal", "--allow-import", CLASS).exit_code == 7
    assert os.path.exists("intruded")


def as_model(facts: dict[str, Any]) -> None:
    facts["model"] = CLASS


def as_base(facts: dict[str, Any]) -> None:
    facts["params"]["base"] = {"use": CLASS, "params": {}}


def as_step(facts: dict[str, Any]) -> None:
    facts["steps"].insert(0, {"use": CLASS, "params": {}})


@pytest.mark.parametrize("change", [as_model, as_base, as_step])
def test_a_store_has_nothing_imported(folder: Path, change: Any) -> None:
    (folder / "e.yaml").write_text(EXPERIMENT)
    assert typed("run", "e.yaml", "--store", "s.db").exit_code == 0
    with sqlite3.connect("s.db") as store:
        for number, text in store.execute("SELECT rowid, facts FROM run_cells").fetchall():
            facts = json.loads(text)
            if facts["model"] == "bagging":
                change(facts)
            store.execute("UPDATE run_cells SET facts = ? WHERE rowid = ?", (json.dumps(facts), number))
    store.close()
    shown = typed("runs", "show", "1", "--store", "s.db")
    assert shown.exit_code == 0
    assert "zero-r" in shown.stdout
    assert typed("runs", "verify", "1", "--store", "s.db").exit_code == 0
    assert typed("report", "1", "--store", "s.db", "--format", "text").exit_code in (0, 2)
    assert typed("runs", "rerun", "1", "--store", "s.db").exit_code in (2, 8)
    assert not os.path.exists("intruded")


def test_check_and_plan_import_what_they_are_asked_to(folder: Path) -> None:
    (folder / "e.yaml").write_text(f"data: [weather_nominal]\nmodels: [{CLASS}]\n")
    for command in (("run", "--dry-run"), ("audit",)):
        assert refused(*command, "e.yaml")
    assert typed("run", "e.yaml", "--dry-run", "--allow-import", CLASS).exit_code == 3  # it has no tags
    assert os.path.exists("intruded")


def test_check_and_plan_import_no_plug_in_unasked(folder: Path) -> None:
    assert typed("new", "model", "nearest-mean").exit_code == 0
    with (folder / "nearest_mean.py").open("a") as file:
        file.write("import pathlib\npathlib.Path('intruded').touch()\n")
    (folder / "e.yaml").write_text("plugins: [nearest_mean.py]\ndata: [iris]\nmodels: [nearest-mean]\n")
    for command in (("run", "--dry-run"), ("audit",)):
        result = typed(*command, "e.yaml")
        assert result.exit_code == 3
        assert "--plugin nearest_mean.py" in result.stderr
        assert not os.path.exists("intruded")
    assert typed("run", "e.yaml", "--dry-run", "--plugin", "nearest_mean.py").exit_code == 0


def test_the_command_line_and_an_experiment_that_is_run_name_what_is_imported(folder: Path) -> None:
    (folder / "e.yaml").write_text("data: [iris]\nmodels: [sklearn.dummy.DummyClassifier]\nprotocol: {folds: 2}\n")
    assert typed("run", "e.yaml", "--store", "s.db").exit_code == 0
    words = ("iris", "--folds", "2", "--metric", "accuracy")
    assert typed("eval", *words, "-m", "bagging", "-p", "base=sklearn.dummy.DummyClassifier").exit_code == 0
    assert typed("models", "sklearn.dummy.DummyClassifier").exit_code == 0
    result = typed("eval", *words, "-m", "knn", "--allow-import", "sklearn")
    assert result.exit_code == 2
    assert "'sklearn' is not an import path" in result.stderr


def test_an_estimator_without_tags_is_refused_in_words(folder: Path) -> None:
    result = typed("eval", "iris", "-m", CLASS)
    assert result.exit_code == 2
    assert "sklearn.base.BaseEstimator" in result.stderr


@pytest.mark.parametrize(
    "name", ["a" * 1_000_000, "zero-r " * 100_000, "a." * 100_000 + "B", 5, None, [], {}, True]
)
def test_an_id_in_a_model_file_that_cannot_be_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed("train", "weather_nominal", "-m", "zero-r", "-o", "m.mlcli").exit_code == 0
    changed_model(Path("m.mlcli"), Path("x.mlcli"), lambda structure: model_node(structure).update(id=name))
    result = typed("predict", "x.mlcli", "weather_nominal")
    assert result.exit_code == 7
    assert len(result.stderr) < 1000
