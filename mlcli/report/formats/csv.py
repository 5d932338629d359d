"""Documents as CSV: one table, whose columns are those of all tables of the document.

If a document has more than one table, ``section`` is the heading above a row, and a line of text is a row with
``text``. A score is a number: the half-width or the ends of its interval have columns of their own, and no star
marks the best.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from mlcli.core.names import free_name
from mlcli.report.characters import drawn
from mlcli.report.document import Document, Element, Grid, GridCell, Heading, Legend, Notes, Preformatted, Sentence
from mlcli.report.page import Page

SECTION, TEXT = "section", "text"
"""The columns of a document beside those of its tables."""

Row = dict[str, str]


def csv_of(document: Document, page: Page) -> str:
    """The whole document as one table with a header."""
    rows: list[Row] = []
    headings: dict[int, str] = {}
    for element in document:
        if isinstance(element, Heading):
            headings = {level: text for level, text in headings.items() if level < element.level}
            headings[element.level] = element.text
        else:
            section = {SECTION: ": ".join(headings.values())} if headings else {}
            rows += [{**section, **row} for row in _rows(element)]
    used = dict.fromkeys(name for row in rows for name in row)
    outer = [name for name in (SECTION, TEXT) if name in used]
    header = [*outer, *(name for name in used if name not in outer)]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(page.shown, header))
    writer.writerows([page.shown(row.get(name, "")) for name in header] for row in rows)
    return text.getvalue()


def _rows(element: Element) -> list[Row]:
    match element:
        case Heading(text) | Sentence(text):
            return [{TEXT: text}]
        case Preformatted(lines):
            return [{TEXT: line} for line in lines]
        case Notes(items):
            return [{TEXT: text if mark in ("", "-") else f"{mark} {text}"} for mark, text in items]
        case Legend():
            return _rows(element.as_notes(without="*"))
        case Grid():
            columns: dict[str, Sequence[str]] = {}
            for index, title in enumerate(element.header):
                cells = [row[index] for row in element.rows]
                name = title or f"column {index + 1}"
                parts = {name: [GridCell(cell.text, heights=cell.heights).written.strip() for cell in cells]}
                # The ends of intervals are columns of their own.
                if any(cell.reach for cell in cells):
                    parts[f"{name} ±"] = [cell.reach for cell in cells]
                if any(cell.ends for cell in cells):
                    parts[f"{name} low"] = [cell.ends[0] if cell.ends else "" for cell in cells]
                    parts[f"{name} high"] = [cell.ends[1] if cell.ends else "" for cell in cells]
                for part, texts in parts.items():
                    columns[free_name(part, {SECTION, TEXT, *columns})] = texts
            return [dict(zip(columns, texts, strict=True)) for texts in zip(*columns.values(), strict=True)]
        case _:
            return _rows(drawn(element, None))
