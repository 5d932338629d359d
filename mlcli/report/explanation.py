"""What a model says of itself, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.core.explanation import Cell as Value
from mlcli.core.explanation import Explanation, Section
from mlcli.report.document import Block, Document, Grid, Heading, Lines, grid, notes
from mlcli.report.numbers import lined_up, short


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
    columns = [_column([_at(row, place) for row in section.rows], place in numbers) for place in range(width)]
    return grid(header, zip(*columns, strict=True), right=numbers)


def _at(row: tuple[Value, ...], place: int) -> Value:
    return row[place] if place < len(row) else None


def _column(values: Sequence[Value], is_number: bool) -> list[str]:
    if not is_number:
        return list(map(_written, values))
    return lined_up([value if isinstance(value, int | float) else None for value in values])


def _is_number(section: Section, place: int) -> bool:
    cells = [row[place] for row in section.rows if place < len(row) and row[place] is not None]
    return bool(cells) and all(isinstance(cell, int | float) for cell in cells)


def _written(value: Value) -> str:
    if value is None:
        return ""
    return short(value) if isinstance(value, float) else str(value)
