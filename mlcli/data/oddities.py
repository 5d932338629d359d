"""Columns that a reader of results should know of: constant ones, and ones with very many levels."""

from __future__ import annotations

import numpy as np

from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.data.dataset import Dataset
from mlcli.tasks.table import kind_named

MANY_LEVELS = 100
ROWS_PER_LEVEL = 2
ROWS_TO_JUDGE = 20
NOTHING_TO_LEARN_FROM = "there is no feature, so no model can do more than the baseline"


def odd_columns(dataset: Dataset) -> tuple[str, ...]:
    """A sentence on having no features, one on constant ones, and one on those with very many levels."""
    constant = [column.name for column in dataset.schema.features() if is_constant(dataset, column)]
    many = [
        f"{column.name} ({len(column.levels)})"
        for column in dataset.schema.features()
        if has_many_levels(column, len(dataset))
    ]
    notes = [] if _seen(dataset) else [NOTHING_TO_LEARN_FROM]
    if constant:
        notes.append(f"the same in every row, so nothing can be learned from it: {listed(constant)}")
    if many:
        notes.append(f"very many levels for {len(dataset)} rows: {listed(many)}")
    return tuple(notes)


def _seen(dataset: Dataset) -> bool:
    """Whether models see any column: features, or those by whose roles the task is known."""
    return bool(dataset.schema.features() or (dataset.task and kind_named(dataset.task).marked_by))


def is_constant(dataset: Dataset, column: Column) -> bool:
    """Whether a column has one value in all rows that have any."""
    cells = dataset.table.cells(column.name).astype(np.float64)
    present = cells[cells >= 0] if column.coded else cells[~np.isnan(cells)]
    return len(present) > 0 and bool((present == present[0]).all())


def has_many_levels(column: Column, rows: int) -> bool:
    """Whether a coded column has so many levels that each is rare."""
    crowded = rows >= ROWS_TO_JUDGE and rows < ROWS_PER_LEVEL * len(column.levels)
    return column.coded and (len(column.levels) > MANY_LEVELS or crowded)
