"""A table in two blocks: numbers, and integer codes for columns whose cells are levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.schema import Column

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Rows = NDArray[np.intp]
Flags = NDArray[np.bool_]
Cells = NDArray[np.generic]
"""The cells of a column: numbers, or codes of levels."""
Cell = TypeVar("Cell", bound=np.generic)

MISSING_CODE = -1
"""The code of an empty cell, and of a level that was not there in training."""


@dataclass(frozen=True, eq=False)
class Table:
    """``numbers`` is n × p (NaN where missing), ``codes`` is n × q (-1 where missing).

    ``columns`` keeps the order of the file; the i-th numeric column is ``numbers[:, i]`` and the j-th coded one
    ``codes[:, j]``.
    """

    columns: tuple[Column, ...]
    numbers: Array
    codes: Codes

    @staticmethod
    def of(parts: Iterable[tuple[Column, Cells]], rows: int) -> Table:
        """A table from columns and their cells."""
        parts = list(parts)
        numbers = [cells for column, cells in parts if not column.coded]
        codes = [cells for column, cells in parts if column.coded]
        return Table(
            columns=tuple(column for column, _ in parts),
            numbers=_side_by_side(numbers, rows, np.float64),
            codes=_side_by_side(codes, rows, np.int32),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def number_columns(self) -> tuple[Column, ...]:
        """The columns of ``numbers``, in its order."""
        return tuple(column for column in self.columns if not column.coded)

    @cached_property
    def code_columns(self) -> tuple[Column, ...]:
        """The columns of ``codes``, in its order."""
        return tuple(column for column in self.columns if column.coded)

    def take(self, rows: Rows | slice) -> Table:
        """Some of the rows, in the order given."""
        numbers, codes = np.ascontiguousarray(self.numbers[rows]), np.ascontiguousarray(self.codes[rows])
        return Table(self.columns, numbers, codes)

    def parts(self) -> Iterator[tuple[Column, Cells]]:
        """Each column with its cells, in the order of the file."""
        numbers, codes = iter(self.numbers.T), iter(self.codes.T)
        for column in self.columns:
            yield column, next(codes) if column.coded else next(numbers)

    def cells(self, name: str) -> Cells:
        """The cells of one column."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Cells]:
        return {column.name: cells for column, cells in self.parts()}

    def joined(self, other: Table) -> Table:
        """These rows, then those of another table with the same columns."""
        return joined([self, other])

    def select(self, names: Iterable[str]) -> Table:
        """Some of the columns, in the order of the file."""
        requested = set(names)
        numbers = [column.name in requested for column in self.number_columns]
        codes = [column.name in requested for column in self.code_columns]
        return Table(
            tuple(column for column in self.columns if column.name in requested),
            self.numbers if all(numbers) else np.take(self.numbers, np.flatnonzero(numbers), axis=1),
            self.codes if all(codes) else np.take(self.codes, np.flatnonzero(codes), axis=1),
        )


def joined(tables: Sequence[Table]) -> Table:
    """The rows of tables with the same columns, one table after another."""
    numbers = np.concatenate([table.numbers for table in tables])
    return Table(tables[0].columns, numbers, np.concatenate([table.codes for table in tables]))


def empty_cells(column: Column, rows: int) -> Array | Codes:
    """Nothing but gaps."""
    return np.full(rows, MISSING_CODE, np.int32) if column.coded else np.full(rows, np.nan)


def is_missing(cells: Cells) -> Flags:
    """The empty cells of a column."""
    return np.isnan(cells.astype(np.float64)) if cells.dtype.kind == "f" else np.asarray(cells == MISSING_CODE)


def _side_by_side(columns: list[Cells], rows: int, dtype: type[Cell]) -> NDArray[Cell]:
    """Columns as one block; those that are columns of one block already are not taken apart."""
    if not columns:
        return np.empty((rows, 0), dtype)
    block = columns[0].base
    if block is None or block.ndim != 2 or block.dtype != dtype or not block.flags.c_contiguous:
        return np.column_stack(columns).astype(dtype, copy=False)
    place_of = {block[:, index].__array_interface__["data"][0]: index for index in range(block.shape[1])}
    indices = [place_of.get(column.__array_interface__["data"][0], -1) for column in columns]
    if any(column.base is not block or column.shape != block.shape[:1] for column in columns) or -1 in indices:
        return np.column_stack(columns).astype(dtype, copy=False)
    if indices == list(range(block.shape[1])):
        return block
    return np.take(block, indices, axis=1)


def cell_text(column: Column, cell: float) -> str:
    """A cell as a person writes it."""
    if column.coded:
        return "missing" if cell == MISSING_CODE else column.levels[int(cell)]
    return "missing" if np.isnan(cell) else f"{cell:g}"


def blocks_of(rows: int, columns: int, cells: int) -> list[slice]:
    """Some rows at a time, of about so many cells, but at least 16 rows."""
    size = max(16, cells // max(1, columns))
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
