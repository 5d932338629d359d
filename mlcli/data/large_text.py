"""A large file in cells, block by block: one compiled pass reads numbers at once, and leaves text in the file.

It reads what is plain. Whatever is not (an odd row, another encoding, old line ends) is left to ``split_text``,
which reads everything, and says what is wrong.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.rooms import Room, give_pages_back
from mlcli.core.tables import Array, Rows
from mlcli.data.content import Content
from mlcli.data.delimiters import BLANK, SNIFFED_TEXT, doubts, sniffed, split
from mlcli.data.records import Distinct, Layout, Numbers, Records, TextColumn
from mlcli.data.split_text import blanks_note, checked_header
from mlcli.kernels.text import cells as kernels

BLOCK = 1 << 23
LONGEST_ROW = 1 << 27
SPARE = 1.02
"""Room for so many times the rows that the beginning lets expect; and so much more each time it is full."""


class NotPlainError(Exception):
    """The file needs a closer look."""


@dataclass(frozen=True, eq=False)
class PlainText:
    """Where the rows of a file are, and what its cells are where they are numbers."""

    source: Content
    delimiter: str
    starts: Rows
    lines: Rows
    room: Room
    firsts: Rows
    """For each trait of a column, the first row that has it, or -1."""

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


def read_large(source: Content, name: str, layout: Layout) -> Records:
    """The records of a large file, or ``NotPlainError``."""
    head, begin = _head(source, layout)
    delimiter = layout.delimiter or sniffed(head)
    if delimiter == BLANK or not delimiter.isascii() or "\0" in head:
        raise NotPlainError
    first = next(split(head, delimiter))
    end = _end_of_line(source, begin, first, delimiter)
    header = checked_header(first, name, 1, layout.header)
    if len(header) == 1:
        raise NotPlainError
    notes = () if layout.delimiter else tuple(doubts(head, delimiter))
    plain = _read(source, end, delimiter, len(header))
    numeric = [place for place in range(len(header)) if not plain.is_text(place)]
    if len(numeric) < len(header):
        plain.room.keep(np.array(numeric, np.intp))
    texts, stripped = read_texts(plain, [place for place in range(len(header)) if plain.is_text(place)])
    cells = dict(zip(numeric, plain.room.cells.T, strict=True))
    columns = [
        TextColumn.of(heading, *texts[place]) if place in texts else _numbers(plain, heading, place, cells[place])
        for place, heading in enumerate(header)
    ]
    blanks = [
        heading
        for place, heading in enumerate(header)
        if place in stripped or (place not in texts and plain.has(kernels.HAS_BLANKS, place))
    ]
    return Records(name, delimiter, tuple(columns), plain.lines, notes + blanks_note(blanks))


def read_texts(plain: PlainText, wanted: Sequence[int]) -> tuple[dict[int, Distinct], set[int]]:
    """The distinct cells of some columns without blanks around them, and which columns had such blanks."""
    known: list[dict[str, int]] = [{} for _ in wanted]
    which = [np.empty(len(plain.starts), np.intp) for _ in wanted]
    stripped: set[int] = set()
    for first, end in plain.blocks() if wanted else ():
        block = _ended(plain.source.piece(*plain.extent(first, end)))
        for place, (texts, local) in enumerate(_cells(block, plain, first, end, wanted)):
            bare = [text.strip() for text in texts]
            if bare != texts:
                stripped.add(wanted[place])
            codes = np.array([known[place].setdefault(text, len(known[place])) for text in bare], np.intp)
            which[place][first:end] = codes[local]
    return {column: (list(known[place]), which[place]) for place, column in enumerate(wanted)}, stripped


def _cells(block: bytes, plain: PlainText, first: int, end: int, wanted: Sequence[int]) -> Iterator[Distinct]:
    """The distinct cells of each wanted column in some rows, which stand in a block."""
    signs, rows = np.frombuffer(block, np.uint8), plain.starts[first:end] - plain.starts[first]
    begins, ends = np.empty((2, len(wanted), end - first), np.int32)
    kernels.locate(signs, rows, ord(plain.delimiter), np.array(wanted, np.intp), begins, ends)
    table = np.empty(1 << (end - first).bit_length() + 1, np.int32)
    for begin, stop in zip(begins, ends, strict=True):
        table.fill(-1)
        local, firsts = np.empty((2, end - first), np.intp)
        known = kernels.number_distinct(signs, begin, stop, table, local, firsts)
        yield [_text(block, begin[row], stop[row]) for row in firsts[:known].tolist()], local


def _text(block: bytes, begin: int, end: int) -> str:
    return block[begin:end].decode() if end >= 0 else block[begin:-end].decode().replace('""', '"')


def _numbers(plain: PlainText, name: str, place: int, cells: Array) -> TextColumn:
    """A column whose numbers are known."""
    ambiguous = plain.has(kernels.HAS_POINT, place) and not plain.has(kernels.IS_UNGROUPED, place)
    numbers = Numbers(
        cells=cells,
        missing=plain.has(kernels.IS_EMPTY, place),
        with_comma=plain.example(kernels.HAS_COMMA, place),
        with_point=plain.example(kernels.HAS_POINT, place) if ambiguous else "",
    )
    return TextColumn(name, lambda: read_texts(plain, [place])[0][place], numbers)


def _head(source: Content, layout: Layout) -> tuple[str, int]:
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
    if next(split(line.decode(errors="replace"), delimiter)) != list(header) or b"\r" in line.removesuffix(b"\r"):
        raise NotPlainError
    return begin + len(line) + 1


def _read(source: Content, begin: int, delimiter: str, width: int) -> PlainText:
    """All rows, from a place of the file on."""
    room = _Room.for_rows(_rows_expected(source, begin), width)
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
    return PlainText(source, delimiter, room.starts, room.lines, room.numbers, room.firsts)


def _rows_expected(source: Content, begin: int) -> int:
    """How many rows there are if all are as long as those of the beginning."""
    sample = source.piece(begin, begin + SNIFFED_TEXT)
    return int((sample.count(b"\n") + 1) * (source.size - begin) / max(len(sample), 1))


@dataclass(frozen=True, eq=False)
class _Room:
    """What is read, with room for more rows than there are yet."""

    numbers: Room
    starts: Rows
    lines: Rows
    firsts: Rows
    cursor: Rows
    """The place in the block, the row, and the line of the file, from which on to read."""

    @staticmethod
    def for_rows(rows: int, width: int) -> _Room:
        room = int(SPARE * rows) + 16
        firsts = np.full((kernels.TRAITS, width), -1, np.intp)
        return _Room(
            numbers=Room(room, width),
            starts=np.empty(room, np.intp),
            lines=np.empty(room, np.intp),
            firsts=firsts,
            cursor=np.array([0, 0, 2], np.intp),
        )

    def read(self, content: bytes, delimiter: int, offset: int) -> bytes:
        """Read the rows of a block; what is left is the beginning of a row whose quotes are not closed yet."""
        block = np.frombuffer(content, np.uint8)
        self.cursor[0] = 0
        while True:
            bits = self.numbers.cells.view(np.uint64)
            status = kernels.read_rows(
                block, delimiter, offset, self.cursor, bits, self.starts, self.lines, self.firsts
            )
            if status == kernels.IRREGULAR:
                raise NotPlainError
            if status != kernels.FULL:
                return content[self.cursor[0] :]
            del bits
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
