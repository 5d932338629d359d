"""From the bytes of a file to its text: what is no text is refused, what is guessed is noted."""

from __future__ import annotations

import codecs

from mlcli.core.errors import DataError

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


def decoded(content: bytes, name: str, stated: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text without marks at its beginning, and notes on how it was read; line ends are kept."""
    refuse_foreign(content, name)
    text, notes = _as_stated(content, name, stated) if stated else _with_encoding(content, name)
    if "\0" in text:
        raise DataError("is not text: it holds NUL bytes", where=name, hint="save it as CSV in the encoding UTF-8")
    bare = text.lstrip(MARK)
    if bare != text:
        notes += ("the file begins with a second byte order mark, which was dropped",)
    return bare, notes


def refuse_foreign(content: bytes, name: str) -> None:
    """Refuse what begins like a file of another kind."""
    for signature, what, hint in SIGNATURES:
        if content[: len(signature)].lower() == signature.lower():
            raise DataError(f"is {what}, not a CSV file", where=name, hint=hint)


def _as_stated(content: bytes, name: str, encoding: str) -> tuple[str, tuple[str, ...]]:
    """The text in the encoding that the sidecar states."""
    try:
        return content.decode(encoding).removeprefix(MARK), ()
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
