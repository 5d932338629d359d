"""Rows of numbers without labels, for golden cases of densities and projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.data.load import load
from mlcli.tasks.table import kind_named


def numbers_of(name: str) -> Array:
    """The numeric features of a shipped dataset."""
    dataset = load(name)
    names = [column.name for column in dataset.schema.features() if not column.coded]
    return dataset.table.select(names).numbers


def unlabelled(X: Array, kind: str, weight: Array | None = None) -> Any:
    """Rows of columns named x0, x1, ..."""
    columns = tuple(Column(f"x{place}") for place in range(X.shape[1]))
    table = Table(columns, np.ascontiguousarray(X), np.empty((len(X), 0), np.int32))
    labels = np.full(len(X), -1, np.int32)
    return kind_named(kind).rows(table=table, rows=np.arange(len(X)), labels=labels, weight=weight)
