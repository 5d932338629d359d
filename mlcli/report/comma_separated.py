"""Documents as CSV: every table and picture as rows, and what stands between them as lines after a #."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO

from mlcli.report.document import Document, Element, Grid, Heading, Lines, Notes, Sentence
from mlcli.report.drawing import drawn
from mlcli.report.page import Page

COMMENT = "#"


def csv_of(document: Document, page: Page) -> str:
    """The whole document, an empty line between its elements."""
    elements = ("\n".join(_lines(element, page)) for element in document)
    return "\n\n".join(text for text in elements if text) + "\n"


def _lines(element: Element, page: Page) -> Iterator[str]:
    match element:
        case Heading(text) | Sentence(text):
            return _remarks([text], page)
        case Lines(lines):
            return _remarks(lines, page)
        case Notes(items):
            return _remarks((f"{mark} {text}".lstrip("- ") for mark, text in items), page)
        case Grid():
            return _records(element, page)
        case _:
            return _lines(drawn(element, None), page)


def _remarks(lines: Iterable[str], page: Page) -> Iterator[str]:
    return (f"{COMMENT} {page.shown(line)}".rstrip() for line in lines)


def _records(grid: Grid, page: Page) -> Iterator[str]:
    if any(grid.header):
        yield _record(map(page.shown, grid.header))
    yield from (_record(page.shown(cell.written).strip() for cell in row) for row in grid.rows)


def _record(cells: Iterable[str]) -> str:
    line = StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()
