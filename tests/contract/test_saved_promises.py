"""Every method is trained, saved, and asked about its own file and about new rows, as a user does it."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Collection
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

from mlcli.core.registry import MODELS
from mlcli.tasks.table import BY_NAME, kinds_of
from tests.contract.subjects import ONLY, quick
from tests.support.samples import SAMPLES, dataset_of
from tests.support.shell import typed

NEW = slice(1, 60, 3)
"""The rows that are asked about without their target."""
ANSWERED_BY_NUMBERS = ("classification", "regression", "recommendation", "ranking", "anomaly", "density")
"""The kinds whose every method tells what hiding columns of a row changes."""
SUBJECTS = [(kind.name, name) for name in MODELS.names() for kind in kinds_of(MODELS.load(name))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@cache
def records_of(source: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with source.open(newline="", encoding="utf-8") as whole:
        return list(csv.DictReader(whole))


def written(file: str, source: Path, rows: slice, without: Collection[str] = ()) -> int:
    """A CSV file of some rows of another, and how many they are."""
    taken = [{key: row[key] for key in row if key not in without} for row in records_of(source)[rows]]
    with Path(file).open("w", newline="", encoding="utf-8") as part:
        writer = csv.DictWriter(part, taken[0])
        writer.writeheader()
        writer.writerows(taken)
    return len(taken)


def asked(file: str) -> int:
    """How many rows of a file the saved model answers."""
    result = typed("predict", "model.mlcli", file)
    assert result.exit_code == 0, result.output
    header, *rows = csv.reader(StringIO(result.stdout))
    assert all(len(row) == len(header) for row in rows)
    return len(rows)


def test_no_kind_is_left_out() -> None:
    assert SAMPLES.keys() == BY_NAME.keys()


@pytest.mark.parametrize(("kind", "model"), SUBJECTS)
def test_a_saved_model_answers_for_its_own_file_and_for_new_rows(folder: Path, kind: str, model: str) -> None:
    dataset = dataset_of(kind)
    assert dataset.path is not None
    learned = written("own.csv", dataset.path, SAMPLES[kind][1])
    shutil.copy(dataset.path.with_suffix(".yaml"), "own.yaml")
    params = quick(model) | dict(ONLY.get((model, kind), ())[:1])
    words = [word for name, value in params.items() for word in ("-p", f"{name}={value}")]
    result = typed("train", "own.csv", "--task", kind, "-m", model, *words, "-o", "model.mlcli")
    assert result.exit_code == 0, result.output
    assert asked("own.csv") == learned
    explained = typed("explain", "model.mlcli", "own.csv", "--row", "2")
    assert explained.exit_code in ((0,) if kind in ANSWERED_BY_NUMBERS else (0, 2)), explained.output
    target = dataset.schema.the("target")
    rows = SAMPLES[kind][1] if getattr(MODELS.load(model), "transductive", False) else NEW
    new = written("new.csv", dataset.path, rows, without={target.name} if target else ())
    assert asked("new.csv") == new
