"""Documents as Markdown (GitHub's tables): to be pasted into a page, an issue or a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlcli.report.characters import drawn
from mlcli.report.document import Document, Element, Grid, Heading, Legend, Notes, Preformatted, Sentence
from mlcli.report.page import Page


def markdown_of(document: Document, page: Page) -> str:
    """The whole document, an empty line between its elements."""
    elements = ("\n".join(_lines(element, page)) for element in document)
    return "\n\n".join(text for text in elements if text) + "\n"


def _lines(element: Element, page: Page) -> Iterator[str]:
    match element:
        case Heading(text, level):
            yield f"{'#' * level} {_escaped(text, page)}"
        case Sentence(text, style):
            # Not to be taken for a list or a title by the way it begins.
            sentence = re.sub("^(?=[#+-])", r"\\", _escaped(text, page))
            yield f"**{sentence}**" if style in ("strong", "best") and sentence else sentence
        case Preformatted(lines):
            yield from ("```text", *map(page.shown, lines), "```")
        case Notes(items):
            for mark, text in items:
                yield f"- {_escaped(f'{mark} {text}' if mark.strip('-') else text, page)}"
        case Legend():
            yield from _lines(element.as_notes(), page)
        case Grid():
            yield f"| {' | '.join(_escaped(title, page) for title in element.header)} |"
            yield f"| {' | '.join('---' if side == 'left' else '---:' for side in element.sides)} |"
            for row in element.rows:
                texts = [_escaped(cell.written, page) for cell in row]
                # Only the best is strong: a column of strong names is a column of names.
                cells = (
                    f"**{text}**" if cell.style == "best" and text else text
                    for cell, text in zip(row, texts, strict=True)
                )
                yield f"| {' | '.join(cells)} |"
        case _:
            yield from _lines(drawn(element, None), page)


def _escaped(text: str, page: Page) -> str:
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", page.shown(text).strip())
