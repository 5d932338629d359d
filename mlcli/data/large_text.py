"""Reads a large CSV file block by block: a compiled pass parses numbers at once, and leaves text in the file.

It reads plain files. Whatever is not plain (an odd row, another encoding, old line ends) is left to
``split_text``, which reads everything, and reports what is wrong.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Rows, blocks_of
from mlcli.data.mapped_arrays import MappedArray, give_pages_back
from mlcli.data.records import (
    SNIFFED_TEXT,
    Distinct,
    FileLayout,
    Numbers,
    Records,
    TextColumn,
    blanks_note,
    checked_header,
    delimiter_notes,
    sniffed_delimiter,
    split,
)
from mlcli.data.sidecar import BLANK
from mlcli.data.source import Content
from mlcli.kernels.text import cells as kernels
from mlcli.kernels.text.numbering import Texts, place_again

BLOCK = 1 << 20
"""Bytes that are read at once."""


class NotPlainError(Exception):
    """The compiled pass cannot read the file."""


@dataclass(frozen=True, eq=False)
class PlainText:
    """Where the rows of a file are, and the cells of columns of numbers."""

    source: Content
    delimiter: str
    starts: Rows
    lines: Rows
    cells: MappedArray[np.float64]
    """Numbers; of the columns that are text from the first row on, the bits are indices into ``texts``."""
    firsts: Rows
    """For each trait of a column, the first row that has it, or -1."""
    texts: Texts

    def has(self, trait: int, column: int) -> bool:
        """Whether any cell of a column has a trait."""
        return bool(self.firsts[trait, column] >= 0)

    def is_text(self, column: int) -> bool:
        """Whether the cells of a column must be read as text."""
        mixed = self.has(kernels.HAS_COMMA, column) and self.has(kernels.HAS_POINT, column)
        return mixed or self.has(kernels.IS_TEXT, column) or not self.has(kernels.IS_NUMBER, column)

    def example(self, trait: int, column: int) -> str:
        """The text of the first cell that has a trait."""
        row = int(self.firsts[trait, column])
        if row < 0:
            return ""
        line = self.source.piece(*self.extent(row, row + 1)).decode().rstrip("\r\n")
        return str(next(split(line, self.delimiter))[column].strip())

    def blocks(self) -> Iterator[tuple[int, int]]:
        """The rows, as many at a time as fill a block, but at least one."""
        first = 0
        while first < len(self.starts):
            end = int(np.searchsorted(self.starts, self.starts[first] + BLOCK))
            yield first, max(end, first + 1)
            first = max(end, first + 1)

    def extent(self, first: int, end: int) -> tuple[int, int]:
        """The byte range of some rows in the file."""
        last = int(self.starts[end]) if end < len(self.starts) else self.source.size
        return int(self.starts[first]), last


def read_large(source: Content, name: str, layout: FileLayout) -> Records:
    """The records of a large file, or ``NotPlainError``."""
    head, begin = _head(source, layout)
    delimiter = layout.delimiter or sniffed_delimiter(head)
    if delimiter == BLANK or not delimiter.isascii() or "\0" in head:
        raise NotPlainError
    first = next(split(head, delimiter))
    end = _end_of_header(source, begin, first, delimiter)
    header = checked_header(first, name, 1, layout.header)
    if len(header) == 1:
        raise NotPlainError
    notes = () if layout.delimiter else tuple(delimiter_notes(head, delimiter))
    plain = _plain_text(source, end, delimiter, len(header))
    numeric = [index for index in range(len(header)) if not plain.is_text(index)]
    texts, stripped = _read_texts(plain, [index for index in range(len(header)) if plain.is_text(index)])
    if len(numeric) < len(header):
        plain.cells.keep(np.array(numeric, np.intp))
    cells = dict(zip(numeric, plain.cells.cells.T, strict=True))
    columns, with_blanks = list[TextColumn](), list[str]()
    for index, heading in enumerate(header):
        if index in texts:
            columns.append(TextColumn.of(heading, *texts[index]))
        else:
            columns.append(_number_column(plain, heading, index, cells[index]))
        if index in stripped or (index not in texts and plain.has(kernels.HAS_BLANKS, index)):
            with_blanks.append(heading)
    return Records(name, delimiter, tuple(columns), plain.lines, notes + blanks_note(with_blanks))


def _head(source: Content, layout: FileLayout) -> tuple[str, int]:
    """The beginning of the text, and where it begins."""
    if layout.encoding not in (None, "utf-8"):
        raise NotPlainError
    content = source.piece(0, SNIFFED_TEXT + len(codecs.BOM_UTF8))
    begin = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    # a letter may be cut at the end; what is wrong before it shows when the blocks are read
    head = content[begin:].decode(errors="ignore")
    if not head or head[0] in "\r\n\ufeff" or "\n" not in head:
        raise NotPlainError
    return head, begin


def _end_of_header(source: Content, begin: int, header: Sequence[str], delimiter: str) -> int:
    """Where the line of names ends; it must be a plain one."""
    line = source.piece(begin, begin + SNIFFED_TEXT).partition(b"\n")[0]
    try:
        names = next(split(line.decode(errors="replace"), delimiter, strict=True))
    except csv.Error:
        raise NotPlainError from None
    if names != list(header) or b"\r" in line.removesuffix(b"\r"):
        raise NotPlainError
    return begin + len(line) + 1


def _plain_text(source: Content, begin: int, delimiter: str, width: int) -> PlainText:
    """All rows from a position in the file on."""
    sample = source.piece(begin, begin + SNIFFED_TEXT)
    expected_rows = int((sample.count(b"\n") + 1) * (source.size - begin) / max(len(sample), 1))
    reader = _RowReader(expected_rows, width)
    position, rest = begin, b""
    while position < source.size:
        piece = source.piece(position, position + BLOCK)
        offset, position = position - len(rest), position + len(piece)
        content, rest = rest + piece, b""
        if position >= source.size:
            content = _with_line_end(content)
        else:  # a block ends with the end of a line
            cut = content.rfind(b"\n") + 1
            content, rest = content[:cut], content[cut:]
        if len(rest) > 1 << 27 or not _is_text(content):  # a row of 128 MB is no row
            raise NotPlainError
        unread = reader.read(content, ord(delimiter), offset)
        if unread and position >= source.size:
            raise NotPlainError
        rest = unread + rest
    reader.resize(int(reader.cursor[1]))
    give_pages_back()
    return PlainText(source, delimiter, reader.starts, reader.lines, reader.cells, reader.firsts, reader.texts)


class _RowReader:
    """Arrays for the rows that are read, with space for more."""

    def __init__(self, rows: int, width: int) -> None:
        space = int(1.02 * rows) + 16
        self.cells = MappedArray(space, width, np.float64)
        self.starts, self.lines = np.empty(space, np.intp), np.empty(space, np.intp)
        self.firsts = np.full((kernels.TRAITS, width), -1, np.intp)
        self.texts = _empty_texts(width)
        self.cursor = np.array([0, 0, 2], np.intp)
        """Where to read on: the position in the block, the row, and the line of the file."""

    def read(self, content: bytes, delimiter: int, offset: int) -> bytes:
        """Read the rows of a block; what is left is the beginning of a row whose quotes are not closed yet."""
        block = np.frombuffer(content, np.uint8)
        self.cursor[0] = 0
        while True:
            self.texts = _with_space(self.texts, len(block))
            bits = self.cells.cells.view(np.uint64)
            arrays = self.starts, self.lines, self.firsts, self.texts
            status = kernels.read_rows(block, delimiter, offset, self.cursor, bits, *arrays)
            if status == kernels.IRREGULAR:
                raise NotPlainError
            if status != kernels.FULL:
                return content[self.cursor[0] :]
            del bits
            if self.cursor[1] == len(self.starts):
                self.resize(int(1.02 * len(self.starts)) + 16)

    def resize(self, rows: int) -> None:
        """Resize the arrays to a number of rows, in place."""
        self.cells.resize(rows)
        self.starts.resize(rows, refcheck=False)
        self.lines.resize(rows, refcheck=False)


def _with_line_end(content: bytes) -> bytes:
    return content if content.endswith(b"\n") else content + b"\n"


def _is_text(content: bytes) -> bool:
    """Whether a block is UTF-8 without NUL bytes."""
    try:
        return b"\0" not in content and (content.isascii() or content.decode() is not None)
    except UnicodeDecodeError:
        return False


def _number_column(plain: PlainText, name: str, index: int, cells: Array) -> TextColumn:
    """A column of numbers, whose text is read from the file if it is needed."""
    ambiguous = plain.has(kernels.HAS_POINT, index) and not plain.has(kernels.IS_UNGROUPED, index)
    numbers = Numbers(
        cells=cells,
        missing=plain.has(kernels.IS_EMPTY, index),
        with_comma=plain.example(kernels.HAS_COMMA, index),
        with_point=plain.example(kernels.HAS_POINT, index) if ambiguous else "",
    )
    return TextColumn(name, lambda: _read_texts(plain, [index])[0][index], numbers)


def _read_texts(plain: PlainText, columns: Sequence[int]) -> tuple[dict[int, Distinct], set[int]]:
    """The distinct cells of some columns without blanks around them, and which columns had such blanks.

    Columns that are text from the first row on were numbered by the first pass; the others take another one.
    """
    early = [column for column in columns if plain.firsts[kernels.IS_TEXT, column] == 0]
    late = [column for column in columns if column not in early]
    bits = plain.cells.cells.view(np.uint64)
    indices = np.array(early, np.intp)
    numbered = MappedArray(len(bits), len(early), np.int32).cells
    for block in blocks_of(len(bits), len(early), 1 << 20):
        numbered[block] = np.take(bits[block], indices, axis=1)
    results, with_blanks = dict[int, Distinct](), set[int]()
    for columns_of_pass, texts, which_of_columns in (
        (early, plain.texts, numbered),
        (late, *_numbered(plain, late)),
    ):
        for column, which in zip(columns_of_pass, which_of_columns.T, strict=True):
            cells = list(_texts_of(texts, column))
            bare = [text.strip() for text in cells]
            if bare != cells:
                with_blanks.add(column)
            index_of = {text: index for index, text in enumerate(dict.fromkeys(bare))}
            if len(index_of) < len(bare):
                which = np.array([index_of[text] for text in bare], np.int32)[which]
            results[column] = list(index_of), which
    return results, with_blanks


def _numbered(plain: PlainText, columns: Sequence[int]) -> tuple[Texts, Codes]:
    """The distinct cells of some columns, and which one each row has, by another pass through the file."""
    which, texts = (
        MappedArray(len(plain.starts), len(columns), np.int32).cells,
        _empty_texts(plain.firsts.shape[1]),
    )
    for first, end in plain.blocks() if columns else ():
        block = np.frombuffer(_with_line_end(plain.source.piece(*plain.extent(first, end))), np.uint8)
        rows, indices, done = plain.starts[first:end] - plain.starts[first], np.array(columns, np.intp), 0
        while done < len(rows):
            texts = _with_space(texts, len(block))
            done = kernels.number_texts(block, rows, done, ord(plain.delimiter), indices, texts, which[first:end])
        give_pages_back()
    return texts, which


def _empty_texts(columns: int, letters: int = 0, texts: int = 1 << 8) -> Texts:
    """No texts yet, with space for these numbers of letters and texts."""
    return Texts(
        letters=np.empty(letters, np.uint8),
        ends=np.zeros(texts + 1, np.int64),
        hashes=np.empty(texts, np.uint64),
        owners=np.empty(texts, np.int32),
        numbers=np.empty(texts, np.int32),
        table=np.full(1 << texts.bit_length() + 1, -1, np.int32),
        known=np.zeros(columns + 1, np.int64),
    )


def _with_space(texts: Texts, letters: int) -> Texts:
    """The same texts, with space for that many more letters and for more texts."""
    columns, count = len(texts.known) - 1, int(texts.known[-1])
    space, letters = len(texts.hashes), letters + int(texts.ends[count])
    if letters <= len(texts.letters) and count + columns < space // 2:
        return texts
    larger = _empty_texts(columns, 2 * letters, 2 * (space + columns))
    larger.letters[: len(texts.letters)] = texts.letters
    larger.ends[: len(texts.ends)] = texts.ends
    larger.hashes[: len(texts.hashes)] = texts.hashes
    larger.owners[: len(texts.owners)] = texts.owners
    larger.numbers[: len(texts.numbers)] = texts.numbers
    larger.known[:] = texts.known
    place_again(larger.hashes, count, larger.table)
    return larger


def _texts_of(texts: Texts, column: int) -> Iterator[str]:
    """The distinct cells of a column as they are written."""
    owners = texts.owners[: texts.known[-1]]
    letters = texts.letters[: texts.ends[len(owners)]].tobytes()
    for index in np.flatnonzero(owners // 2 == column).tolist():
        text = letters[texts.ends[index] : texts.ends[index + 1]].decode()
        yield text.replace('""', '"') if owners[index] % 2 else text
