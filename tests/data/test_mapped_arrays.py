"""A table too large for memory is mapped from a file when it is read, and what would copy it is refused."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from mlcli.core.errors import FitError, UsageError
from mlcli.core.moments import memory
from mlcli.core.pipeline import learn
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.data import large_text, records
from mlcli.data.load import load
from mlcli.data.mapped_arrays import MappedArray
from mlcli.tasks.supervised import LabelledRows
from tests.support.shell import typed


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


@pytest.mark.parametrize(("size", "is_mapped"), [("1 kB", True), ("1 GB", False)])
def test_arrays_keep_what_is_in_them(monkeypatch: pytest.MonkeyPatch, size: str, is_mapped: bool) -> None:
    monkeypatch.setenv("MLCLI_MEMORY", size)
    array, cells = MappedArray(30, 4, np.float64), np.arange(160.0).reshape(40, 4)
    array.cells[:] = cells[:30]
    array.resize(40)
    array.cells[30:] = cells[30:]
    array.keep(np.array([1, 3]))
    assert np.array_equal(array.cells, cells[:, [1, 3]])
    array.resize(7)
    assert np.array_equal(array.cells, cells[:7, [1, 3]])
    assert isinstance(array.cells.base, mmap.mmap) == is_mapped


def test_a_disk_that_is_too_full_is_told_of_before_anything_is_written() -> None:
    with pytest.raises(OSError, match="No space left on device"):
        MappedArray(1 << 40, 1, np.float64)


def test_a_large_file_is_mapped_and_holds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = np.random.default_rng(0).normal(size=(300, 3)).round(3)
    file = tmp_path / "large.csv"
    file.write_text("\n".join(["a,b,c", *(",".join(map(str, row)) for row in cells.tolist())]) + "\n")
    assert np.array_equal(load(str(file)).table.numbers, cells)
    monkeypatch.setenv("MLCLI_MEMORY", "1 kB")
    monkeypatch.setattr(records, "LARGE", 1)
    monkeypatch.setattr(large_text, "BLOCK", 500)
    numbers = load(str(file)).table.numbers
    assert isinstance(numbers.base, mmap.mmap)
    assert np.array_equal(numbers, cells)


def rows(n: int = 12000, columns: int = 128) -> LabelledRows:
    """Rows of 12 MB with a class."""
    numbers = np.random.default_rng(0).normal(size=(n, columns))
    table = Table(tuple(Column(f"x{j}") for j in range(columns)), numbers, np.empty((n, 0), np.int32))
    return LabelledRows(
        table=table, rows=np.arange(n), y=(numbers[:, 0] > 0).astype(np.int32), classes=("no", "yes")
    )


def test_what_would_copy_a_table_is_refused_with_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLCLI_MEMORY", "16 MB")
    with pytest.raises(
        FitError, match=r"(?s)knn copies its 12,000 rows, .* 46.9 MiB .* 15.3 MiB .*naive-bayes.*lda"
    ):
        learn(MODELS.load("knn")(), rows(), np.random.default_rng(0))
    with pytest.raises(FitError, match=r"(?s)100 trees of .* nodes need about .*max_leaves"):
        learn(MODELS.load("random-forest")(), rows(), np.random.default_rng(0))
    learn(MODELS.load("naive-bayes")(), rows(), np.random.default_rng(0))


def test_a_split_that_memory_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("x,y\n" + "".join(f"{k},{k % 2}\n" for k in range(100)))
    monkeypatch.setenv("MLCLI_MEMORY", "500 B")
    shown = typed("eval", str(file), "-m", "naive-bayes", "--target", "y", "--protocol", "holdout")
    assert "a split copies its 100 rows" in shown.output
