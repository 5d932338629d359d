"""Rare levels: keeps the most frequent levels of a nominal column and makes one level of all others.

Formula:
    The `most` levels with the largest weight in the training rows stay; every other level becomes `rare levels`.

Assumes:
    That a level seen in few rows says little by itself.

Cost:
    One pass over the cells.

Choices:
    Nominal columns with at most `most` levels stay as they are. Of equally frequent levels the first is kept.
    Empty cells stay empty. It is inserted before `one-hot` where a column has more than 50 levels: 5,000 different
    postcodes would become 5,000 columns. Name `one-hot` among the steps to encode all levels.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.model import Step
from mlcli.core.names import counted, free_name, listed
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import MISSING_CODE, Codes, Table


@register(
    "rare-levels",
    reference="Kuhn & Johnson 2019, Feature Engineering and Selection, chapter 5",
    inserted_for="rare levels",
)
class RareLevels(Step):
    """The rare levels of a nominal column as one level."""

    follows_scaling = True
    merges_levels = True

    most: int = param(50, "how many levels of a column are kept", ge=1)

    kept_: tuple[Codes, ...] = learned()
    """The codes of the levels that are kept, for each column that changes."""

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Find the most frequent levels of each column with too many."""
        kept = []
        for column, codes in zip(data.table.code_columns, data.table.codes.T, strict=True):
            if self._changes(column):
                present = codes != MISSING_CODE
                totals = np.bincount(codes[present], data.weights[present], minlength=len(column.levels))
                kept.append(np.sort(np.argsort(-totals, kind="stable")[: self.most]).astype(np.int32))
        self.kept_ = tuple(kept)

    def _changes(self, column: Column) -> bool:
        return column.kind == "nominal" and len(column.levels) > self.most

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns with all levels that may be left; which ones are is learned."""
        return tuple(
            replace(column, levels=(*column.levels, _rest_of(column))) if self._changes(column) else column
            for column in columns
        )

    def transform(self, table: Table) -> Table:
        """The table with fewer levels."""
        kept_codes = iter(self.kept_)
        parts = [
            _merged(column, np.asarray(cells, np.int32), next(kept_codes))
            if self._changes(column)
            else (column, cells)
            for column, cells in table.parts()
        ]
        return Table.of(parts, len(table))

    def check_learned(self) -> None:
        """The codes of some levels of each column that changes."""
        changed = [column for column in self.columns_ if self._changes(column)]
        if len(changed) != len(self.kept_):
            raise ValueError("levels of other columns")
        for column, kept in zip(changed, self.kept_, strict=True):
            if not np.isin(kept, np.arange(len(column.levels))).all() or len(set(kept.tolist())) != self.most:
                raise ValueError(f"levels that '{column.name}' does not have")

    def explain(self) -> findings.Explanation:
        """The levels that are kept of each column that changes."""
        changed = [column for column in self.columns_ if self._changes(column)]
        rows = tuple(
            (column.name, len(column.levels), listed([column.levels[code] for code in kept], 10))
            for column, kept in zip(changed, self.kept_, strict=True)
        )
        title = f"The {counted(self.most, 'most frequent level')} of each column; all others are one level"
        if not rows:
            return (findings.Lines("Rare levels", (f"no column has more than {counted(self.most, 'level')}",)),)
        return (findings.Table(title, ("column", "levels", "kept"), rows),)


def _rest_of(column: Column) -> str:
    """What the level of all others is called."""
    return free_name("rare levels", column.levels)


def _merged(column: Column, codes: Codes, kept: Codes) -> tuple[Column, Codes]:
    """A column whose levels are the kept ones and one for the rest; its cells."""
    new_codes = np.full(len(column.levels) + 1, len(kept), np.int32)
    new_codes[kept] = np.arange(len(kept))
    new_codes[MISSING_CODE] = MISSING_CODE
    levels = tuple(column.levels[code] for code in kept)
    return replace(column, levels=(*levels, _rest_of(column))), new_codes[codes]
