"""Documents for a terminal: the same layout as plain text, with colour, drawn by rich."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from mlcli.report.document import Block, Document, Grid, Heading, Notes, Sentence
from mlcli.report.layout import GAP, LaidGrid, Line, laid_out
from mlcli.report.page import Page
from mlcli.report.plain import block_lines, gap_after, rule

STYLES = {"": "none", "strong": "bold", "best": "bold green", "weak": "dim", "bad": "red"}


def show(document: Document, console: Console, page: Page) -> None:
    """Draw the document."""
    drawn = Text()
    for block in document:
        if text := _drawn(block, page):
            drawn.append_text(text).append(gap_after(block))
    drawn.rstrip()
    console.print(drawn, soft_wrap=True, highlight=False)


def _drawn(block: Block, page: Page) -> Text:
    match block:
        case Grid():
            return Text("\n\n").join(_drawn_grid(piece, page) for piece in laid_out(block, page))
        case Heading():
            style = STYLES["strong"]
        case Notes():
            style = STYLES["weak"]
        case Sentence(_, meaning):
            style = STYLES[meaning]
        case _:
            style = STYLES[""]
    return Text("\n".join(block_lines(block, page)), style=style)


def _drawn_grid(piece: LaidGrid, page: Page) -> Text:
    return Text("\n").join(_grid_lines(piece, page))


def _grid_lines(piece: LaidGrid, page: Page) -> Iterator[Text]:
    for line in piece.header:
        yield _joined(line, STYLES["strong"])
    if piece.header:
        yield Text(rule(piece, page), style=STYLES["weak"])
    for line in piece.body:
        yield _joined(line)


def _joined(line: Line, style: str = "none") -> Text:
    joined = Text(" " * GAP).join(Text(text, style=STYLES[meaning]) for text, meaning in line.cells)
    joined.rstrip()
    joined.stylize_before(style)
    return joined
