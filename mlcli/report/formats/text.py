"""Documents as text: for files and pipes as it is, for terminals with colour, by one layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from mlcli.report.document import Document, Element, Grid, Heading, Lines, Notes, Sentence
from mlcli.report.formats.layout import GAP, LaidGrid, Line, Tone, laid_out
from mlcli.report.page import Page, columns_of, folded
from mlcli.report.pictures.characters import drawn

Paint = Callable[[str, Tone], str]
SELECT_GRAPHIC = {
    "strong": "1", "best": "1;32", "weak": "2", "bad": "31", "best 0": "32", "best 1": "1;32",
    "best 2": "30;42", "weak 0": "2", "bad 0": "31", "bad 1": "1;31", "bad 2": "30;41",
}  # fmt: skip
"""ECMA-48 codes. Written here and not by rich, whose import alone takes a tenth of the time of a short command."""


def unpainted(text: str, style: Tone) -> str:
    """The text as it is."""
    return text


def coloured(text: str, style: Tone) -> str:
    """The text in the colour of its meaning."""
    code = SELECT_GRAPHIC.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() else text


def text_of(document: Document, page: Page, paint: Paint = unpainted) -> str:
    """The whole document."""
    written = ""
    for element in document:
        text = "\n".join(_lines(element, page, paint))
        belongs_to_next = isinstance(element, Heading) and element.level > 1
        written += (text + ("\n" if belongs_to_next else "\n\n")) if text else ""
    return written.rstrip("\n") + "\n"


def _lines(element: Element, page: Page, paint: Paint) -> Iterator[str]:
    match element:
        case Heading(text, level):
            return _painted(_heading(text, level, page), "strong", paint)
        case Sentence(text, style):
            return _painted(_paragraph(text, page), style, paint)
        case Lines(lines):
            return (piece for line in lines for piece in _kept(page.shown(line), page))
        case Notes(items):
            return _painted((line for mark, text in items for line in _note(mark, text, page)), "weak", paint)
        case Grid():
            return _grid(element, page, paint)
        case _:
            return _lines(drawn(element, page.width), page, paint)


def _painted(lines: Iterator[str], style: Tone, paint: Paint) -> Iterator[str]:
    return (paint(line, style) for line in lines)


def _heading(text: str, level: int, page: Page) -> Iterator[str]:
    title = list(_paragraph(text, page))
    yield from title
    if level == 1:
        yield page.shown("─") * max(map(columns_of, title))


def _note(mark: str, text: str, page: Page) -> Iterator[str]:
    start = f"{page.shown(mark)} " if mark else ""
    first, *rest = _paragraph(text, page, indent=columns_of(start))
    yield start + first
    yield from (" " * columns_of(start) + line for line in rest)


def _kept(line: str, page: Page) -> Iterator[str]:
    """A line with its indent; what does not fit goes on below, a little further in."""
    if page.width is None or columns_of(line) <= page.width:
        return iter([line])
    start = line[: len(line) - len(line.lstrip(" |"))]
    start = start if len(start) < page.width // 2 else ""
    first, *_ = folded(line[len(start) :], page.width - len(start))
    rest = line[len(start) + len(first) :].lstrip(" ")
    further = start + "    "
    return iter([start + first, *(further + piece for piece in folded(rest, page.width - len(further)))])


def _paragraph(text: str, page: Page, indent: int = 0) -> Iterator[str]:
    shown = page.shown(text)
    width = page.width or page.prose
    return iter([shown] if width is None else folded(shown, width - indent))


def _grid(grid: Grid, page: Page, paint: Paint) -> Iterator[str]:
    for number, piece in enumerate(laid_out(grid, page)):
        if number:
            yield ""
        yield from _piece(piece, page, paint)


def _piece(piece: LaidGrid, page: Page, paint: Paint) -> Iterator[str]:
    for line in piece.header:
        yield paint(_joined(line, unpainted), "strong")
    if piece.header:
        yield paint((" " * GAP).join(page.shown("─") * width for width in piece.widths), "weak")
    yield from map(partial(_joined, paint=paint), piece.body)


def _joined(line: Line, paint: Paint) -> str:
    """The cells of a line; the spaces after the last are left away."""
    *cells, (last, style) = line
    return (" " * GAP).join([*(paint(text, style) for text, style in cells), paint(last.rstrip(), style)]).rstrip()
