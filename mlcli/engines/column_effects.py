"""The effect of each column on the prediction for a row: how the prediction changes if the cell is hidden.

A hidden cell takes quantiles of its column in the training rows in turn, and the predictions are averaged: this is
the prediction if only the other cells were known (Štrumbelj & Kononenko 2010, for one column at a time). The whole
pipeline predicts, so that columns are those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import Array, Table, cell_text


def usual_values(table: Table) -> Table:
    """24 quantiles of each column, each sorted for itself; the rows of this table mean nothing."""
    if not len(table):
        return table
    count = 24
    at = ((np.arange(count) + 0.5) / count * len(table)).astype(np.intp)
    return Table(table.columns, np.sort(table.numbers, axis=0)[at], np.sort(table.codes, axis=0)[at])


def without_each(outputs_of: Callable[[Table], Array], row: Table, usual: Table) -> Array:
    """The mean outputs for one row with each column hidden (columns × outputs)."""
    repeated, results = row.take(np.zeros(len(usual), np.intp)), []
    for hidden in row.columns:
        usual_cells = zip(repeated.parts(), usual.parts(), strict=True)
        parts = [
            (column, other if column.name == hidden.name else cells) for (column, cells), (_, other) in usual_cells
        ]
        results.append(outputs_of(Table.of(parts, len(usual))).mean(axis=0))
    return np.array(results)


def with_column(rows: Table, name: str, values: float | Array) -> Table:
    """The rows with other values of one column of numbers."""
    numbers = rows.numbers.copy()
    index = next(index for index, column in enumerate(rows.number_columns) if column.name == name)
    numbers[:, index] = values
    return Table(rows.columns, numbers, rows.codes)


def column_effects(
    outputs_of: Callable[[Table], Array], row: Table, usual: Table, names: Sequence[str], chosen: int
) -> findings.Table:
    """The effect of removing each feature on one of the outputs; the 15 largest."""
    outputs = outputs_of(row)[0]
    hidden = without_each(outputs_of, row, usual)[:, chosen]
    added = outputs[chosen] - hidden
    cells = [cell_text(column, float(cells[0])) for column, cells in row.parts()]
    order = np.argsort(-np.abs(added), kind="stable")
    lines = [(row.columns[j].name, cells[j], float(hidden[j]), float(added[j])) for j in order.tolist()]
    shown = lines[:15]
    note = f"Without a feature: the mean prediction over {len(usual)} typical values of it."
    if len(shown) < len(lines):
        note += f" {len(lines) - len(shown)} features that contribute less are left out."
    header = ("feature", "value", f"{names[chosen]} without it", "contribution")
    title = f"Effect of removing each feature on {names[chosen]}"
    return findings.Table(title, header, tuple(shown), note=note)
