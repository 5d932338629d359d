"""Ordinal: turns the levels of ordinal columns into evenly spaced numbers from 0 to 1.

Formula:
    The r-th of V levels, counted from 0, becomes r / (V − 1): three levels are 0, 0.5 and 1.

Assumes:
    Levels declared in ascending order, and steps between them that are alike: a linear model then has one weight
    for all of them. `{use: one-hot, params: {columns: ordinal}}` assumes neither, for a weight per level.

Cost:
    One look-up per cell.

Choices:
    Without `columns` only ordinal columns change (rank encoding, ordinal encoding). Integer encoding, or label
    encoding, is `{use: ordinal, params: {columns: nominal}}`: nominal and boolean columns that are named become
    the numbers 0, 1, 2 and so on of their levels, whose order then means nothing. Empty cells stay empty.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core import findings
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Cells, Codes, Table
from mlcli.prepare._columns import ByColumn, ComputeCells, unchanged


@register("ordinal", reference="Gower 1971, A general coefficient of similarity", inserted_for="ordinal levels")
class Ordinal(ByColumn):
    """Levels as ranks."""

    follows_scaling = True

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """Of levels that change, a column of their numbers; the last of these is for the code -1."""
        if not self._changes(column):
            yield column, unchanged
            return
        numeric = Column(column.name, missing=column.missing, context=column.context)
        yield numeric, np.append(_places(column), np.nan).__getitem__

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The level whose number is nearest."""
        cells = (table.cells(column.name) for column in self.columns_)
        parts = (
            (column, _nearest(column, cell) if self._changes(column) else cell)
            for column, cell in zip(self.columns_, cells, strict=True)
        )
        return Table.of(parts, len(table))

    def _changes(self, column: Column) -> bool:
        return column.kind == "ordinal" or (column.coded and self.columns is not None)

    def explain(self) -> findings.Explanation:
        """The number of each level."""
        rows = tuple(
            (column.name, level, place)
            for column in self.columns_
            if self._changes(column)
            for level, place in zip(column.levels, _places(column).tolist(), strict=True)
        )
        header = ("column", "level", "number")
        note = "Neighbouring levels are taken to be equally far apart; one-hot would take nothing for granted."
        return (findings.Table("Levels as numbers", header, rows, note=note),) if rows else ()


def _places(column: Column) -> Array:
    """The number of each level."""
    ranks = np.arange(len(column.levels), dtype=np.float64)
    return ranks / max(len(ranks) - 1, 1) if column.kind == "ordinal" else ranks


def _nearest(column: Column, cells: Cells) -> Codes:
    """The code of the level whose number is nearest; an empty cell stays empty."""
    numbers = np.asarray(cells, np.float64)
    apart = np.abs(np.nan_to_num(numbers)[:, None] - _places(column))
    return np.where(np.isnan(numbers), MISSING_CODE, apart.argmin(axis=1)).astype(np.int32)
