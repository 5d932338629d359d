"""The text of a table: its columns with their cells, and where each row stands in its file.

Plain numbers of a large file are there as numbers at once; their text is looked up only if asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Codes, Rows


@dataclass(frozen=True)
class FileLayout:
    """What a sidecar says of the file itself; what is None is found out."""

    delimiter: str | None = None
    header: bool | None = None
    """True: the first line holds names, even if they look like numbers."""
    encoding: str | None = None
    """As Python names it; none: UTF-8, or as the file's first bytes say, else Latin-1."""


Distinct = tuple[list[str], Codes]
"""The distinct cells in order of appearance, and which one each row has."""


def distinct(cells: Sequence[str]) -> Distinct:
    """The distinct ones among cells, and which one each cell is."""
    place_of = {text: place for place, text in enumerate(dict.fromkeys(cells))}
    return list(place_of), np.fromiter(map(place_of.__getitem__, cells), np.int32, len(cells))


@dataclass(frozen=True, eq=False)
class Numbers:
    """Cells that are numbers written plainly, with a note of how."""

    cells: Array
    """NaN where a cell is empty."""
    missing: bool
    with_comma: str = ""
    """The first one with a decimal comma, if there is one; then none has a point."""
    with_point: str = ""
    """The first one with a point, if that may group thousands in every cell: 1.234."""


@dataclass(frozen=True, eq=False)
class TextColumn:
    """The cells of one column as text."""

    name: str
    read: Callable[[], Distinct]
    numbers: Numbers | None = None
    """What the cells are, if all of them are plain numbers and somebody has read them as such."""
    in_words: bool = False
    """Whether the file itself says that the cells are words, even if they look like numbers."""

    @staticmethod
    def of(name: str, values: list[str], which: Codes) -> TextColumn:
        """A column whose text has been read."""
        return TextColumn(name, lambda: (values, which))

    @cached_property
    def _distinct(self) -> Distinct:
        return self.read()

    @property
    def values(self) -> list[str]:
        """The distinct cells in order of appearance."""
        return self._distinct[0]

    @property
    def which(self) -> Codes:
        """Which of the distinct cells each row has."""
        return self._distinct[1]

    def cells(self) -> list[str]:
        """The text of every row."""
        return [self.values[index] for index in self.which]

    def first_row(self, value: int) -> int:
        """The first row that has a value."""
        return int(np.argmax(self.which == value))

    @cached_property
    def counts(self) -> Rows:
        """In how many rows each value stands."""
        return np.bincount(self.which, minlength=len(self.values)).astype(np.intp)


@dataclass(frozen=True, eq=False)
class Records:
    """A file as text."""

    name: str
    delimiter: str
    columns: tuple[TextColumn, ...]
    lines: Rows
    """The line of the file on which each row begins."""
    notes: tuple[str, ...]
    has_lines: bool = True
    """Whether the file is made of lines; else they are counted as rows."""

    @cached_property
    def _by_name(self) -> dict[str, TextColumn]:
        return {column.name: column for column in self.columns}

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> TextColumn:
        """The column of a name."""
        return self._by_name[name]

    def line(self, row: int) -> str:
        """Which line of the file a row begins on, for remarks."""
        return f"{'line' if self.has_lines else 'row'} {self.lines[row]}"

    def place(self, row: int, column: str) -> str:
        """Where a cell stands, for messages."""
        line = f":{self.lines[row]}" if self.has_lines else f", row {self.lines[row]}"
        return f"{self.name}{line}, column '{column}'"
