"""A large file in cells, block by block: one compiled pass reads numbers at once, and leaves text in the file.

It reads what is plain. Whatever is not (an odd row, another encoding, old line ends) is left to ``split_text``,
which reads everything, and says what is wrong.
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
    BLANK,
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
from mlcli.data.source import Content
from mlcli.kernels.text import cells as kernels
from mlcli.kernels.text.numbering import Texts, place_again

BLOCK = 1 << 20
CELLS = 1 << 20
"""How many cells are copied at once."""
LONGEST_ROW = 1 << 27
SPARE = 1.02
"""MappedArray for so many times the rows that the beginning lets expect; and so much more each time it is full."""


class NotPlainError(Exception):
    """The file needs a closer look."""


@dataclass(frozen=True, eq=False)
class PlainText:
    """Where the rows of a file are, and what its cells are where they are numbers."""

    source: Content
    delimiter: str
    starts: Rows
    lines: Rows
    room: MappedArray
    firsts: Rows
    """For each trait of a column, the first row that has it, or -1."""
    texts: Texts
    """Of the columns that are text from the first row on; their cells in the room are numbers of these."""

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
        """The rows as some at a time, as many as fill a block, but at least one."""
        first = 0
        while first < len(self.starts):
            end = int(np.searchsorted(self.starts, self.starts[first] + BLOCK))
            yield first, max(end, first + 1)
            first = max(end, first + 1)

    def extent(self, first: int, end: int) -> tuple[int, int]:
        """Where some rows stand in the file."""
        last = int(self.starts[end]) if end < len(self.starts) else self.source.size
        return int(self.starts[first]), last


def read_large(source: Content, name: str, layout: FileLayout) -> Records:
    """The records of a large file, or ``NotPlainError``."""
    head, begin = _head(source, layout)
    delimiter = layout.delimiter or sniffed_delimiter(head)
    if delimiter == BLANK or not delimiter.isascii() or "\0" in head:
        raise NotPlainError
    first = next(split(head, delimiter))
    end = _end_of_line(source, begin, first, delimiter)
    header = checked_header(first, name, 1, layout.header)
    if len(header) == 1:
        raise NotPlainError
    notes = () if layout.delimiter else tuple(delimiter_notes(head, delimiter))
    plain = _read(source, end, delimiter, len(header))
    numeric = [index for index in range(len(header)) if not plain.is_text(index)]
    texts, stripped = read_texts(plain, [index for index in range(len(header)) if plain.is_text(index)])
    if len(numeric) < len(header):
        plain.room.keep(np.array(numeric, np.intp))
    cells = dict(zip(numeric, plain.room.cells.T, strict=True))
    columns = [
        TextColumn.of(heading, *texts[index]) if index in texts else _numbers(plain, heading, index, cells[index])
        for index, heading in enumerate(header)
    ]
    blanks = [
        heading
        for index, heading in enumerate(header)
        if index in stripped or (index not in texts and plain.has(kernels.HAS_BLANKS, index))
    ]
    return Records(name, delimiter, tuple(columns), plain.lines, notes + blanks_note(blanks))


def read_texts(plain: PlainText, sequence: Sequence[int]) -> tuple[dict[int, Distinct], set[int]]:
    """The distinct cells of some columns without blanks around them, and which columns had such blanks."""
    early = [column for column in sequence if plain.firsts[kernels.IS_TEXT, column] == 0]
    late = [column for column in sequence if column not in early]
    bits = plain.room.cells.view(np.uint64)
    indices = np.array(early, np.intp)
    numbered = MappedArray(len(bits), len(early), np.int32).cells
    for block in blocks_of(len(bits), len(early), CELLS):
        numbered[block] = np.take(bits[block], indices, axis=1)
    results, stripped = dict[int, Distinct](), set[int]()
    for columns, texts, which in ((early, plain.texts, numbered), (late, *_numbered(plain, late))):
        for column, cells in zip(columns, which.T, strict=True):
            results[column], had_blanks = without_blanks(texts, column, cells)
            stripped |= {column} if had_blanks else set()
    return results, stripped


def _numbered(plain: PlainText, sequence: Sequence[int]) -> tuple[Texts, Codes]:
    """The distinct cells of some columns, and which one each row has, by another pass through the file."""
    which, texts = MappedArray(len(plain.starts), len(sequence), np.int32).cells, no_texts(plain.firsts.shape[1])
    for first, end in plain.blocks() if sequence else ():
        block = np.frombuffer(_ended(plain.source.piece(*plain.extent(first, end))), np.uint8)
        rows, columns, done = plain.starts[first:end] - plain.starts[first], np.array(sequence, np.intp), 0
        while done < len(rows):
            texts = with_room(texts, len(block))
            done = kernels.number_texts(block, rows, done, ord(plain.delimiter), columns, texts, which[first:end])
        give_pages_back()
    return texts, which


def _numbers(plain: PlainText, name: str, index: int, cells: Array) -> TextColumn:
    """A column whose numbers are known."""
    ambiguous = plain.has(kernels.HAS_POINT, index) and not plain.has(kernels.IS_UNGROUPED, index)
    numbers = Numbers(
        cells=cells,
        missing=plain.has(kernels.IS_EMPTY, index),
        with_comma=plain.example(kernels.HAS_COMMA, index),
        with_point=plain.example(kernels.HAS_POINT, index) if ambiguous else "",
    )
    return TextColumn(name, lambda: read_texts(plain, [index])[0][index], numbers)


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


def _end_of_line(source: Content, begin: int, header: Sequence[str], delimiter: str) -> int:
    """Where the line of names ends; it must be a plain one."""
    line = source.piece(begin, begin + SNIFFED_TEXT).partition(b"\n")[0]
    try:
        names = next(split(line.decode(errors="replace"), delimiter, strict=True))
    except csv.Error:
        raise NotPlainError from None
    if names != list(header) or b"\r" in line.removesuffix(b"\r"):
        raise NotPlainError
    return begin + len(line) + 1


def _read(source: Content, begin: int, delimiter: str, width: int) -> PlainText:
    """All rows, from a place of the file on."""
    room = _RowBuffer.for_rows(_rows_expected(source, begin), width)
    position, kept = begin, b""
    while position < source.size:
        piece = source.piece(position, position + BLOCK)
        offset, position = position - len(kept), position + len(piece)
        content, kept = _whole_lines(kept + piece, position >= source.size)
        if len(kept) > LONGEST_ROW or not _is_text(content):
            raise NotPlainError
        left = room.read(content, ord(delimiter), offset)
        if left and position >= source.size:
            raise NotPlainError
        kept = left + kept
    room.resize(int(room.cursor[1]))
    give_pages_back()
    return PlainText(source, delimiter, room.starts, room.lines, room.numbers, room.firsts, room.texts)


def _rows_expected(source: Content, begin: int) -> int:
    """How many rows there are if all are as long as those of the beginning."""
    sample = source.piece(begin, begin + SNIFFED_TEXT)
    return int((sample.count(b"\n") + 1) * (source.size - begin) / max(len(sample), 1))


@dataclass(eq=False)
class _RowBuffer:
    """What is read, with room for more rows than there are yet."""

    numbers: MappedArray
    starts: Rows
    lines: Rows
    firsts: Rows
    cursor: Rows
    """The place in the block, the row, and the line of the file, from which on to read."""
    texts: Texts

    @staticmethod
    def for_rows(rows: int, width: int) -> _RowBuffer:
        room = int(SPARE * rows) + 16
        starts, lines = (np.empty(room, np.intp) for _ in range(2))
        firsts, cursor = np.full((kernels.TRAITS, width), -1, np.intp), np.array([0, 0, 2], np.intp)
        return _RowBuffer(MappedArray(room, width), starts, lines, firsts, cursor, no_texts(width))

    def read(self, content: bytes, delimiter: int, offset: int) -> bytes:
        """Read the rows of a block; what is left is the beginning of a row whose quotes are not closed yet."""
        block = np.frombuffer(content, np.uint8)
        self.cursor[0] = 0
        while True:
            self.texts = with_room(self.texts, len(block))
            bits = self.numbers.cells.view(np.uint64)
            rows = self.starts, self.lines, self.firsts, self.texts
            status = kernels.read_rows(block, delimiter, offset, self.cursor, bits, *rows)
            if status == kernels.IRREGULAR:
                raise NotPlainError
            if status != kernels.FULL:
                return content[self.cursor[0] :]
            del bits
            if self.cursor[1] == len(self.starts):
                self.resize(int(SPARE * len(self.starts)) + 16)

    def resize(self, rows: int) -> None:
        """Make room for so many rows, in place."""
        self.numbers.resize(rows)
        self.starts.resize(rows, refcheck=False)
        self.lines.resize(rows, refcheck=False)


def _whole_lines(content: bytes, is_last: bool) -> tuple[bytes, bytes]:
    """What ends with the end of a line, and the rest."""
    if is_last:
        return _ended(content), b""
    cut = content.rfind(b"\n") + 1
    return content[:cut], content[cut:]


def _ended(content: bytes) -> bytes:
    return content if content.endswith(b"\n") else content + b"\n"


def _is_text(content: bytes) -> bool:
    """Whether a block is UTF-8."""
    if b"\0" in content:
        return False
    try:
        return content.isascii() or content.decode() is not None
    except UnicodeDecodeError:
        return False


def no_texts(columns: int, letters: int = 0, texts: int = 1 << 8) -> Texts:
    """MappedArray for so many letters and texts; there are none yet."""
    return Texts(
        letters=np.empty(letters, np.uint8),
        ends=np.zeros(texts + 1, np.int64),
        hashes=np.empty(texts, np.uint64),
        owners=np.empty(texts, np.int32),
        numbers=np.empty(texts, np.int32),
        table=np.full(1 << texts.bit_length() + 1, -1, np.int32),
        known=np.zeros(columns + 1, np.int64),
    )


def with_room(texts: Texts, letters: int) -> Texts:
    """The same texts, with room for so many more letters and for more than a few texts."""
    columns, known = len(texts.known) - 1, int(texts.known[-1])
    room, letters = len(texts.hashes), letters + int(texts.ends[known])
    if letters <= len(texts.letters) and known + columns < room // 2:
        return texts
    larger = no_texts(columns, 2 * letters, 2 * (room + columns))
    for mine, theirs in zip(texts[:5], larger[:5], strict=True):
        theirs[: len(mine)] = mine
    larger.known[:] = texts.known
    place_again(larger.hashes, known, larger.table)
    return larger


def without_blanks(texts: Texts, column: int, which: Codes) -> tuple[Distinct, bool]:
    """The distinct cells of a column without blanks around them, in order of appearance; whether any had some."""
    written = list(_written(texts, column))
    bare = [text.strip() for text in written]
    known = {text: number for number, text in enumerate(dict.fromkeys(bare))}
    if len(known) < len(bare):
        which = np.array([known[text] for text in bare], np.int32)[which]
    return (list(known), which), bare != written


def _written(texts: Texts, column: int) -> Iterator[str]:
    """The distinct cells of a column as they are written."""
    owners = texts.owners[: texts.known[-1]]
    letters = texts.letters[: texts.ends[len(owners)]].tobytes()
    for index in np.flatnonzero(owners // 2 == column).tolist():
        text = letters[texts.ends[index] : texts.ends[index + 1]].decode()
        yield text.replace('""', '"') if owners[index] % 2 else text
