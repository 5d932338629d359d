"""Ordinal: turns the levels of ordinal columns into evenly spaced numbers from 0 to 1.

Formula:
    The r-th of V levels, counted from 0, becomes r / (V − 1): three levels are 0, 0.5 and 1.

Assumes:
    Levels declared in ascending order, at equal distances: a linear model then has one coefficient for all of
    them. `{use: one-hot, params: {columns: ordinal}}` assumes neither, at the price of a coefficient per level.

Cost:
    One look-up per cell.

Choices:
    Without `columns` only ordinal columns change (rank encoding, ordinal encoding). Integer encoding, or label
    encoding, is `{use: ordinal, params: {columns: nominal}}`: the levels of nominal and boolean columns that are
    named become 0, 1, 2 and so on, an arbitrary order. Missing values stay missing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core import findings
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Array, Cells, Table
from mlcli.prepare._columns import ByColumn, ComputeCells, unchanged


@register("ordinal", reference="Gower 1971, A general coefficient of similarity", inserted_for="ordinal levels")
class Ordinal(ByColumn):
    """Encode levels as ranks."""

    follows_scaling = True

    def derive(self, column: Column) -> Iterator[tuple[Column, ComputeCells]]:
        """A numeric column in place of the levels."""
        if not self._changes(column):
            yield column, unchanged
            return
        numeric = Column(column.name, missing=column.missing, context=column.context)
        # The last number is for the code -1 of missing values.
        yield numeric, np.append(_numbers(column), np.nan).__getitem__

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The level whose number is nearest."""
        parts: list[tuple[Column, Cells]] = []
        for column in self.columns_:
            cells = table.cells(column.name)
            if self._changes(column):
                numbers = np.asarray(cells, np.float64)
                distances = np.abs(np.nan_to_num(numbers)[:, None] - _numbers(column))
                cells = np.where(np.isnan(numbers), MISSING_CODE, distances.argmin(axis=1)).astype(np.int32)
            parts.append((column, cells))
        return Table.of(parts, len(table))

    def _changes(self, column: Column) -> bool:
        return column.kind == "ordinal" or (column.coded and self.columns is not None)

    def explain(self) -> findings.Explanation:
        """The number of each level."""
        rows = tuple(
            (column.name, level, number)
            for column in self.columns_
            if self._changes(column)
            for level, number in zip(column.levels, _numbers(column).tolist(), strict=True)
        )
        header = ("column", "level", "number")
        note = "Neighbouring levels are assumed to be equally far apart; one-hot makes no such assumption."
        return (findings.Table("Levels as numbers", header, rows, note=note),) if rows else ()


def _numbers(column: Column) -> Array:
    """The number of each level."""
    ranks = np.arange(len(column.levels), dtype=np.float64)
    return ranks / max(len(ranks) - 1, 1) if column.kind == "ordinal" else ranks
