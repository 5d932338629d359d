"""Reads a table as records: columns of text, and the line of each row.

A file is recognised by its first bytes, not by its name, since a pipe has none. Parquet is read by its columns.
CSV files are read in two ways, because neither does the work of the other. The csv module reads everything, names
the place of each row that does not fit, and holds the whole text in memory. The compiled pass (``large_text``)
reads large plain files block by block, much faster, and stops at the first oddity without naming it. pandas'
reader would be a third way: it guesses missing values and types, pads short rows, and does not say where a bad
cell is. A test draws tables that both ways must read alike.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.errors import DataError, Problem
from mlcli.core.names import counted, listed
from mlcli.core.tables import Array, Codes, Rows
from mlcli.data.sidecar import BLANK, DELIMITER_WORDS
from mlcli.data.source import Content, InMemory, content_of, is_number, unpacked, unreadable

if TYPE_CHECKING:
    from _csv import Reader


@dataclass(frozen=True)
class FileLayout:
    """The layout of a file as its sidecar declares it; None: to be found out."""

    delimiter: str | None = None
    header: bool | None = None
    """True: the first line holds names, even if they look like numbers."""
    encoding: str | None = None
    """As Python names it. None: UTF-8, or as the first bytes of the file say, else Latin-1."""


Distinct = tuple[list[str], Codes]
"""The distinct cells in order of appearance, and which one each row has."""


def distinct(cells: Sequence[str]) -> Distinct:
    """The distinct cells, and which one each cell is."""
    index_of = {text: index for index, text in enumerate(dict.fromkeys(cells))}
    return list(index_of), np.fromiter(map(index_of.__getitem__, cells), np.int32, len(cells))


@dataclass(frozen=True, eq=False)
class Numbers:
    """Cells that are plainly written numbers, and how they are written."""

    cells: Array
    """NaN where a cell is empty."""
    missing: bool
    with_comma: str = ""
    """The first number with a decimal comma, if there is one; then none has a point."""
    with_point: str = ""
    """The first number with a point, if the point may group thousands in every cell: 1.234."""


@dataclass(frozen=True, eq=False)
class TextColumn:
    """The cells of one column as text."""

    name: str
    read: Callable[[], Distinct]
    numbers: Numbers | None = None
    """The cells as numbers, if the reader of the file has parsed them as such."""
    in_words: bool = False
    """Whether the file declares its cells as text, even if they look like numbers."""

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
        """The first row that has a value, given by its index."""
        return int(np.argmax(self.which == value))

    @cached_property
    def counts(self) -> Rows:
        """The number of rows with each value."""
        return np.bincount(self.which, minlength=len(self.values)).astype(np.intp)

    @property
    def count_of(self) -> dict[str, int]:
        """The number of rows by value."""
        return dict(zip(self.values, self.counts.tolist(), strict=True))


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
    """Whether the file is made of lines; else ``lines`` counts rows."""

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
        """The column with a name."""
        return self._by_name[name]

    def line(self, row: int) -> str:
        """The line of the file on which a row begins, for remarks."""
        return f"{'line' if self.has_lines else 'row'} {self.lines[row]}"

    def place(self, row: int, column: str) -> str:
        """The place of a cell in the file, for messages."""
        line = f":{self.lines[row]}" if self.has_lines else f", row {self.lines[row]}"
        return f"{self.name}{line}, column '{column}'"


SIGNATURES = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet", "save the sheet as CSV"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"<!doctype html", "a web page", "download the raw file"),
    (b"<html", "a web page", "download the raw file"),
)
LARGE = 1 << 24
"""For files with more bytes the compiled pass is faster."""


def read_file(path: Path) -> Records:
    """The records of a file."""
    return read_records(content_of(path), str(path))


def read_records(content: Content | bytes, name: str, layout: FileLayout | None = None) -> Records:
    """The records of some bytes: CSV, the same packed with gzip, or Parquet."""
    source = InMemory(content) if isinstance(content, bytes) else content
    layout = layout or FileLayout()
    try:
        beginning = source.piece(0, 64)
        if beginning.startswith(b"\x1f\x8b"):
            source = unpacked(source, name)
            beginning = source.piece(0, 64)
        if beginning.startswith(b"PAR1"):
            from mlcli.data.parquet import read_parquet

            return read_parquet(source, name)
        _refuse_other_formats(beginning, name)
        if source.size >= LARGE:
            return _read_large(source, name, layout)
        return split_text(*decoded(source.piece(0, source.size), name, layout.encoding), name, layout)
    except OSError as problem:
        raise unreadable(problem, name) from None


def _read_large(source: Content, name: str, layout: FileLayout) -> Records:
    """A large file by the compiled pass if it is plain, once it is UTF-8; else by the csv module."""
    from mlcli.data.large_text import NotPlainError, read_large

    with suppress(NotPlainError):
        return read_large(source, name, layout)
    text, notes = decoded(source.piece(0, source.size), name, layout.encoding)
    if notes or layout.encoding:
        with suppress(NotPlainError):
            records = read_large(InMemory(text.encode()), name, replace(layout, encoding=None))
            return replace(records, notes=notes + records.notes)
    return split_text(text, notes, name, layout)


def decoded(content: bytes, name: str, stated: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text without byte order marks, and notes on how it was read; line ends are kept.

    The encoding is the stated one, else that of its byte order mark, else UTF-8, else Latin-1.
    """
    _refuse_other_formats(content, name)
    mark = "\ufeff"  # some programs write it at the beginning of text, and some write it twice
    encoding = stated or "utf-8"
    if not stated:
        if content.startswith(codecs.BOM_UTF8):
            encoding = "utf-8-sig"
        elif content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            encoding = "utf-16"
    notes: tuple[str, ...] = ()
    try:
        text = content.decode(encoding).removeprefix(mark if stated else "")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        if stated:
            hint = "correct 'encoding' in the sidecar, or leave it out to have it found"
            what = f"is not {stated} text, as its sidecar says"
            raise DataError(what, where=f"{name}:{line}", hint=hint) from None
        if encoding != "utf-8":
            raise DataError(f"begins like {encoding} text, but is not", where=f"{name}:{line}") from None
        text, note = content.decode("latin-1"), f"line {line} is not UTF-8, so the file was read as Latin-1"
        notes = (f"{note}; if letters look wrong, save it as UTF-8",)
    if "\0" in text:
        raise DataError("is not text: it holds NUL bytes", where=name, hint="save it as CSV in the encoding UTF-8")
    bare = text.lstrip(mark)
    if bare != text:
        notes = (*notes, "the file begins with a second byte order mark, which was dropped")
    return bare, notes


def _refuse_other_formats(content: bytes, name: str) -> None:
    for signature, what, hint in SIGNATURES:
        if content[: len(signature)].lower() == signature.lower():
            raise DataError(f"is {what}, not a CSV file", where=name, hint=hint)


DELIMITERS = (",", ";", "\t", "|")
RARER = ("^", ":")
"""Also common in names and cells: used only if no other one splits, and all rows get the same number of cells."""
SNIFFED_TEXT = 65536
"""How many characters at the beginning are used to find the delimiter."""
ABOVE_THE_NAMES = "the first line holds the names of all columns; remove what stands above it"


def split_text(text: str, notes: tuple[str, ...], name: str, layout: FileLayout) -> Records:
    """The records of a whole text, column by column."""
    body = text.lstrip("\r\n").rstrip("\r\n")
    if not body.strip():
        raise DataError("is empty", where=name, hint="a CSV file has a line of column names, then rows")
    delimiter = layout.delimiter or sniffed_delimiter(body)
    if not layout.delimiter:
        notes += tuple(delimiter_notes(body, delimiter))
    blank_lines = text[: len(text) - len(text.lstrip("\r\n"))]
    first_line = 1 + blank_lines.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    records = _records_with_lines(body, delimiter, name, first_line)
    header = checked_header(next(records)[1], name, first_line, layout.header)
    lines, rows = _fitting_rows(records, header, name)
    cells: list[Sequence[str]] = list(zip(*rows, strict=True)) or [()] * len(header)
    rows.clear()  # the rows take much memory, and so do the cells below
    columns, stripped = list[TextColumn](), list[str]()
    for heading in header:
        texts, which = distinct(cells.pop(0))
        bare = [cell.strip() for cell in texts]
        if bare != texts:
            stripped.append(heading)
            texts, again = distinct(bare)
            which = again[which]
        columns.append(TextColumn.of(heading, texts, which))
    notes += blanks_note(stripped)
    return Records(name, delimiter, tuple(columns), np.array(lines, dtype=np.intp), notes)


def blanks_note(names: Sequence[str]) -> tuple[str, ...]:
    """A note on columns whose cells had blanks around them, if there are any."""
    return (f"blanks around cells were dropped in columns {listed(names)}",) if names else ()


def _records_with_lines(body: str, delimiter: str, name: str, first_line: int) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line on which it begins."""
    csv.field_size_limit(100_000_000)
    records = split(body, delimiter, strict=True)
    line = first_line
    try:
        for record in records:
            yield line, record
            line = first_line + records.line_num
    except csv.Error as problem:
        hint = 'a quoted cell ends with a quote before the delimiter; a quote inside it is doubled: "5"" pipe"'
        raise DataError(f"cannot be split into cells: {problem}", where=f"{name}:{line}", hint=hint) from None


def _fitting_rows(
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
    if misfits:
        problems = []
        for line, record in misfits[:10]:
            what = f"the row has {counted(len(record), 'cell')}, the header has {counted(width, 'name')}"
            if len(record) < width:
                what += f": nothing stands in column '{header[len(record)]}'"
                hint = "an empty cell still needs its delimiter"
            else:
                what += f": cell {width + 1} ('{record[width][:40]}') belongs to no column"
                hint = ABOVE_THE_NAMES if width == 1 else "a cell with the delimiter in it must be quoted"
            problems.append(Problem(what, where=f"{name}:{line}", hint=hint))
        if len(misfits) > len(problems):
            problems.append(Problem(f"{len(misfits) - len(problems)} more rows like these", where=name))
        raise DataError(*problems)
    return lines, rows


def checked_header(record: Sequence[str], name: str, line: int, declared: bool | None) -> list[str]:
    """The names of the columns, or what is wrong with them."""
    header, where = [heading.strip() for heading in record], f"{name}:{line}"
    if len(header) > 1 and not header[0] and all(header[1:]):
        # an index, as pandas.to_csv writes it; pandas.read_csv gives it such a name
        names = ("Unnamed: 0", *(f"Unnamed: 0.{number}" for number in range(1, len(header) + 1)))
        header[0] = next(free for free in names if free not in header)
    if header[0].lower().startswith("sep="):
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
    problems = [
        Problem(f"column {index} has no name", where, "name it in the first line, or remove the column")
        for index, heading in enumerate(header, 1)
        if not heading
    ]
    problems += [
        Problem(f"{count} columns are called '{heading}'", where, "give each column a name of its own")
        for heading, count in Counter(header).items()
        if heading and count > 1
    ]
    if problems:
        raise DataError(*problems)
    return header


def sniffed_delimiter(body: str) -> str:
    """The delimiter that gives every record of the beginning the same number of cells, and most of them."""
    widths = {delimiter: _widths(body, delimiter) for delimiter in DELIMITERS}
    several = [delimiter for delimiter in DELIMITERS if widths[delimiter][0] > 1]
    if not several:
        return next((delimiter for delimiter in RARER if _splits_evenly(body, delimiter)), ",")
    even = [delimiter for delimiter in several if len(set(widths[delimiter])) == 1]
    return max(even or several, key=lambda delimiter: widths[delimiter][0])


def delimiter_notes(body: str, delimiter: str) -> Iterator[str]:
    """Notes on a delimiter that was found: that it is a rare one, or that there may be one."""
    if delimiter in RARER:
        yield f"cells were split at '{delimiter}'; if they should not be, say delimiter: comma in the sidecar"
    elif _widths(body, delimiter)[0] == 1:
        signs = [sign for sign in RARER if _widths(body, sign)[0] > 1]
        signs += [BLANK] if _splits_evenly(body, BLANK) else []
        for word in (word for word, sign in DELIMITER_WORDS.items() if sign in signs):
            yield f"each line was read as one cell; if there are several, say delimiter: {word} in the sidecar"


def split(body: str, delimiter: str, strict: bool = False) -> Reader:
    """The records of a text, blank lines as empty ones; blanks in a row are one delimiter."""
    is_blank = delimiter == BLANK
    lines = io.StringIO(re.sub(r" +(?=[\r\n]|\Z)", "", body) if is_blank else body, newline="")
    return csv.reader(lines, delimiter=delimiter, strict=strict, skipinitialspace=is_blank)


def _splits_evenly(body: str, delimiter: str) -> bool:
    """Whether there are several records, all of the same number of cells, and more than one."""
    widths = _widths(body, delimiter)
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _widths(body: str, delimiter: str) -> list[int]:
    """The number of cells of each record of the beginning, without the last one if it may be cut."""
    widths = [len(record) for record in split(body[:SNIFFED_TEXT], delimiter) if record]
    return widths[:-1] if len(body) > SNIFFED_TEXT and len(widths) > 1 else widths
