"""Every method is trained, saved, and asked about its own file and about new rows, as a user does it."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest

from mlcli.core.registry import MODELS
from mlcli.data.load import load
from mlcli.data.shipped import shipped_path
from mlcli.tasks.table import BY_NAME, kinds_of
from tests.cli.shell import typed

SHIPPED = {
    "classification": ("penguins", slice(0, 344, 3)),
    "regression": ("cpu", slice(0, 209, 2)),
    "clustering": ("ruspini", slice(0, 75)),
    "density": ("faithful", slice(0, 272, 3)),
    "anomaly": ("ionosphere", slice(0, 351, 3)),
    "sequence-labelling": ("cmudict_stress", slice(0, 300)),
    "ranking": ("travelmode", slice(0, 120)),
    "projection": ("iris", slice(0, 150, 2)),
    "recommendation": ("insteval_1200", slice(0, 400)),
    "association": ("vote", slice(0, 435, 3)),
}
"""The rows of a shipped dataset from which models of each kind learn."""
NEW = slice(1, 60, 3)
SUBJECTS = [(kind.name, name) for name in MODELS.names() for kind in kinds_of(MODELS.load(name))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(kind: str, file: str, rows: slice, without: Sequence[str] = ()) -> int:
    """A CSV file of some rows of the kind's dataset, its sidecar beside it; how many rows it has."""
    name, _ = SHIPPED[kind]
    shipped = shipped_path(name)
    assert shipped is not None
    with shipped.open(newline="", encoding="utf-8") as whole:
        taken = [{key: row[key] for key in row if key not in without} for row in list(csv.DictReader(whole))[rows]]
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
    assert SHIPPED.keys() == BY_NAME.keys()


@pytest.mark.parametrize(("kind", "model"), SUBJECTS)
def test_a_saved_model_answers_for_its_own_file_and_for_new_rows(folder: Path, kind: str, model: str) -> None:
    name, rows = SHIPPED[kind]
    shipped = shipped_path(name)
    assert shipped is not None
    learned = written(kind, "own.csv", rows)
    shutil.copy(shipped.with_suffix(".yaml"), "own.yaml")
    result = typed("train", "own.csv", "--task", kind, "-m", model, "-o", "model.mlcli")
    assert result.exit_code == 0, result.output
    assert asked("own.csv") == learned
    target = load("own.csv", task=kind).schema.the("target")
    new = written(kind, "new.csv", NEW, without=[target.name] if target else [])
    assert asked("new.csv") == new
