"""Documents as Markdown (GitHub's tables): to be pasted into a page, an issue or a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mlcli.report.document import Document, Element, Grid, GridCell, Heading, Legend, Notes, Preformatted, Sentence
from mlcli.report.page import Page
from mlcli.report.pictures.characters import drawn

MEANS_SOMETHING = re.compile(r"([\\`*_\[\]<>|])")
OPENS_A_BLOCK = re.compile(r"^(?=[#+-])")
STRONG = ("strong", "best")
RULES = {"left": "---", "right": "---:"}


def markdown_of(document: Document, page: Page) -> str:
    """The whole document, an empty line between its elements."""
    elements = ("\n".join(_lines(element, page)) for element in document)
    return "\n\n".join(text for text in elements if text) + "\n"


def _lines(element: Element, page: Page) -> Iterator[str]:
    match element:
        case Heading(text, level):
            yield f"{'#' * level} {_plain(text, page)}"
        case Sentence(text, style):
            # Not to be taken for a list or a title by the way it begins.
            yield _strong(OPENS_A_BLOCK.sub(r"\\", _plain(text, page)), style in STRONG)
        case Preformatted(lines):
            yield from ("```text", *map(page.shown, lines), "```")
        case Notes(items):
            yield from (f"- {_plain(f'{mark} {text}' if mark.strip('-') else text, page)}" for mark, text in items)
        case Legend():
            yield from _lines(element.as_notes(), page)
        case Grid():
            yield from _table(element, page)
        case _:
            yield from _lines(drawn(element, None), page)


def _table(grid: Grid, page: Page) -> Iterator[str]:
    yield _row(_plain(title, page) for title in grid.header)
    yield _row(RULES[side] for side in grid.sides)
    yield from (_row(_cell(cell, page) for cell in row) for row in grid.rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: GridCell, page: Page) -> str:
    """Only the best is strong: a column of strong names is a column of names."""
    return _strong(_plain(cell.written, page), cell.style == "best")


def _strong(text: str, wanted: bool) -> str:
    return f"**{text}**" if wanted and text else text


def _plain(text: str, page: Page) -> str:
    return MEANS_SOMETHING.sub(r"\\\1", page.shown(text).strip())
