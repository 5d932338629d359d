"""Tables beyond memory lie in a file, and whatever is made of them is the same."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core import rooms
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError, UsageError
from mlcli.core.model import Model
from mlcli.core.params import build
from mlcli.core.pipeline import learn, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.rooms import Room, filled, memory, shuffled
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.data import large_text, records
from mlcli.data.load import load
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows
from mlcli.tasks.supervised import SupervisedRows
from tests.support.memory import peak_of
from tests.support.shell import document, typed


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """So little that every table is large."""
    monkeypatch.setenv("MLCLI_MEMORY", "1 kB")
    monkeypatch.setattr(rooms, "CELLS_AT_ONCE", 50)


@pytest.mark.parametrize(
    ("text", "size"), [("4GiB", 4 << 30), ("1.5 MB", 1_500_000), ("800", 800), ("2kib", 2048), ("7 B", 7)]
)
def test_memory_is_said_in_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("MLCLI_MEMORY", text)
    assert memory() == size


def test_an_amount_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLCLI_MEMORY", "much")
    with pytest.raises(UsageError, match="MLCLI_MEMORY is no amount of memory: 'much'"):
        memory()


def check_room() -> Room:
    room, cells = Room(30, 4), np.arange(160.0).reshape(40, 4)
    room.cells[:] = cells[:30]
    room.resize(40)
    room.cells[30:] = cells[30:]
    room.keep(np.array([1, 3]))
    assert np.array_equal(room.cells, cells[:, [1, 3]])
    room.resize(7)
    assert np.array_equal(room.cells, cells[:7, [1, 3]])
    return room


def test_rooms_keep_what_is_in_them() -> None:
    assert not isinstance(check_room().cells.base, mmap.mmap)


def test_a_disk_that_is_too_full_for_a_room_is_told_of_before_anything_is_written() -> None:
    with pytest.raises(OSError, match="No space left on device"):
        Room(1 << 40, 1)


def test_large_rooms_do_so_in_a_file(little_memory: None) -> None:
    assert isinstance(check_room().cells.base, mmap.mmap)
    cells = np.arange(300.0).reshape(100, 3)
    assert np.array_equal(filled((100, 3), np.float64, lambda some: 2 * cells[some]), 2 * cells)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Rows with a class and rows with a value, a column of levels and some empty cells among them."""
    rng = np.random.default_rng(0)
    cells = rng.normal([2000, 0, 1], [1, 1, 3], size=(300, 3)).round(3)
    value = (cells @ [1, 2, 3] + rng.normal(size=300)).round(3)
    path = {name: tmp_path / f"{name}.csv" for name in ("classes", "values")}
    for name, file in path.items():
        ends = np.where(value > np.median(value), "up", "down") if name == "classes" else value
        lines = [
            f"{a},{b if row % 9 else ''},{c},{'uvw'[row % 3]},{end}"
            for row, ((a, b, c), end) in enumerate(zip(cells.tolist(), ends.tolist(), strict=True))
        ]
        file.write_text("\n".join(["a,b,c,d,y", *lines]) + "\n")
    return path


def test_answers_from_a_file_are_those_from_memory(
    files: dict[str, Path], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {
        "classes": ["-m", "naive-bayes", "-m", "lda"],
        "values": ["-m", "linear-regression", "-m", "ridge", "-m", "newton-boosting"],
    }

    def evaluated() -> list[dict[str, object]]:
        protocols = ("holdout", "{use: k-fold, folds: 3}")
        asked = [
            [str(files[name]), *models, "--protocol", protocol, "--jobs", "1", "--format", "json"]
            for name, models in words.items()
            for protocol in protocols
        ]
        cells = [cell for one in asked for cell in document(typed("eval", *one))["cells"]]
        return [{**cell, "seconds": None} for cell in cells if cell.get("asked", True)]

    before = evaluated()
    assert {cell["status"] for cell in before} == {"done"}
    request.getfixturevalue("little_memory")
    monkeypatch.setattr(records, "LARGE", 1)
    monkeypatch.setattr(large_text, "BLOCK", 500)
    numbers = load(str(files["values"])).table.numbers
    assert isinstance(numbers.base, mmap.mmap)
    assert evaluated() == before


CASES: dict[str, dict[str, Any]] = {
    "naive-bayes": {},
    "lda": {},
    "qda": {},
    "logistic-regression": {"solver": "sgd", "max_iterations": 1, "standard_errors": False},
    "linear-classifier": {},
    "perceptron": {"max_passes": 2},
    "pocket": {"max_passes": 2},
    "mlp": {"hidden": [2], "epochs": 1},
    "random-forest": {"trees": 2, "max_leaves": 4},
    "newton-boosting": {"rounds": 1, "max_leaves": 2},
}


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> LabelledRows:
    """Rows of 12 MB beside a memory of 16 MB, with gaps and a class."""
    monkeypatch.setenv("MLCLI_MEMORY", "16 MB")
    monkeypatch.setattr(rooms, "CELLS_AT_ONCE", 1 << 14)
    rng, numbers = np.random.default_rng(0), Room(12000, 128).cells
    numbers[:] = rng.normal(size=numbers.shape)
    y = (numbers[:, 0] + rng.normal(size=len(numbers)) > 0).astype(np.int32)
    numbers[::7, 3] = np.nan
    columns = tuple(Column(f"x{j}", missing=j == 3) for j in range(128))
    table = Table(columns, numbers, np.empty((12000, 0), np.int32))
    return LabelledRows(table=table, rows=np.arange(12000), y=y, classes=("no", "yes"))


def peak_of_a_fit(model: Model, data: SupervisedRows) -> float:
    """The memory that a fit and its answers take, as a share of the cells."""
    ready = with_steps(model, data.table.columns)
    learn(
        ready.fresh(), data.take(np.arange(2000)), np.random.default_rng(0)
    )  # the loops of larger tables are compiled

    def learn_and_ask() -> None:
        learn(ready, data, np.random.default_rng(0))
        predict_rows(ready, data)

    return peak_of(learn_and_ask) / data.table.numbers.nbytes


@pytest.mark.parametrize("method", CASES)
def test_a_large_table_is_not_copied(large: LabelledRows, method: str) -> None:
    assert peak_of_a_fit(build(MODELS.load(method), CASES[method]), large) < 0.5


@pytest.mark.parametrize("method", ["linear-regression", "ridge"])
def test_nor_are_rows_with_a_value_even_if_columns_are_collinear(large: LabelledRows, method: str) -> None:
    large.table.numbers[:, 5] = large.table.numbers[:, 6]
    data = ValuedRows(table=large.table, rows=large.rows, y=large.table.numbers[:, 0] + large.y)
    assert peak_of_a_fit(build(MODELS.load(method), {}), data) < 0.5


def test_what_would_copy_it_is_refused_with_what_does_not(large: LabelledRows) -> None:
    with pytest.raises(FitError, match=r"(?s)knn copies its 12,000 rows, .* 15.3 MiB .*naive-bayes, lda"):
        peak_of_a_fit(build(MODELS.load("knn"), {}), large)
    with pytest.raises(FitError, match=r"(?s)100 trees of .* nodes need about .*max_leaves"):
        peak_of_a_fit(build(MODELS.load("random-forest"), {}), large)


def test_rows_of_very_many_cells_are_mixed_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "CELLS_TO_MIX", 10_000)
    order = shuffled(np.random.default_rng(0), 5003, 4)
    assert np.array_equal(np.sort(order), np.arange(5003))
    assert len(np.unique(order[:2500] // rooms.RUN)) <= 11
    assert (np.diff(order) < 0).any()
