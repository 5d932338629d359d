"""What a model says of itself, as a document."""

from __future__ import annotations

from collections.abc import Iterator

from mlcli.core.explanation import Cell as Value
from mlcli.core.explanation import Explanation, Section
from mlcli.report.document import Block, Document, Grid, Heading, Lines, grid, notes
from mlcli.report.numbers import short


def explained(explanation: Explanation) -> Document:
    """The sections in order."""
    return tuple(block for section in explanation for block in _section(section))


def _section(section: Section) -> Iterator[Block]:
    yield Heading(section.title)
    if section.rows:
        yield _table(section)
    if section.lines:
        yield Lines(section.lines)
    if section.note:
        yield notes(section.note)


def _table(section: Section) -> Grid:
    width = max(map(len, section.rows))
    header = (*section.header, *[""] * (width - len(section.header)))
    numbers = {place for place in range(width) if _is_number(section, place)}
    rows = [[*map(_written, row), *[""] * (width - len(row))] for row in section.rows]
    return grid(header, rows, right=numbers)


def _is_number(section: Section, place: int) -> bool:
    cells = [row[place] for row in section.rows if place < len(row) and row[place] is not None]
    return bool(cells) and all(isinstance(cell, int | float) for cell in cells)


def _written(value: Value) -> str:
    if value is None:
        return ""
    return short(value) if isinstance(value, float) else str(value)
