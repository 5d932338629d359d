"""Documents as CSV: every table and picture as rows, and what stands between them as lines after a #.

A score is a number there: how far its interval reaches has a column of its own, and no star says which is best.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from mlcli.report.document import Document, Element, Grid, GridCell, Heading, Notes, Preformatted, Sentence
from mlcli.report.page import Page
from mlcli.report.pictures.characters import drawn

COMMENT = "#"
REACH = " ±"
OF_STARS = re.compile(r"^\* is the best of its \w+; ")


def csv_of(document: Document, page: Page) -> str:
    """The whole document, an empty line between its elements."""
    elements = ("\n".join(_lines(element, page)) for element in document)
    return "\n\n".join(text for text in elements if text) + "\n"


def _lines(element: Element, page: Page) -> Iterator[str]:
    match element:
        case Heading(text) | Sentence(text):
            return _comment_lines([text], page)
        case Preformatted(lines):
            return _comment_lines(lines, page)
        case Notes(items):
            return _comment_lines((text if mark in ("", "-") else f"{mark} {text}" for mark, text in items), page)
        case Grid():
            return _csv_lines(element, page)
        case _:
            return _lines(drawn(element, None), page)


def _comment_lines(lines: Iterable[str], page: Page) -> Iterator[str]:
    return (f"{COMMENT} {page.shown(OF_STARS.sub('', line))}".rstrip() for line in lines)


def _csv_lines(grid: Grid, page: Page) -> Iterator[str]:
    by_title = ((title, [row[place] for row in grid.rows]) for place, title in enumerate(grid.header))
    heads, *rows = zip(*(column for title, cells in by_title for column in _columns(title, cells)), strict=True)
    for cells in [heads, *rows] if any(grid.header) else rows:
        line = StringIO()
        csv.writer(line, lineterminator="").writerow(map(page.shown, cells))
        yield line.getvalue()


def _columns(header: str, fields: Sequence[GridCell]) -> Iterator[list[str]]:
    """The cells of a column below its header, and those of how far they reach where some do."""
    cells = [field.written.strip().removeprefix("*" * (field.style == "best")) for field in fields]
    parts = [cell.partition(REACH) for cell in cells]
    yield [header, *(number for number, _, _ in parts)]
    if any(reach for _, reach, _ in parts):
        yield [header + REACH, *(width for _, _, width in parts)]
