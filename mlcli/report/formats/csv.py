"""Documents as CSV: one table, whose columns are those of all tables of the document.

Where a document is more than one table, ``section`` is the heading that a row stands under, and a line of text is
a row with ``text``. A score is a number: how far its interval reaches has a column of its own, and no star says
which is best.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from mlcli.core.names import free_name
from mlcli.report.document import Document, Element, Grid, GridCell, Heading, Legend, Notes, Preformatted, Sentence
from mlcli.report.page import Page
from mlcli.report.pictures.characters import drawn

OUTER = SECTION, TEXT = "section", "text"
"""The columns of a document beside those of its tables."""
REACH, LOW, HIGH = " ±", " low", " high"

Row = dict[str, str]


def csv_of(document: Document, page: Page) -> str:
    """The whole document as one table with a header."""
    rows = list(_rows_in_sections(document))
    used = dict.fromkeys(name for row in rows for name in row)
    header = [*(name for name in (SECTION, TEXT) if name in used), *(name for name in used if name not in OUTER)]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(page.shown, header))
    writer.writerows([page.shown(row.get(name, "")) for name in header] for row in rows)
    return text.getvalue()


def _rows_in_sections(document: Document) -> Iterator[Row]:
    """The rows of all elements, each with the headings that it stands under."""
    headings: dict[int, str] = {}
    for element in document:
        if isinstance(element, Heading):
            headings = {level: text for level, text in headings.items() if level < element.level}
            headings[element.level] = element.text
            continue
        section = {SECTION: ": ".join(headings.values())} if headings else {}
        yield from ({**section, **row} for row in _rows(element))


def _rows(element: Element) -> Iterator[Row]:
    match element:
        case Heading(text) | Sentence(text):
            return _text_rows([text])
        case Preformatted(lines):
            return _text_rows(lines)
        case Notes(items):
            return _text_rows(text if mark in ("", "-") else f"{mark} {text}" for mark, text in items)
        case Legend():
            return _rows(element.as_notes(without="*"))
        case Grid():
            return _grid_rows(element)
        case _:
            return _rows(drawn(element, None))


def _text_rows(lines: Iterable[str]) -> Iterator[Row]:
    return ({TEXT: line} for line in lines)


def _grid_rows(grid: Grid) -> Iterator[Row]:
    columns: dict[str, Sequence[str]] = {}
    for index, title in enumerate(grid.header):
        for name, cells in _columns(title or f"column {index + 1}", [row[index] for row in grid.rows]):
            columns[free_name(name, {*OUTER, *columns})] = cells
    return (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))


def _columns(title: str, fields: Sequence[GridCell]) -> Iterator[tuple[str, Sequence[str]]]:
    """The cells of a column under its title, and those of how far they reach where some do."""
    yield title, [GridCell(field.text, heights=field.heights).written.strip() for field in fields]
    if any(field.reach for field in fields):
        yield title + REACH, [field.reach for field in fields]
    if any(field.ends for field in fields):
        yield title + LOW, [field.ends[0] if field.ends else "" for field in fields]
        yield title + HIGH, [field.ends[1] if field.ends else "" for field in fields]
