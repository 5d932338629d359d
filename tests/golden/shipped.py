"""Rows of shipped datasets as numbers, for golden cases beside scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.data.load import load
from mlcli.tasks.table import kind_of


def as_they_are(name: str) -> Any:
    """The rows of a shipped dataset."""
    dataset = load(name)
    kind = kind_of(dataset.schema)
    assert kind is not None
    return kind.rows.from_table(dataset.table, dataset.schema)


def in_numbers(name: str) -> Any:
    """The rows of a shipped dataset; each level of a coded column is a column of zeros and ones."""
    data = as_they_are(name)
    levels = [np.eye(len(column.levels))[cells] for column, cells in data.table.parts() if column.coded]
    return with_numbers(data, np.column_stack([data.table.numbers, *levels]))


def standardised(name: str) -> Any:
    """The same, each column with mean 0 and variance 1."""
    data = in_numbers(name)
    X = data.table.numbers
    return with_numbers(data, (X - X.mean(axis=0)) / X.std(axis=0))


def with_numbers(data: Any, numbers: Array) -> Any:
    """The same rows behind other numbers."""
    return data.with_table(numeric(numbers))


def numeric(numbers: Array) -> Table:
    """A table of numbers only."""
    columns = tuple(Column(f"x{i}") for i in range(numbers.shape[1]))
    return Table(columns, np.ascontiguousarray(numbers, np.float64), np.empty((len(numbers), 0), np.int32))


def weighted(data: Any, seed: int = 1) -> Any:
    """The same rows, about half of them with weight 0, the others with weight 1."""
    return replace(data, weight=np.random.default_rng(seed).integers(0, 2, len(data)).astype(np.float64))
