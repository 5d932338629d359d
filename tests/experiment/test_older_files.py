"""A store and a model that an older mlcli has written are refused in one sentence that says what to do.

The two files beside this one were written by format 1, from four rows and ``one-r``.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from mlcli.experiment.saved.model_file import FORMAT_VERSION
from mlcli.experiment.store.database import FORMAT
from tests.cli.shell import typed

OLDER = Path(__file__).parent / "older"
STORE = f"Error: {{}}: it was written by an older mlcli (format 1, this one knows {FORMAT})\n  move it away"
MODEL = f"Error: {{}}: was written by an older mlcli (format 1, this one knows {FORMAT_VERSION})\n  train it"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    place = tmp_path / "store.db"
    place.write_bytes(gzip.decompress((OLDER / "store.db.gz").read_bytes()))
    return place


@pytest.mark.parametrize("words", [("runs",), ("runs", "1"), ("eval", "iris", "-m", "zero-r")])
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
