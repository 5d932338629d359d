"""Numbers moved and stretched column by column: what the scaling steps have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table


def rescaled(table: Table, origin: Array, unit: Array) -> Table:
    """(x − origin) / unit in each numeric column, 0 where the unit is 0; empty cells stay empty."""
    varies = unit > 0
    # A cell times 0 is 0, and an empty one stays empty.
    return replace(table, numbers=(table.numbers - origin) / np.where(varies, unit, 1.0) * varies)


def restored(columns: Sequence[Column], table: Table, origin: Array, unit: Array) -> Table:
    """What ``rescaled`` was given; a column without a unit has its one value."""
    return replace(table, columns=tuple(columns), numbers=table.numbers * unit + origin)


def log_stretch(unit: Array) -> float:
    """The logarithm of how many times larger dividing by the units makes a volume; constant columns have none."""
    return float(-np.log(unit[unit > 0]).sum())


def scale_table(
    title: str, names: tuple[str, ...], columns: Sequence[Column], *learned: Array
) -> findings.Explanation:
    """A few numbers for each numeric column."""
    numeric = (column.name for column in columns if not column.coded)
    rows = tuple(zip(numeric, *(array.tolist() for array in learned), strict=True))
    return (findings.Table(title, ("column", *names), rows),) if rows else ()
