"""Numbers, names and values that no store, model file or argument should hold: refused in words, and at once."""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlcli
from mlcli.core.names import did_you_mean, likely_names
from mlcli.core.registry import MODELS
from mlcli.report.pictures.characters import drawn
from mlcli.report.views.dataset import histogram
from tests.cli.shell import typed
from tests.repairs.crafted import changed_model, model_node

BEYOND_64_BITS = str(2**64)
EXPERIMENT = "data: [weather_nominal]\nmodels: [naive-bayes]\nprotocol: {folds: 2}\n"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one run, in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("e.yaml").write_text(EXPERIMENT)
    assert typed("run", "e.yaml", "--store", "s.db").exit_code == 0
    return tmp_path / "s.db"


@pytest.mark.parametrize("verb", ["runs show", "report", "verify", "rerun", "compare", "runs export out.db"])
def test_a_run_number_beyond_64_bits_is_a_run_that_is_not_there(store: Path, verb: str) -> None:
    result = typed(*verb.split(), BEYOND_64_BITS, "--store", "s.db")
    assert result.exit_code == 2
    assert f"there is no run {BEYOND_64_BITS}" in result.stderr


def test_a_digit_of_another_script_is_no_run_number(store: Path) -> None:
    assert typed("runs", "show", "²").exit_code == 2


@pytest.mark.parametrize("key", ["plugins", "models"])
def test_a_null_byte_in_a_path_is_refused(tmp_path: Path, key: str) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(f'data: [iris]\n{key}: ["./a\\0b"]\n')
    for verb in ("check", "run"):
        result = typed(verb, str(file))
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


def test_nothing_is_suggested_for_a_name_that_is_far_too_long() -> None:
    assert likely_names("a" * 1_000_000, MODELS.names()) == []


def test_of_thousands_of_valid_names_some_are_listed() -> None:
    columns = [f"column {number}" for number in range(20_000)]
    advice = did_you_mean("x", columns, "columns")
    assert advice.endswith("and 19800 more")
    assert len(advice) < 5_000


def facts(store: Path, change: Any) -> None:
    """Change what a store says of each cell and dataset of its run."""
    with sqlite3.connect(store) as database:
        for table in ("run_cells", "datasets"):
            for number, text in database.execute(f"SELECT rowid, facts FROM {table}").fetchall():
                told = json.loads(text)
                change(told)
                database.execute(f"UPDATE {table} SET facts = ? WHERE rowid = ?", (json.dumps(told), number))
    database.close()


KEYS = ("model", "label", "dataset", "schema", "notes", "protocol", "params", "steps", "seed")
OTHER_TYPES: tuple[Any, ...] = (True, 5, [], {}, None)


def _replace(key: str, value: Any, told: dict[str, Any]) -> None:
    if key in told:
        told[key] = value


def test_facts_of_another_type_in_a_store_are_refused_or_shown(store: Path) -> None:
    whole = store.read_bytes()
    for key, value in product(KEYS, OTHER_TYPES):
        store.write_bytes(whole)
        facts(store, partial(_replace, key, value))
        for words in (("runs", "show", "1", "-v"), ("verify", "1"), ("compare", "1"), ("runs", "check")):
            result = typed(*words, "--store", "s.db")
            assert result.exit_code != 1, (key, value, words, result.stderr)


def test_names_of_columns_of_another_type_in_a_store_are_refused_or_shown(store: Path) -> None:
    def rename(told: Any) -> None:
        for field in told.get("schema", ()):
            field["column"]["name"] = 5

    facts(store, rename)
    assert typed("runs", "show", "1", "-v", "--store", "s.db").exit_code in (0, 6)
    assert typed("report", "1", "--store", "s.db", "--format", "text").exit_code in (0, 6)


def test_nothing_is_left_beside_a_damaged_store_that_is_exported(store: Path) -> None:
    with sqlite3.connect(store) as database:
        database.execute("UPDATE runs SET title = x'ff'")
    database.close()
    assert typed("runs", "export", "out.db", "--store", "s.db").exit_code == 6
    assert not list(store.parent.glob("*out.db*")) + list(store.parent.glob(".*.db*"))


@pytest.mark.parametrize(
    "numbers", [[1e30] * 5, [1e17, 1e17 + 16], [1e308, -1e308], [5e-324, 0.0], [2.0] * 3, [np.nan]]
)
def test_numbers_that_are_all_but_equal_or_huge_have_a_histogram(numbers: list[float]) -> None:
    picture = histogram("", "x", [("rows", np.array(numbers))])
    assert np.all(np.diff(picture.edges) >= 0)
    assert sum(picture.counts[0][1]) == np.isfinite(numbers).sum()
    drawn(picture, 80)
