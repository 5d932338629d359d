"""From the bytes of a file to text: which encoding it is in, and whether it is text at all."""

from __future__ import annotations

import codecs

from mlcli.core.errors import DataError

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


def decoded(content: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """The text with line ends as newlines, and notes on how it was read."""
    for signature, what, hint in SIGNATURES:
        if content[: len(signature)] == signature or content[: len(signature)].lower() == signature:
            raise DataError(f"is {what}, not a CSV file", where=name, hint=hint)
    text, notes = _with_encoding(content, name)
    if "\0" in text:
        raise DataError("is not text: it holds NUL bytes", where=name, hint="save it as CSV in the encoding UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


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
