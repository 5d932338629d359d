"""Every shipped dataset is what its description said (tests/data/shipped.json holds those numbers)."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import DataError
from mlcli.core.strict_yaml import read
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.shipped import datasets_folder, shipped, shipped_paths

EXPECTED: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("shipped.json").read_text())


def as_described(name: str) -> Dataset:
    """The dataset with its target; as baskets, which have none, the supermarket would lose it."""
    return load(name, task="classification" if name == "supermarket_2000" else None)


def test_all_described_datasets_are_shipped() -> None:
    assert set(shipped()) == set(EXPECTED)
    assert all(summary for summary in shipped().values())


@pytest.mark.parametrize("name", EXPECTED)
def test_a_shipped_dataset_is_as_described(name: str) -> None:
    expected, dataset = EXPECTED[name], as_described(name)
    assert hashlib.sha256(shipped_paths()[name].read_bytes()).hexdigest() == expected["sha256"]
    assert len(dataset) == expected["rows"]
    assert dataset.schema.names() == tuple(expected["columns"])
    target = dataset.schema.the("target")
    assert (target.name if target else None) == expected["target"]
    roles = {field.column.name: field.role for field in dataset.schema if field.role not in ("feature", "target")}
    assert roles == expected["roles"]
    assert all(field.source == "declared" for field in dataset.schema)


@pytest.mark.parametrize("name", EXPECTED)
def test_kinds_missing_cells_and_classes_are_as_described(name: str) -> None:
    expected, dataset = EXPECTED[name], as_described(name)
    # Baskets: an empty cell means "not in the basket", so the described gaps are the level f of boolean columns.
    baskets = name == "supermarket_2000"
    kinds = {field.column.name: field.column.kind for field in dataset.schema}
    given = {
        column: "boolean" if baskets and column != "total" else kind
        for column, kind in expected["columns"].items()
    }
    assert kinds == given
    missing = int(np.isnan(dataset.table.numbers).sum() + (dataset.table.codes < 0).sum())
    empty = int((dataset.table.codes[:, :-1] == 0).sum()) if baskets else missing
    assert (empty, missing) == (expected["missing"], 0 if baskets else expected["missing"])
    if expected["classes"] is not None:
        target = dataset.schema.the("target")
        assert target is not None
        codes = dataset.table.cells(target.name).astype(np.int64)
        counts = dict(zip(target.levels, np.bincount(codes, minlength=len(target.levels)).tolist(), strict=True))
        assert {level: count for level, count in counts.items() if count} == expected["classes"]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_shipped_sidecar_names_source_licence_and_citation(name: str) -> None:
    sidecar = read(datasets_folder() / f"{name}.yaml", DataError).value
    assert all(sidecar[key] for key in ("source", "licence", "citation", "summary"))


def test_digits_that_name_levels_stay_levels_in_numeric_order() -> None:
    target = load("digits").schema.the("target")
    assert target is not None
    assert target.levels == tuple("0123456789")


def test_the_listing_imports_neither_numpy_nor_pandas() -> None:
    heavy = "{'numpy', 'pandas'}"
    code = (
        f"import sys; from mlcli.data.shipped import shipped; shipped(); print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_loading_iris_imports_nothing_heavier_than_numpy() -> None:
    heavy = "{'pandas', 'scipy', 'numba', 'joblib', 'sklearn', 'pydantic', 'matplotlib'}"
    code = f"import sys; from mlcli.data.load import load; load('iris'); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", sorted(set(EXPECTED) - {"supermarket_2000"}))
def test_every_cell_is_what_stands_in_the_file(name: str) -> None:
    dataset = load(name)
    with shipped_paths()[name].open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for field in dataset.schema:
        column, given = field.column, [row[field.column.name] for row in rows]
        cells = dataset.table.cells(column.name)
        if column.coded:
            assert [column.levels[code] if code >= 0 else "" for code in cells.astype(int).tolist()] == given
        else:
            expected = [float(cell) if cell else np.nan for cell in given]
            assert np.array_equal(cells.astype(float), expected, equal_nan=True)
