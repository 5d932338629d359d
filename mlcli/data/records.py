"""From the bytes of a CSV file to columns of text: encoding, delimiter, header, as many cells in each row.

pandas reads the cells, as text. Every record is counted first: pandas would pad short rows and shift long ones.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.errors import DataError, Problem
from mlcli.core.names import listed
from mlcli.core.tables import Rows
from mlcli.data.number_text import is_number

DELIMITERS = (",", ";", "\t", "|")
QUOTE = '"'
SNIFFED_TEXT = 65536
"""How much of the beginning the delimiter is found in."""
LONGEST_CELL = 100_000_000
SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class Layout:
    """What a sidecar says of the file itself; what is None is found out."""

    delimiter: str | None = None
    header: bool | None = None
    """True: the first line holds names, even if they look like numbers."""
    encoding: str | None = None
    """As Python names it; none: UTF-8, or as the file's first bytes say, else Latin-1."""


@dataclass(frozen=True, eq=False)
class TextColumn:
    """The cells of one column as text: the distinct ones in order of appearance, and which one each row has."""

    name: str
    values: list[str]
    which: Rows

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
    """A CSV file as text."""

    name: str
    delimiter: str
    columns: tuple[TextColumn, ...]
    lines: Rows
    """The line of the file on which each row begins."""
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def header(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> TextColumn:
        """The column of a name."""
        return next(column for column in self.columns if column.name == name)

    def place(self, row: int, column: str) -> str:
        """Where a cell stands, for messages."""
        return f"{self.name}:{self.lines[row]}, column '{column}'"


def read_records(content: bytes, name: str, layout: Layout | None = None) -> Records:
    """The text of a CSV file, column by column; every row that does not fit the header is named."""
    layout = layout or Layout()
    text, notes = decoded(content, name, layout.encoding)
    body = text.lstrip("\n").rstrip("\n")
    if not body.strip():
        raise DataError("is empty", where=name, hint="a CSV file has a line of column names, then rows")
    skipped = len(text) - len(text.lstrip("\n"))
    delimiter = layout.delimiter or sniffed(body)
    header, lines = _checked(body, delimiter, name, skipped)
    _check_names(header, name, skipped + 1, layout.header)
    cells = _cells(body, delimiter, len(header), len(lines), name)
    columns = tuple(_text_column(heading, column) for heading, column in zip(header, cells, strict=True))
    blanks = tuple(column.name for column, stripped in columns if stripped)
    if blanks:
        notes += (f"blanks around cells were dropped in columns {listed(blanks)}",)
    return Records(name, delimiter, tuple(column for column, _ in columns), lines, notes)


def sniffed(body: str) -> str:
    """The delimiter that gives every record of the beginning the same number of cells, and most of them."""
    widths = {delimiter: _widths(body, delimiter) for delimiter in DELIMITERS}
    several = [delimiter for delimiter in DELIMITERS if widths[delimiter][0] > 1]
    even = [delimiter for delimiter in several if len(set(widths[delimiter])) == 1]
    return max(even or several or DELIMITERS, key=lambda delimiter: widths[delimiter][0])


def _widths(body: str, delimiter: str) -> list[int]:
    """The number of cells of each record of the beginning; the last one may be cut, and does not count then."""
    records = csv.reader(io.StringIO(body[:SNIFFED_TEXT]), delimiter=delimiter)
    widths = [len(record) for record in records if record]
    return widths[:-1] if len(body) > SNIFFED_TEXT and len(widths) > 1 else widths


def _checked(body: str, delimiter: str, name: str, skipped: int) -> tuple[list[str], Rows]:
    """The header, and the line on which each row begins; rows that do not fit the header are refused together."""
    records = _numbered(body, delimiter, name, skipped)
    header = [heading.strip() for heading in next(records)[1]]
    width = len(header)
    regular = _regular_rows(body, delimiter, width)
    if regular is not None:
        return header, np.arange(regular, dtype=np.intp) + skipped + 2
    lines, misfits = [], []
    for line, record in records:
        if len(record) == width:
            lines.append(line)
        elif not _is_blank(record):
            misfits.append((line, record))
        elif width == 1:
            lines.append(line)
    _refuse_misfits(misfits, header, name)
    return header, np.array(lines, dtype=np.intp)


def _regular_rows(body: str, delimiter: str, width: int) -> int | None:
    """The number of rows where nothing is quoted and every line has its cells: the fast way for most files."""
    if QUOTE in body or width == 1:
        return None
    lines = body.split("\n")
    return len(lines) - 1 if all(line.count(delimiter) == width - 1 for line in lines) else None


def _refuse_misfits(misfits: list[tuple[int, list[str]]], header: list[str], name: str) -> None:
    if misfits:
        shown = [_width_problem(name, line, record, header) for line, record in misfits[:SHOWN_PROBLEMS]]
        more = len(misfits) - len(shown)
        raise DataError(*shown, *([Problem(f"{more} more rows like these", where=name)] if more else []))


def _is_blank(record: list[str]) -> bool:
    return not record or (len(record) == 1 and not record[0].strip())


def _numbered(body: str, delimiter: str, name: str, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line on which it begins."""
    csv.field_size_limit(LONGEST_CELL)
    records = csv.reader(io.StringIO(body), delimiter=delimiter, strict=True)
    line = skipped + 1
    try:
        for record in records:
            yield line, record
            line = skipped + records.line_num + 1
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
    empty = [
        Problem(f"column {place} has no name", where=where, hint="name it in the first line, or remove the column")
        for place, heading in enumerate(header, 1)
        if not heading
    ]
    doubled = [
        Problem(f"{count} columns are called '{heading}'", where=where, hint="give each column a name of its own")
        for heading, count in Counter(header).items()
        if heading and count > 1
    ]
    if empty or doubled:
        raise DataError(*empty, *doubled)


def _cells(body: str, delimiter: str, width: int, rows: int, name: str) -> list[np.ndarray]:
    import pandas as pd

    frame = pd.read_csv(
        io.StringIO(body),
        sep=delimiter,
        header=None,
        names=range(width),
        index_col=False,
        dtype=object,
        na_filter=False,
        keep_default_na=False,
        skip_blank_lines=width > 1,
        low_memory=False,
    )
    if len(frame) != rows + 1:
        what = f"cannot be split into rows without doubt: {rows} or {len(frame) - 1} rows"
        raise DataError(what, where=name, hint="look for lines of blanks only, and for quotes within cells")
    return [frame[column].to_numpy()[1:] for column in range(width)]


def _text_column(name: str, cells: np.ndarray) -> tuple[TextColumn, bool]:
    """The distinct cells of a column, without blanks around them, and whether there were such blanks."""
    import pandas as pd

    which, values = pd.factorize(cells)
    texts = values.tolist()
    everything = "\n".join(texts)
    if everything.isascii() and " " not in everything and "\t" not in everything:
        return TextColumn(name, texts, which), False
    bare = [text.strip() for text in texts]
    if bare == texts:
        return TextColumn(name, texts, which), False
    again, distinct = pd.factorize(np.array(bare, dtype=object))
    return TextColumn(name, distinct.tolist(), again[which]), True


MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SIGNATURES = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet", "save the sheet as CSV"),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: gunzip -k FILE"),
    (b"PAR1", "a Parquet file", "convert it to CSV first"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"<!doctype html", "a web page", "download the raw file"),
    (b"<html", "a web page", "download the raw file"),
)


def decoded(content: bytes, name: str, stated: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text with line ends as newlines, and notes on how it was read."""
    for signature, what, hint in SIGNATURES:
        if content[: len(signature)] == signature or content[: len(signature)].lower() == signature:
            raise DataError(f"is {what}, not a CSV file", where=name, hint=hint)
    text, notes = _as_stated(content, name, stated) if stated else _with_encoding(content, name)
    if "\0" in text:
        raise DataError("is not text: it holds NUL bytes", where=name, hint="save it as CSV in the encoding UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def _as_stated(content: bytes, name: str, encoding: str) -> tuple[str, tuple[str, ...]]:
    """The text in the encoding that the sidecar states, without a mark at its beginning."""
    try:
        return content.decode(encoding).removeprefix(codecs.BOM_UTF8.decode()), ()
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        hint = "correct 'encoding' in the sidecar, or leave it out to have it found"
        raise DataError(
            f"is not {encoding} text, as its sidecar says", where=f"{name}:{line}", hint=hint
        ) from None


def _with_encoding(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    encoding = next((encoding for mark, encoding in MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding), ()
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        if encoding != "utf-8":
            raise DataError(f"begins like {encoding} text, but is not", where=f"{name}:{line}") from None
        note = (
            f"line {line} is not UTF-8, so the file was read as Latin-1; if letters look wrong, save it as UTF-8"
        )
        return content.decode("latin-1"), (note,)
