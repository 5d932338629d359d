"""Tables beyond memory lie in a file, and whatever is made of them is the same."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from mlcli.core import rooms
from mlcli.core.errors import UsageError
from mlcli.core.rooms import Room, filled, memory
from mlcli.data import large_text, read_records
from mlcli.data.load import load
from tests.cli.shell import document, typed


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
    assert np.array_equal(filled(100, 3, np.float64, lambda some: 2 * cells[some]), 2 * cells)


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
        "values": ["-m", "linear-regression", "-m", "ridge", "-m", "decision-tree"],
    }

    def evaluated() -> list[dict[str, object]]:
        protocols = ("holdout", "{use: k-fold, folds: 3}")
        asked = [
            [str(files[name]), *models, "--protocol", protocol, "--jobs", "1", "--format", "json"]
            for name, models in words.items()
            for protocol in protocols
        ]
        cells = [cell for one in asked for cell in document(typed("eval", *one))["cells"]]
        return [{**cell, "seconds": None} for cell in cells]

    before = evaluated()
    assert {cell["status"] for cell in before} == {"done"}
    request.getfixturevalue("little_memory")
    monkeypatch.setattr(read_records, "LARGE", 1)
    monkeypatch.setattr(large_text, "BLOCK", 500)
    numbers = load(str(files["values"])).table.numbers
    assert isinstance(numbers.base, mmap.mmap)
    assert evaluated() == before
