"""What each column does to the answer about a row: how the answer changes where the cell is hidden.

A hidden cell takes usual values of its column in turn, those that training rows have at equal shares, and the
answers are averaged: so the question is what would be answered, were only the other cells known (Štrumbelj &
Kononenko 2010, for one column at a time). It asks the whole pipeline, so that columns are those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import Array, Table, cell_text

USUAL = 24
"""How many usual values of a column are kept."""
MOST_SHOWN = 15
HOW = "Without a feature: the mean prediction over {count} typical values of it."


def usual_values(table: Table) -> Table:
    """Each column's values at equal shares of its rows, sorted for itself; the rows mean nothing."""
    if not len(table):
        return table
    at = ((np.arange(USUAL) + 0.5) / USUAL * len(table)).astype(np.intp)
    return Table(table.columns, np.sort(table.numbers, axis=0)[at], np.sort(table.codes, axis=0)[at])


def without_each(outputs_of: Callable[[Table], Array], row: Table, usual: Table) -> Array:
    """The mean outputs about one row with each column hidden (columns × outputs)."""
    repeated = row.take(np.zeros(len(usual), np.intp))
    results = [outputs_of(_replaced(repeated, usual, column.name)).mean(axis=0) for column in row.columns]
    return np.array(results)


def _replaced(rows: Table, usual: Table, name: str) -> Table:
    """The rows with the usual values of one column."""
    numbers, codes = rows.numbers.copy(), rows.codes.copy()
    for block, other, columns in (
        (numbers, usual.numbers, rows.number_columns),
        (codes, usual.codes, rows.code_columns),
    ):
        for index, column in enumerate(columns):
            if column.name == name:
                block[:, index] = other[:, index]
    return Table(rows.columns, numbers, codes)


def with_column(rows: Table, name: str, values: float | Array) -> Table:
    """The rows with other values of one column of numbers."""
    numbers = rows.numbers.copy()
    index = next(index for index, column in enumerate(rows.number_columns) if column.name == name)
    numbers[:, index] = values
    return Table(rows.columns, numbers, rows.codes)


def column_effects(
    outputs_of: Callable[[Table], Array], row: Table, usual: Table, names: Sequence[str], chosen: int
) -> findings.Table:
    """The effect of removing each feature on one of the outputs, those that matter most first."""
    outputs = outputs_of(row)[0]
    hidden = without_each(outputs_of, row, usual)[:, chosen]
    added = outputs[chosen] - hidden
    cells = [cell_text(column, float(cells[0])) for column, cells in row.parts()]
    order = np.argsort(-np.abs(added), kind="stable")
    lines = [(row.columns[j].name, cells[j], float(hidden[j]), float(added[j])) for j in order.tolist()]
    more, note = len(lines) - MOST_SHOWN, HOW.format(count=len(usual))
    note += f" {more} features that contribute less are left out." if more > 0 else ""
    header = ("feature", "value", f"{names[chosen]} without it", "contribution")
    title = f"Effect of removing each feature on {names[chosen]}"
    return findings.Table(title, header, tuple(lines[:MOST_SHOWN]), note=note)
