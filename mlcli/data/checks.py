"""What is said of columns while they are read: none to learn from, constant, empty, of very many levels.

The checks of ``mlcli audit`` stand in ``mlcli/checks``; they ask the same questions of this file.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.data.dataset import Dataset
from mlcli.tasks.table import kind_named

MUCH_MISSING = 0.3
MANY_LEVELS = 100
ROWS_PER_LEVEL = 2
ROWS_TO_JUDGE = 20
GLANCE = 100
"""Rows that mostly tell that a column varies."""
NOTHING_TO_LEARN_FROM = "there is no feature, so no model can do more than the baseline"


def column_warnings(dataset: Dataset) -> tuple[str, ...]:
    """A sentence on having no features, and on those that are constant, have many gaps, or very many levels."""
    features = dataset.schema.features()
    constant = [column.name for column in features if is_constant(dataset, column)]
    many = [f"{one.name} ({len(one.levels)})" for one in features if has_many_levels(one, len(dataset))]
    shares = {column.name: share_missing(dataset, column) for column in features}
    empty = [f"{name} ({share:.0%})" for name, share in shares.items() if share > MUCH_MISSING]
    notes = [NOTHING_TO_LEARN_FROM] if shows_nothing(dataset) else []
    if constant:
        notes.append(f"the same in every row, so nothing can be learned from it: {listed(constant)}")
    if empty and len(dataset) >= ROWS_TO_JUDGE:
        notes.append(f"more than {100 * MUCH_MISSING:.0f} % of the cells are missing: {listed(empty)}")
    if many:
        notes.append(f"very many levels for {len(dataset)} rows: {listed(many)}")
    return tuple(notes)


def shows_nothing(dataset: Dataset) -> bool:
    """Whether models see no column: neither features, nor those by whose roles the task is known."""
    return not (dataset.schema.features() or (dataset.task and kind_named(dataset.task).marked_by))


def share_missing(dataset: Dataset, column: Column) -> float:
    """The share of the cells that are empty."""
    return 1 - len(_cells(dataset, column)) / len(dataset) if column.missing and len(dataset) else 0.0


def is_constant(dataset: Dataset, column: Column) -> bool:
    """Whether a column has one value in all rows that have any."""
    some = _cells(dataset, column, GLANCE)
    if len(some) and (some != some[0]).any():
        return False
    cells = _cells(dataset, column)
    return len(cells) > 0 and bool((cells == cells[0]).all())


def has_many_levels(column: Column, rows: int) -> bool:
    """Whether a coded column has so many levels that each is rare."""
    crowded = rows >= ROWS_TO_JUDGE and rows < ROWS_PER_LEVEL * len(column.levels)
    return column.coded and (len(column.levels) > MANY_LEVELS or crowded)


def _cells(dataset: Dataset, column: Column, rows: int | None = None) -> Array:
    """The cells of a column that are not missing, of all rows or the first; codes as numbers."""
    cells = dataset.table.cells(column.name)[:rows].astype(np.float64)
    return cells[cells >= 0] if column.coded else cells[~np.isnan(cells)]
