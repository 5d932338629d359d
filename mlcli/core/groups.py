"""Groups of rows by what is sensitive: those of one column, or of several together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Flags, Table

UNKNOWN = "missing"
"""What the group of rows is called whose cell is empty."""
EVERYBODY = "all rows"
SIMILARITY = 0.9
"""The answers about two rows are compared that are more alike than this, unless another threshold is given."""


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of rows that are there, by name; ``codes`` says which each row belongs to."""

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    codes: Codes

    @property
    def name(self) -> str:
        """The columns that make the groups."""
        return " × ".join(self.columns) or EVERYBODY

    @property
    def members(self) -> Flags:
        """Rows × groups: who belongs where."""
        return np.asarray(self.codes[:, None] == np.arange(len(self.labels)))

    def shares(self, weights: Array) -> Array:
        """The share of the weight that each group has."""
        totals = np.bincount(self.codes, weights, len(self.labels))
        return np.asarray(totals / totals.sum(), np.float64)


def sensitive_names(table: Table | None) -> tuple[str, ...]:
    """The sensitive columns that make groups, by levels or by bands."""
    return (
        ()
        if table is None
        else tuple(group_column.name for group_column in group_columns(table) if group_column.sensitive)
    )


def group_columns(table: Table) -> tuple[Column, ...]:
    """The columns of levels, and those of numbers in bands."""
    return tuple(column for column in table.columns if column.coded or column.bands)


def groups_by(table: Table | None, columns: Sequence[str]) -> Groups:
    """The groups that some columns make together; one of everybody where there is no column."""
    if table is None or not columns:
        return Groups((), (EVERYBODY,), np.zeros(0 if table is None else len(table), np.int32))
    by_name = {group_column.name: group_column for group_column in group_columns(table)}
    place, labels = np.zeros(len(table), np.int32), [""]
    for name in columns:
        levels = (*by_name[name].groups, UNKNOWN)
        pairs = place * len(levels) + _cells(table, by_name[name])
        there = np.bincount(pairs) > 0
        place = (np.cumsum(there, dtype=np.int32) - 1)[pairs]
        split = (divmod(pair, len(levels)) for pair in np.flatnonzero(there).tolist())
        labels = [", ".join(filter(None, (labels[before], levels[level]))) for before, level in split]
    return Groups(tuple(columns), tuple(labels), place)


def sensitive_groups(tables: Iterable[Table | None], columns: Sequence[str] | None, rows: int) -> Groups:
    """The groups of training rows that a method is to treat alike, by columns that are named, or by all sensitive.

    The first of the tables that has the columns says who belongs where.
    """
    known = [table for table in tables if table is not None]
    names = columns or next((results for table in known if (results := sensitive_names(table))), ())
    for table in known:
        if names and set(names) <= {group_column.name for group_column in group_columns(table)}:
            return groups_by(table, names)
    if columns:
        there = [group_column.name for table in known for group_column in group_columns(table)]
        absent = next((name for name in columns if name not in there), columns[0])
        raise FitError(f"there is no column of levels '{absent}'", hint=did_you_mean(absent, there, "columns"))
    return Groups((), (EVERYBODY,), np.zeros(rows, np.int32))


def _cells(table: Table, column: Column) -> Codes:
    """The group of each row; the last is that of empty cells."""
    cells: Any = table.cells(column.name)
    if column.coded:
        return np.where(cells < 0, len(column.groups), cells).astype(np.int32)
    numbers = cells.astype(np.float64)
    band = np.searchsorted(np.array(column.bands), numbers, side="right")
    return np.where(np.isnan(numbers), len(column.groups), band).astype(np.int32)
