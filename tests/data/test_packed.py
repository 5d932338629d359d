"""Packed CSV files and Parquet files are read as the table that they hold, wherever a dataset is."""

from __future__ import annotations

import gzip
import shutil
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mlcli.core.errors import DataError
from mlcli.data import source as sources
from mlcli.data.load import load
from mlcli.data.new_rows import new_rows
from mlcli.data.records import read_file
from mlcli.data.shipped import datasets_folder
from mlcli.data.write_sidecar import write_sidecar


@pytest.fixture
def iris(tmp_path: Path) -> Path:
    """A copy of iris with its sidecar, to lie beside other forms of it."""
    for suffix in (".csv", ".yaml"):
        shutil.copy(datasets_folder() / f"iris{suffix}", tmp_path)
    return tmp_path / "iris.csv"


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_a_packed_file_is_the_dataset_that_it_holds(iris: Path) -> None:
    packed = iris.with_name("iris.csv.gz")
    packed.write_bytes(gzip.compress(iris.read_bytes()[:1000]) + gzip.compress(iris.read_bytes()[1000:]))
    one, other = load(str(iris)), load(str(packed))
    assert (one.name, one.content, one.notes) == (other.name, other.content, other.notes)
    assert new_rows(str(packed), one.schema.features()).table.numbers.shape == (150, 4)
    iris.with_suffix(".yaml").unlink()
    assert write_sidecar(other) == iris.with_suffix(".yaml")


def test_what_cannot_be_unpacked_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "my.csv.gz"
    for content in (gzip.compress(b"a,b\n1,2\n")[:-6], b"\x1f\x8brest", gzip.compress(b"a,b\n1,2\n") + b"rest"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"my.csv.gz: cannot be unpacked with gzip"):
            read_file(path)
    monkeypatch.setattr(sources, "MOST_UNPACKED", 1 << 20)
    path.write_bytes(gzip.compress(bytes(1 << 21)))
    with pytest.raises(DataError, match="unpacks to more than"):
        read_file(path)


def test_a_parquet_file_is_the_dataset_that_it_holds(iris: Path) -> None:
    from pyarrow import csv

    pq.write_table(csv.read_csv(iris), iris.with_suffix(".parquet"))
    one, other = load(str(iris)), load(str(iris.with_suffix(".parquet")))
    assert (one.name, one.content, one.notes) == (other.name, other.content, other.notes)


def test_kinds_of_parquet_columns_are_kept(tmp_path: Path) -> None:
    midnight, noon = datetime(2024, 1, 2), datetime(2024, 1, 2, 12)
    path = parquet(
        tmp_path / "my.parquet",
        whole=pa.array([1, None, 3]),
        share=pa.array([0.5, float("nan"), 1e-320]),
        code=pa.array([2**53 + 1, 2, 3]),
        plain=pa.array(["1", "2", None]),
        kind=pa.array([" u", "v", "u"]).dictionary_encode(),
        sold=pa.array([True, None, False]),
        day=pa.array([midnight, midnight, None]),
        at=pa.array([noon, midnight, None], pa.timestamp("s")),
        price=pa.array([Decimal("1.50"), Decimal("-2.25"), None]),
    )
    dataset = load(str(path), task="clustering")
    kinds = {field.column.name: field.column.levels or field.column.kind for field in dataset.schema}
    assert kinds == {
        "whole": "numeric",
        "share": "numeric",
        "code": ("2", "3", "9007199254740993"),
        "plain": ("1", "2"),
        "kind": ("u", "v"),
        "sold": ("false", "true"),
        "day": ("2024-01-02",),
        "at": ("2024-01-02 00:00:00", "2024-01-02 12:00:00"),
        "price": "numeric",
    }
    assert np.array_equal(dataset.table.cells("share"), [0.5, np.nan, 1e-320], equal_nan=True)
    assert np.array_equal(dataset.table.cells("price"), [1.5, -2.25, np.nan], equal_nan=True)
    assert "NaN in 1 cells of column 'share' was read as missing" in dataset.notes
    assert "blanks around cells were dropped in columns kind" in dataset.notes
    assert read_file(path).column("whole").cells() == ["1", "", "3"]


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pa.array([1.0, float("inf")]), "my.parquet, row 2, column 'x': the cell is infinite"),
        (pa.array([[1], [2]]), "my.parquet: column 'x' holds no numbers and no words, but list<"),
        (pa.array([b"a", b"b"]), "my.parquet: column 'x' holds no numbers and no words, but binary"),
    ],
)
def test_cells_that_a_table_cannot_hold_are_refused(tmp_path: Path, column: Any, what: str) -> None:
    with pytest.raises(DataError) as caught:
        read_file(parquet(tmp_path / "my.parquet", x=column))
    assert what in str(caught.value)


def test_a_target_that_does_not_fit_is_named_by_its_row(tmp_path: Path) -> None:
    path = parquet(tmp_path / "my.parquet", a=[1.0, 2.0], y=["u", "v"])
    with pytest.raises(DataError, match=r"my.parquet, row 1, column 'y': 'u' is not a number"):
        load(str(path), task="regression")


def test_without_pyarrow_the_way_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path / "my.parquet", a=[1])
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=r"needs pyarrow") as caught:
        read_file(path)
    assert "pip install 'mlcli[parquet]'" in caught.value.problems[0].hint


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path / "my.parquet", a=[1])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_file(path)
