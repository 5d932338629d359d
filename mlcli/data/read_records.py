"""A table as records: Parquet by its columns, a large and plain CSV file by the compiled pass, others as text.

What a file is shows at its beginning, not in its name: what comes through a pipe has none.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from mlcli.data.content import Content, InMemory, content_of, unpacked, unreadable
from mlcli.data.encodings import decoded, refuse_foreign
from mlcli.data.records import Layout, Records
from mlcli.data.split_text import split_text

LARGE = 1 << 24
"""Bytes from which on the compiled pass repays loading it."""
BEGINNING = 64
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"


def read_file(path: Path, layout: Layout | None = None) -> Records:
    """The records of a file, or a DataError that says why not."""
    return read_records(content_of(path), str(path), layout)


def read_records(content: Content | bytes, name: str, layout: Layout | None = None) -> Records:
    """The records of some bytes, be they packed or not."""
    held = InMemory(content) if isinstance(content, bytes) else content
    try:
        return _read(held, name, layout or Layout())
    except OSError as problem:
        raise unreadable(problem, name) from None


def _read(source: Content, name: str, layout: Layout) -> Records:
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


def _with_care(source: Content, name: str, layout: Layout) -> Records:
    """A large file that is not plain, or not as UTF-8."""
    text, notes = decoded(source.piece(0, source.size), name, layout.encoding)
    if notes or layout.encoding:
        records = _plain(InMemory(text.encode()), name, replace(layout, encoding=None))
        if records is not None:
            return replace(records, notes=notes + records.notes)
    return split_text(text, notes, name, layout)


def _plain(source: Content, name: str, layout: Layout) -> Records | None:
    from mlcli.data.large_text import NotPlainError, read_large

    with suppress(NotPlainError):
        return read_large(source, name, layout)
    return None
