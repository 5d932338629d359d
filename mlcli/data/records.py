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
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.errors import DataError, Problem
from mlcli.core.names import counted, listed
from mlcli.core.tables import Array, Codes, Rows
from mlcli.data.number_text import is_number
from mlcli.data.source import Content, InMemory, content_of, unpacked, unreadable

if TYPE_CHECKING:
    from _csv import Reader


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
    place_of = {text: index for index, text in enumerate(dict.fromkeys(cells))}
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


MARK = "\ufeff"
"""Some programs put it at the beginning of text, and some put it there again."""
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SIGNATURES = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet", "save the sheet as CSV"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"<!doctype html", "a web page", "download the raw file"),
    (b"<html", "a web page", "download the raw file"),
)
LARGE = 1 << 24
"""Bytes from which on the compiled pass repays loading it."""
BEGINNING = 64
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"


def read_file(path: Path) -> Records:
    """The records of a file, or a DataError that says why not."""
    return read_records(content_of(path), str(path))


def read_records(content: Content | bytes, name: str, layout: FileLayout | None = None) -> Records:
    """The records of some bytes, be they packed or not."""
    held = InMemory(content) if isinstance(content, bytes) else content
    try:
        return _read(held, name, layout or FileLayout())
    except OSError as problem:
        raise unreadable(problem, name) from None


def _read(source: Content, name: str, layout: FileLayout) -> Records:
    beginning = source.piece(0, BEGINNING)
    if beginning.startswith(GZIP):
        source = unpacked(source, name)
        beginning = source.piece(0, BEGINNING)
    if beginning.startswith(PARQUET):
        from mlcli.data.parquet import read_parquet

        return read_parquet(source, name)
    refuse_foreign(beginning, name)
    if source.size < LARGE:
        return split_text(*decoded(source.piece(0, source.size), name, layout.encoding), name, layout)
    return _plain(source, name, layout) or _with_care(source, name, layout)


def _with_care(source: Content, name: str, layout: FileLayout) -> Records:
    """A large file that is not plain, or not as UTF-8."""
    text, notes = decoded(source.piece(0, source.size), name, layout.encoding)
    if notes or layout.encoding:
        records = _plain(InMemory(text.encode()), name, replace(layout, encoding=None))
        if records is not None:
            return replace(records, notes=notes + records.notes)
    return split_text(text, notes, name, layout)


def _plain(source: Content, name: str, layout: FileLayout) -> Records | None:
    from mlcli.data.large_text import NotPlainError, read_large

    with suppress(NotPlainError):
        return read_large(source, name, layout)
    return None


def decoded(content: bytes, name: str, stated: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text without marks at its beginning, and notes on how it was read; line ends are kept.

    It is in the encoding that a sidecar states, or else as its first bytes say, or in UTF-8, or in Latin-1.
    """
    refuse_foreign(content, name)
    encoding = stated or next((name for mark, name in MARKS if content.startswith(mark)), "utf-8")
    notes: tuple[str, ...] = ()
    try:
        text = content.decode(encoding).removeprefix(MARK if stated else "")
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
    bare = text.lstrip(MARK)
    if bare != text:
        notes = (*notes, "the file begins with a second byte order mark, which was dropped")
    return bare, notes


def refuse_foreign(content: bytes, name: str) -> None:
    """Refuse what begins like a file of another kind."""
    for signature, what, hint in SIGNATURES:
        if content[: len(signature)].lower() == signature.lower():
            raise DataError(f"is {what}, not a CSV file", where=name, hint=hint)


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
    empty = [nameless(f"column {index} has no name") for index, heading in enumerate(header, 1) if not heading]
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
