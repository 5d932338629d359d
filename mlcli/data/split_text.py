"""A text in cells: every row that does not fit the header is named; nothing is padded or shifted."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from mlcli.core.errors import DataError, Problem
from mlcli.core.names import listed
from mlcli.data.delimiters import doubts, sniffed, split
from mlcli.data.number_text import is_number
from mlcli.data.records import Layout, Records, TextColumn, distinct

LONGEST_CELL = 100_000_000
SHOWN_PROBLEMS = 10
LINE_ENDS = "\r\n"


def split_text(text: str, notes: tuple[str, ...], name: str, layout: Layout) -> Records:
    """The records of a whole text, column by column."""
    body = text.lstrip(LINE_ENDS).rstrip(LINE_ENDS)
    if not body.strip():
        raise DataError("is empty", where=name, hint="a CSV file has a line of column names, then rows")
    delimiter = layout.delimiter or sniffed(body)
    if not layout.delimiter:
        notes += tuple(doubts(body, delimiter))
    before = text[: len(text) - len(text.lstrip(LINE_ENDS))]
    first_line = 1 + before.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    records = _numbered(body, delimiter, name, first_line)
    header = checked_header(next(records)[1], name, first_line, layout.header)
    lines, rows = _fitting(records, header, name)
    cells = _columns(rows, len(header))
    columns = [bare_column(heading, column) for heading, column in zip(header, cells, strict=True)]
    notes += blanks_note([column.name for column, stripped in columns if stripped])
    return Records(name, delimiter, tuple(column for column, _ in columns), np.array(lines, dtype=np.intp), notes)


def checked_header(record: Sequence[str], name: str, line: int, declared: bool | None) -> list[str]:
    """The names of the columns, or what is wrong with them."""
    header = [heading.strip() for heading in record]
    _check_names(header, name, line, declared)
    return header


def bare_column(name: str, cells: Sequence[str]) -> tuple[TextColumn, bool]:
    """A column of cells without the blanks around them, and whether there were such blanks."""
    texts, which = distinct(cells)
    bare = [text.strip() for text in texts]
    if bare == texts:
        return TextColumn.of(name, texts, which), False
    values, again = distinct(bare)
    return TextColumn.of(name, values, again[which]), True


def blanks_note(names: Sequence[str]) -> tuple[str, ...]:
    """A word on columns whose cells had blanks around them."""
    return (f"blanks around cells were dropped in columns {listed(names)}",) if names else ()


def _columns(rows: list[list[str]], width: int) -> Iterator[Sequence[str]]:
    """The cells of each column; the lists of rows are many, and go as soon as they can."""
    columns: list[Sequence[str]] = list(zip(*rows, strict=True)) or [()] * width
    rows.clear()
    while columns:
        yield columns.pop(0)


def _fitting(
    records: Iterator[tuple[int, list[str]]], header: list[str], name: str
) -> tuple[list[int], list[list[str]]]:
    """The rows and the lines on which they begin; those that do not fit the header are refused together."""
    width = len(header)
    lines: list[int] = []
    rows: list[list[str]] = []
    misfits: list[tuple[int, list[str]]] = []
    for line, record in records:
        if len(record) == width or (width == 1 and not record):
            if not misfits:
                lines.append(line)
                rows.append(record or [""])
        elif record and (len(record) > 1 or record[0].strip()):
            misfits.append((line, record))
    _refuse_misfits(misfits, header, name)
    return lines, rows


def _refuse_misfits(misfits: list[tuple[int, list[str]]], header: list[str], name: str) -> None:
    if misfits:
        shown = [_width_problem(name, line, record, header) for line, record in misfits[:SHOWN_PROBLEMS]]
        more = len(misfits) - len(shown)
        raise DataError(*shown, *([Problem(f"{more} more rows like these", where=name)] if more else []))


def _numbered(body: str, delimiter: str, name: str, first_line: int) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line on which it begins."""
    csv.field_size_limit(LONGEST_CELL)
    records = split(body, delimiter, strict=True)
    line = first_line
    try:
        for record in records:
            yield line, record
            line = first_line + records.line_num
    except csv.Error as problem:
        hint = 'a quoted cell ends with a quote before the delimiter; a quote inside it is doubled: "5"" pipe"'
        raise DataError(f"cannot be split into cells: {problem}", where=f"{name}:{line}", hint=hint) from None


def _width_problem(name: str, line: int, record: list[str], header: list[str]) -> Problem:
    cells = "1 cell" if len(record) == 1 else f"{len(record)} cells"
    given = f"the row has {cells}, the header has {len(header)} names"
    if len(record) < len(header):
        what = f"{given}: nothing stands in column '{header[len(record)]}'"
        return Problem(what, where=f"{name}:{line}", hint="an empty cell still needs its delimiter")
    extra = record[len(header)]
    what = f"{given}: cell {len(header) + 1} ('{extra[:40]}') belongs to no column"
    return Problem(what, where=f"{name}:{line}", hint="a cell with the delimiter in it must be quoted")


def _check_names(header: list[str], name: str, line: int, declared: bool | None) -> None:
    where = f"{name}:{line}"
    numbers = sum(is_number(heading) for heading in header)
    if declared is not True and numbers and 2 * numbers >= len(header):
        hint = "put a line of column names above it; if these are names, say 'header: true' in the sidecar"
        raise DataError(
            f"the first line looks like a row, not like names: {', '.join(header)}", where=where, hint=hint
        )
    nameless = partial(Problem, where=where, hint="name it in the first line, or remove the column")
    empty = [nameless(f"column {place} has no name") for place, heading in enumerate(header, 1) if not heading]
    doubled = [
        Problem(f"{count} columns are called '{heading}'", where=where, hint="give each column a name of its own")
        for heading, count in Counter(header).items()
        if heading and count > 1
    ]
    if empty or doubled:
        raise DataError(*empty, *doubled)
