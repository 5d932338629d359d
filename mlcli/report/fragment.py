"""Documents as a piece of HTML for the cell of a notebook: its tables, with no style but where numbers stand."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from mlcli.report.document import Document, Element, Field, Grid, Heading, Lines, Notes, Sentence, Side
from mlcli.report.drawing import drawn
from mlcli.report.layout import written
from mlcli.report.page import Page

HIGHEST_HEADING = 2
"""The title of a notebook stands above those of what its cells show."""
WEIGHTS = {"strong": "strong", "best": "strong", "weak": "small", "bad": "em"}
"""The tags of what stands out."""


def fragment_of(document: Document, page: Page) -> str:
    """The whole document."""
    return "".join(("<div class='mlcli'>", *(_shown(element, page) for element in document), "</div>\n"))


def _shown(element: Element, page: Page) -> str:
    match element:
        case Heading(text, level):
            tag = f"h{level + HIGHEST_HEADING - 1}"
            return f"<{tag}>{_plain(text, page)}</{tag}>\n"
        case Sentence(text, style):
            return f"<p>{_weighed(_plain(text, page), style)}</p>\n"
        case Lines(lines):
            text = "\n".join(_plain(line, page) for line in lines)
            return f"<pre>{text}</pre>\n" if lines else ""
        case Notes(items):
            points = "".join(f"<li>{_plain(_marked(mark, text), page)}</li>" for mark, text in items)
            return f"<ul>{points}</ul>\n" if points else ""
        case Grid():
            return f"<table>{''.join(_rows(element, page))}</table>\n"
        case _:
            return _shown(drawn(element, None), page)


def _rows(grid: Grid, page: Page) -> Iterator[str]:
    if any(grid.header):
        titles = zip(grid.header, grid.sides, strict=True)
        yield f"<tr>{''.join(_cell('th', _plain(title, page), side) for title, side in titles)}</tr>"
    for row in grid.rows:
        cells = (_cell("td", _field(field, page), side) for field, side in zip(row, grid.sides, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"


def _cell(tag: str, text: str, side: Side) -> str:
    return f"<{tag} style='text-align:{side}'>{text}</{tag}>"


def _field(field: Field, page: Page) -> str:
    return _weighed(_plain(written(field), page), field.style)


def _weighed(text: str, style: str) -> str:
    tag = WEIGHTS.get(style)
    return f"<{tag}>{text}</{tag}>" if tag and text else text


def _marked(mark: str, text: str) -> str:
    return f"{mark} {text}" if mark.strip("-") else text


def _plain(text: str, page: Page) -> str:
    """Text that means what it says."""
    return escape(page.shown(text))
