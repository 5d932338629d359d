"""A table as records: Parquet by its columns, a large and plain CSV file by the compiled pass, others as text.

What a file is shows at its beginning, not in its name: what comes through a pipe has none. What is no text is
refused, what is guessed is noted.
"""

from __future__ import annotations

import codecs
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mlcli.core.errors import DataError
from mlcli.data.records import FileLayout, Records
from mlcli.data.source import Content, InMemory, content_of, unpacked, unreadable
from mlcli.data.split_text import split_text

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
    encoding = stated or next((one for mark, one in MARKS if content.startswith(mark)), "utf-8")
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
