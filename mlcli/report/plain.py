"""Documents as plain text: what files, pipes and terminals without colour get."""

from __future__ import annotations

from collections.abc import Iterator

from mlcli.report.document import Block, Document, Grid, Heading, Lines, Notes, Sentence
from mlcli.report.layout import GAP, LaidGrid, Line, laid_out
from mlcli.report.page import Page, columns_of, folded


def text_of(document: Document, page: Page) -> str:
    """The whole document."""
    blocks = ((block, "\n".join(block_lines(block, page))) for block in document)
    return "".join(text + gap_after(block) for block, text in blocks if text).rstrip("\n") + "\n"


def gap_after(block: Block) -> str:
    """One empty line stands between blocks; a small title belongs to what follows."""
    return "\n" if isinstance(block, Heading) and block.level > 1 else "\n\n"


def block_lines(block: Block, page: Page) -> Iterator[str]:
    """The lines of one block."""
    match block:
        case Heading(text, level):
            yield from _heading(text, level, page)
        case Sentence(text, _):
            yield from _paragraph(text, page)
        case Lines(lines):
            yield from map(page.shown, lines)
        case Notes(items):
            for mark, text in items:
                yield from _note(mark, text, page)
        case Grid():
            yield from _grid(block, page)


def rule(piece: LaidGrid, page: Page) -> str:
    """The line below a header."""
    return (" " * GAP).join(page.shown("─") * width for width in piece.widths)


def _heading(text: str, level: int, page: Page) -> list[str]:
    title = _paragraph(text, page)
    return [*title, page.shown("─") * max(map(columns_of, title))] if level == 1 else title


def _note(mark: str, text: str, page: Page) -> list[str]:
    start = f"{page.shown(mark)} " if mark else ""
    first, *rest = _paragraph(text, page, indent=columns_of(start))
    return [start + first, *(" " * columns_of(start) + line for line in rest)]


def _paragraph(text: str, page: Page, indent: int = 0) -> list[str]:
    shown = page.shown(text)
    return [shown] if page.width is None else folded(shown, page.width - indent)


def _grid(grid: Grid, page: Page) -> Iterator[str]:
    for number, piece in enumerate(laid_out(grid, page)):
        if number:
            yield ""
        yield from map(_joined, piece.header)
        if piece.header:
            yield rule(piece, page)
        yield from map(_joined, piece.body)


def _joined(line: Line) -> str:
    return (" " * GAP).join(text for text, _ in line.cells).rstrip()
