"""Documents as a piece of HTML for the cell of a notebook: tables with hardly a style, and pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec

from mlcli.report.document import Document, Element, Field, Grid, Heading, Lines, Notes, Picture, Sentence, Side
from mlcli.report.drawing import drawn
from mlcli.report.layout import written
from mlcli.report.page import Page

HIGHEST_HEADING = 2
"""The title of a notebook stands above those of what its cells show."""
NAME = 12
"""Characters of the name that tells a picture's ids from those of other cells."""
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
            return _picture(element, page)


def _picture(picture: Picture, page: Page) -> str:
    """Drawn with matplotlib where that is installed, else with characters."""
    if find_spec("matplotlib") is None:
        return _shown(drawn(picture, None), page)
    from mlcli.report.pictures import svg_of

    name = hashlib.sha256(repr(picture).encode()).hexdigest()[:NAME]
    return f"<figure>{svg_of(picture, f'p{name}')}</figure>\n"


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
