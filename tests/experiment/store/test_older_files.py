"""What older versions have written: a store since format 2 is brought up to date, the rest refused in a sentence.

Of the files in ``older``, the two of format 1 were written from four rows and ``one-r``.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mlcli.experiment.saved.model_file import FORMAT_VERSION
from mlcli.experiment.store.tables import FORMAT, TABLES
from tests.support.shell import document, typed

OLDER = Path(__file__).parent / "older"
STORE = f"Error: {{}}: it was written by an older mlcli (format 1, this one knows {FORMAT})\n  move it away"
MODEL = f"Error: {{}}: was written by an older mlcli (format 1, this one knows {FORMAT_VERSION})\n  train it"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    place = tmp_path / "store.db"
    place.write_bytes(gzip.decompress((OLDER / "store.db.gz").read_bytes()))
    return place


@pytest.mark.parametrize("words", [("runs",), ("runs", "show", "1"), ("eval", "iris", "-m", "zero-r")])
def test_a_store_is_refused_and_left_alone(store: Path, words: tuple[str, ...]) -> None:
    before = store.read_bytes()
    result = typed(*words, "--store", str(store))
    assert (result.exit_code, result.stdout) == (6, "")
    assert result.stderr.startswith(STORE.format(store))
    assert store.read_bytes() == before


@pytest.mark.parametrize("words", [("predict", "model.mlcli", "iris"), ("eval", "iris", "-m", "model.mlcli")])
def test_a_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(OLDER / "model.mlcli", "model.mlcli")
    result = typed(*words)
    assert (result.exit_code, result.stdout) == (7, "")
    assert result.stderr.startswith(MODEL.format("model.mlcli"))


def test_a_model_is_replaced_by_one_that_is_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(OLDER / "model.mlcli", "model.mlcli")
    assert typed("train", "iris", "-m", "one-r", "-o", "model.mlcli").exit_code == 0
    assert typed("predict", "model.mlcli", "iris").exit_code == 0


@pytest.fixture
def migrated(tmp_path: Path) -> Path:
    """A store of format 2, written by version 0.1.0: twelve rows, six methods, three folds and leave-one-out."""
    place = tmp_path / "store.db"
    place.write_bytes(gzip.decompress((OLDER / "store-2.db.gz").read_bytes()))
    return place


def answers(store: Path) -> list[str]:
    """The digests of all answers of its first run."""
    return [
        cell["digest"] for cell in document(typed("runs", "verify", "1", "--store", str(store), "--json"))["cells"]
    ]


def as_written(store: Path) -> list[str]:
    """The digests that its version kept of them; intervals may be made by other rules since."""
    with closing(sqlite3.connect(store)) as looked:
        (text,) = looked.execute("SELECT value FROM run_details WHERE run = 1 AND name = 'scores'").fetchone()
    return [cell["digest"] for cell in json.loads(text)]


def test_a_store_of_format_2_is_read_as_it_is(migrated: Path) -> None:
    before = migrated.read_bytes()
    assert answers(migrated) == as_written(migrated)
    assert "kept for later versions" in typed("runs", "--store", str(migrated)).stdout
    assert migrated.read_bytes() == before


def test_a_store_of_format_2_becomes_one_of_this_format_when_it_is_written(migrated: Path) -> None:
    assert typed("eval", "iris", "-m", "zero-r", "--store", str(migrated)).exit_code == 0
    with closing(sqlite3.connect(migrated)) as looked, closing(sqlite3.connect(":memory:")) as new:
        assert looked.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        new.executescript(TABLES)
        for table in ("cells", "endings", "run_details"):
            columns = f"PRAGMA table_info({table})"
            assert {one[1:] for one in looked.execute(columns)} == {one[1:] for one in new.execute(columns)}
    assert answers(migrated) == as_written(migrated)
    assert len(document(typed("runs", "--store", str(migrated), "--json"))["runs"]) == 3
