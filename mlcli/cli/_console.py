"""Output: results go to stdout, remarks to stderr, colour only to terminals."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, TextIO

from mlcli.core.serialise import plain
from mlcli.report.document import Document
from mlcli.report.formats import CSV, JSON, renderer_of
from mlcli.report.formats.text import coloured, text_of
from mlcli.report.page import Page

if TYPE_CHECKING:
    from mlcli.api.reports import Report

UNSHOWN = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *range(0xD800, 0xE000))}
"""Control characters, which terminals may obey, and bytes of a path that are no text: JSON escapes neither."""


_streams: list[TextIO] = []
"""Where results go now, the last of them; stdout if there is none."""


def results() -> TextIO:
    """The stream that results are written to."""
    return _streams[-1] if _streams else sys.stdout


@contextmanager
def results_to(stream: TextIO) -> Iterator[None]:
    """Write the results of the body to a stream."""
    _streams.append(stream)
    try:
        yield
    finally:
        _streams.pop()


@contextmanager
def stdout_for_results() -> Iterator[None]:
    """Keep stdout for results in the body; what methods or packages print there goes to stderr."""
    with results_to(sys.stdout), redirect_stdout(sys.stderr):
        yield


def show_result(result: Report, format: str) -> None:
    """Print a result to stdout in the format that was asked for."""
    if format == JSON:
        show_json(result.record)
    else:
        show(result.rows if format == CSV else result.document, format)


def show(document: Document, format: str = "text") -> None:
    """Print a document to stdout."""
    page = page_for(results())
    painted = format == "text" and has_colour(results())
    results().write(text_of(document, page, coloured) if painted else renderer_of(format)(document, page))


def show_json(value: object) -> None:
    """Print one JSON document to stdout; dataclasses are objects."""
    import json

    is_utf8 = (results().encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(plain(value), indent=2, allow_nan=False, ensure_ascii=not is_utf8)
    results().write(text.translate(UNSHOWN) + "\n")


def show_line(text: str) -> None:
    """Print a line to stdout, where it is the result."""
    results().write(f"{page_for(results()).shown(text)}\n")


def remark(text: str) -> None:
    """Print a remark to stderr, where no result stands; one that cannot be printed changes nothing."""
    page = page_for(sys.stderr)
    with suppress(OSError):
        sys.stderr.write("".join(f"{page.shown(line)}\n" for line in text.split("\n")))
        sys.stderr.flush()


def page_for(stream: TextIO) -> Page:
    """The page of a stream: as wide as its terminal, or as COLUMNS says; in a pipe only prose is folded."""
    encoding = stream.encoding or "utf-8"
    if not (stream.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        return Page(None, encoding, 110)
    return Page(max(40, shutil.get_terminal_size().columns), encoding)


def is_terminal(stream: TextIO) -> bool:
    """Whether a person may be looking on, at a device that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants colour (https://no-color.org), or must have it (FORCE_COLOR)."""
    forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
    return (forced or is_terminal(stream)) and not os.environ.get("NO_COLOR")
