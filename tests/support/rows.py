"""Rows written down by hand: numbers make a numeric column, text a nominal one, None an empty cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.tasks.supervised import LabelledRows, ValuedRows

Cells = Sequence[Any]


def table_of(columns: Mapping[str, Cells], described: Sequence[Column] = ()) -> Table:
    """A table of columns; those that are ``described`` have that kind and these levels."""
    by_name = {column.name: column for column in described}
    parts = [_part(by_name.get(name) or _inferred(name, cells), cells) for name, cells in columns.items()]
    return Table.of(parts, len(next(iter(columns.values()))))


def labelled(
    table: Table, labels: Sequence[str], classes: Sequence[str] = (), weight: Cells | None = None
) -> LabelledRows:
    """Rows with a class each; classes are sorted unless they are given."""
    names = tuple(classes or sorted(set(labels)))
    y = np.array([names.index(label) for label in labels], np.int32)
    return LabelledRows(
        table=table, rows=np.arange(len(y)), target="class", y=y, classes=names, weight=_weight(weight)
    )


def valued(table: Table, values: Sequence[float], weight: Cells | None = None) -> ValuedRows:
    """Rows with a number each."""
    y = np.array(values, np.float64)
    return ValuedRows(table=table, rows=np.arange(len(y)), target="value", y=y, weight=_weight(weight))


def _inferred(name: str, cells: Cells) -> Column:
    missing = any(cell is None for cell in cells)
    levels = tuple(sorted({cell for cell in cells if isinstance(cell, str)}))
    return Column(name, "nominal" if levels else "numeric", levels, missing)


def _part(column: Column, cells: Cells) -> tuple[Column, Any]:
    if column.coded:
        return column, np.array([-1 if cell is None else column.levels.index(cell) for cell in cells])
    return column, np.array([np.nan if cell is None else cell for cell in cells], np.float64)


def _weight(weight: Cells | None) -> Any:
    return None if weight is None else np.array(weight, np.float64)
