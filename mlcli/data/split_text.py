"""A text in cells, by the sign between them; every row that does not fit is named, nothing padded or shifted."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.errors import DataError, Problem
from mlcli.core.names import counted, listed
from mlcli.data.number_text import is_number
from mlcli.data.records import FileLayout, Records, TextColumn, distinct

if TYPE_CHECKING:
    from _csv import Reader

DELIMITERS = (",", ";", "\t", "|")
RARER = ("^", ":")
"""Found in names and cells as well: taken only where no other splits, and only evenly; a note says so."""
BLANK = " "
"""Never taken unasked: names and words are full of blanks. Several in a row are one."""
DELIMITER_WORDS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "pipe": "|",
    "caret": "^",
    "colon": ":",
    "space": BLANK,
}
SNIFFED_TEXT = 65536
"""How much of the beginning the delimiter is found in."""
BLANKS_AT_END = re.compile(r" +(?=[\r\n]|\Z)")
LONGEST_CELL = 100_000_000
SHOWN_PROBLEMS = 10
LINE_ENDS = "\r\n"
FOR_EXCEL = "sep="
ABOVE_THE_NAMES = "the first line holds the names of all columns; remove what stands above it"


def split_text(text: str, notes: tuple[str, ...], name: str, layout: FileLayout) -> Records:
    """The records of a whole text, column by column."""
    body = text.lstrip(LINE_ENDS).rstrip(LINE_ENDS)
    if not body.strip():
        raise DataError("is empty", where=name, hint="a CSV file has a line of column names, then rows")
    delimiter = layout.delimiter or sniffed_delimiter(body)
    if not layout.delimiter:
        notes += tuple(delimiter_notes(body, delimiter))
    before = text[: len(text) - len(text.lstrip(LINE_ENDS))]
    first_line = 1 + before.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    records = _numbered(body, delimiter, name, first_line)
    header = checked_header(next(records)[1], name, first_line, layout.header)
    lines, rows = _fitting(records, header, name)
    cells = _columns(rows, len(header))
    columns = [stripped_column(heading, column) for heading, column in zip(header, cells, strict=True)]
    notes += blanks_note([column.name for column, stripped in columns if stripped])
    return Records(name, delimiter, tuple(column for column, _ in columns), np.array(lines, dtype=np.intp), notes)


def checked_header(record: Sequence[str], name: str, line: int, declared: bool | None) -> list[str]:
    """The names of the columns, or what is wrong with them."""
    header = [heading.strip() for heading in record]
    if len(header) > 1 and not header[0] and all(header[1:]):
        header[0] = free_index_name(header)
    _check_names(header, name, line, declared)
    return header


def free_index_name(header: Sequence[str]) -> str:
    """What pandas.read_csv calls a first column without a name, as it writes its index."""
    names = ("Unnamed: 0", *(f"Unnamed: 0.{number}" for number in range(1, len(header) + 1)))
    return next(name for name in names if name not in header)


def stripped_column(name: str, cells: Sequence[str]) -> tuple[TextColumn, bool]:
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
    given = f"the row has {counted(len(record), 'cell')}, the header has {counted(len(header), 'name')}"
    if len(record) < len(header):
        what = f"{given}: nothing stands in column '{header[len(record)]}'"
        return Problem(what, where=f"{name}:{line}", hint="an empty cell still needs its delimiter")
    extra = record[len(header)]
    what = f"{given}: cell {len(header) + 1} ('{extra[:40]}') belongs to no column"
    hint = ABOVE_THE_NAMES if len(header) == 1 else "a cell with the delimiter in it must be quoted"
    return Problem(what, where=f"{name}:{line}", hint=hint)


def _check_names(header: list[str], name: str, line: int, declared: bool | None) -> None:
    where = f"{name}:{line}"
    if header[0].lower().startswith(FOR_EXCEL):
        what = "the first line tells Excel the delimiter, and is no line of names"
        raise DataError(what, where=where, hint="remove it")
    numbers = sum(is_number(heading) for heading in header)
    if declared is not True and numbers and 2 * numbers >= len(header):
        hint = "put a line of column names above it; if these are names, say 'header: true' in the sidecar"
        what = f"the first line looks like a row, not like names: {', '.join(header)}"
        raise DataError(what, where=where, hint=hint)
    if len(header) > 2 and header[0] and not any(header[1:]):
        what = f"of {len(header)} columns the first line names one: {header[0]}"
        raise DataError(what, where=where, hint=ABOVE_THE_NAMES)
    nameless = partial(Problem, where=where, hint="name it in the first line, or remove the column")
    empty = [nameless(f"column {place} has no name") for place, heading in enumerate(header, 1) if not heading]
    doubled = [
        Problem(f"{count} columns are called '{heading}'", where=where, hint="give each column a name of its own")
        for heading, count in Counter(header).items()
        if heading and count > 1
    ]
    if empty or doubled:
        raise DataError(*empty, *doubled)


def sniffed_delimiter(body: str) -> str:
    """The delimiter that gives every record of the beginning the same number of cells, and most of them."""
    widths = {delimiter: _widths(body, delimiter) for delimiter in DELIMITERS}
    several = [delimiter for delimiter in DELIMITERS if widths[delimiter][0] > 1]
    if not several:
        return next((delimiter for delimiter in RARER if _is_even(_widths(body, delimiter))), DELIMITERS[0])
    even = [delimiter for delimiter in several if len(set(widths[delimiter])) == 1]
    return max(even or several, key=lambda delimiter: widths[delimiter][0])


def delimiter_notes(body: str, delimiter: str) -> Iterator[str]:
    """What is said of a delimiter that was found: that it is a rare one, or that there may be one."""
    if delimiter in RARER:
        yield f"cells were split at '{delimiter}'; if they should not be, say delimiter: comma in the sidecar"
    elif _widths(body, delimiter)[0] == 1:
        signs = [sign for sign in RARER if _widths(body, sign)[0] > 1]
        signs += [BLANK] if _is_even(_widths(body, BLANK)) else []
        for word in (word for word, sign in DELIMITER_WORDS.items() if sign in signs):
            yield f"each line was read as one cell; if there are several, say delimiter: {word} in the sidecar"


def split(body: str, delimiter: str, strict: bool = False) -> Reader:
    """The records of a text, blank lines as empty ones."""
    blank = delimiter == BLANK
    lines = io.StringIO(BLANKS_AT_END.sub("", body) if blank else body, newline="")
    return csv.reader(lines, delimiter=delimiter, strict=strict, skipinitialspace=blank)


def _is_even(widths: list[int]) -> bool:
    """Whether there are some records, each of the same several cells."""
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _widths(body: str, delimiter: str) -> list[int]:
    """The number of cells of each record of the beginning; the last one may be cut, and does not count then."""
    widths = [len(record) for record in split(body[:SNIFFED_TEXT], delimiter) if record]
    return widths[:-1] if len(body) > SNIFFED_TEXT and len(widths) > 1 else widths
