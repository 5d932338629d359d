"""Documents as text: for files and pipes as it is, for terminals with colour, by one layout.

A table that is too wide is cut into several or folded, never shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

from mlcli.report.document import (
    Document,
    Element,
    Grid,
    GridCell,
    Heading,
    Legend,
    Notes,
    Preformatted,
    Sentence,
    Side,
)
from mlcli.report.page import GAP, Page, columns_of, folded, padded
from mlcli.report.pictures.characters import drawn

SELECT_GRAPHIC = {
    "strong": "1", "best": "1;32", "weak": "2", "bad": "31", "best 0": "32", "best 1": "1;32",
    "best 2": "30;42", "weak 0": "2", "bad 0": "31", "bad 1": "1;31", "bad 2": "30;41",
}  # fmt: skip
"""ECMA-48 codes. Written here and not by rich, whose import alone takes a tenth of the time of a short command."""

NARROWEST = 8
READABLE = 24
"""A column of text is folded down to this width before a grid is cut."""
KEYS_SHARE = 0.4
"""The share of a page's width that the repeated columns may take before their text is folded."""
STRONGER = (0.1, 0.5)
"""The shares from which a shade is stronger, and strongest."""
Tone = str
"""A style, and after it how strongly it is shaded where it is: "best 2"."""

Paint = Callable[[str, Tone], str]
Line = Sequence[tuple[str, Tone]]
"""One line of a laid-out grid: padded texts with their tones, one per column."""


@dataclass(frozen=True)
class LaidGrid:
    """A grid that fits: header lines, then the lines of each row."""

    header: Sequence[Line]
    body: Sequence[Line]
    widths: Sequence[int]


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
        case Preformatted(lines):
            return (piece for line in lines for piece in _indented_lines(page.shown(line), page))
        case Notes(items):
            return _painted((line for mark, text in items for line in _note(mark, text, page)), "weak", paint)
        case Legend():
            return _lines(element.as_notes(), page, paint)
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


def _indented_lines(line: str, page: Page) -> Iterator[str]:
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
    for number, laid in enumerate(laid_out(grid, page)):
        if number:
            yield ""
        yield from _table(laid, page, paint)


def _table(laid: LaidGrid, page: Page, paint: Paint) -> Iterator[str]:
    for line in laid.header:
        yield paint(_joined_cells(line, unpainted), "strong")
    if laid.header:
        yield paint((" " * GAP).join(page.shown("─") * width for width in laid.widths), "weak")
    yield from map(partial(_joined_cells, paint=paint), laid.body)


def _joined_cells(line: Line, paint: Paint) -> str:
    """The cells of a line; the spaces after the last are left away."""
    *cells, (last, style) = line
    return (" " * GAP).join([*(paint(text, style) for text, style in cells), paint(last.rstrip(), style)]).rstrip()


def laid_out(grid: Grid, page: Page) -> Iterator[LaidGrid]:
    """The grid as one or more grids that fit the page; titles that are all empty give no header."""
    for piece in _fitting_pieces(_shown_grid(grid, page), page.width):
        widths = _squeezed_widths(_widths(piece, page.width), piece, page.width)
        header = _header_lines(piece, widths) if any(piece.header) else ()
        body = [line for row in piece.rows for line in _row_lines(row, piece.sides, widths)]
        yield LaidGrid(header, body, widths)


def _shown_grid(grid: Grid, page: Page) -> Grid:
    rows = tuple(
        tuple(GridCell(page.shown(cell.written), cell.style, shade=cell.shade) for cell in row)
        for row in grid.rows
    )
    return replace(grid, header=tuple(page.shown(title) for title in grid.header), rows=rows)


def _fitting_pieces(grid: Grid, width: int | None) -> Iterator[Grid]:
    """The grid itself where it fits, else as few grids as do, of about equal numbers of columns."""
    keys, others = range(grid.keys), range(grid.keys, len(grid.header))
    if width is None or not others or _total_width(_least_widths(grid, width)) <= width:
        yield grid
        return
    count = next(count for count in range(1, len(others) + 1) if _fits(grid, _parted(others, count), width))
    for share in _parted(others, count):
        yield grid.columns([*keys, *share])


def _fits(grid: Grid, shares: list[Sequence[int]], width: int) -> bool:
    """Whether every share fits beside the keys; a share of one column may be folded instead."""
    widths = _least_widths(grid, width)
    keys = widths[: grid.keys]
    totals = (_total_width((*keys, *(widths[at] for at in share))) for share in shares)
    return all(len(share) == 1 or total <= width for share, total in zip(shares, totals, strict=True))


def _parted(indices: Sequence[int], count: int) -> list[Sequence[int]]:
    size = -(-len(indices) // count)
    return [indices[start : start + size] for start in range(0, len(indices), size)]


def _widths(grid: Grid, width: int | None) -> tuple[int, ...]:
    """The width each column needs: its widest cell, or the widest part of a title broken at hyphens."""
    needed = [
        max([max(map(columns_of, _title_parts(title))), *(columns_of(row[index].text) for row in grid.rows)])
        for index, title in enumerate(grid.header)
    ]
    if width is not None and len(needed) > grid.keys and _total_width(needed) > width:
        most = max(NARROWEST, int(width * KEYS_SHARE) // max(grid.keys, 1))
        needed[: grid.keys] = [min(index, most) for index in needed[: grid.keys]]
    return tuple(needed)


def _least_widths(grid: Grid, width: int | None) -> tuple[int, ...]:
    """The widths at which the grid is still readable: numbers whole, text folded."""
    needed = zip(_widths(grid, width), grid.sides, strict=True)
    return tuple(min(index, READABLE) if side == "left" else index for index, side in needed)


def _title_parts(title: str) -> list[str]:
    parts = title.split("-")
    return [*(f"{part}-" for part in parts[:-1]), parts[-1]]


def _total_width(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _squeezed_widths(widths: tuple[int, ...], grid: Grid, width: int | None) -> tuple[int, ...]:
    """Columns of text made narrower, the widest first, until the grid fits."""
    fitted = list(widths)
    texts = [index for index, side in enumerate(grid.sides) if side == "left"]
    while width is not None and texts and _total_width(fitted) > width:
        widest = max(texts, key=lambda text: fitted[text])
        if fitted[widest] <= NARROWEST:
            break
        fitted[widest] -= 1
    return tuple(fitted)


def _header_lines(grid: Grid, widths: tuple[int, ...]) -> list[Line]:
    """The titles, standing on the line below them."""
    titles = [_title_lines(title, width) for title, width in zip(grid.header, widths, strict=True)]
    height = max(map(len, titles))
    lowered = [[""] * (height - len(lines)) + lines for lines in titles]
    return _side_by_side(lowered, [""] * len(titles), grid.sides, widths)


def _row_lines(row: tuple[GridCell, ...], sides: tuple[Side, ...], widths: tuple[int, ...]) -> list[Line]:
    texts = [folded(cell.text, width) for cell, width in zip(row, widths, strict=True)]
    tones = [
        cell.style if cell.shade is None else f"{cell.style} {sum(cell.shade >= at for at in STRONGER)}"
        for cell in row
    ]
    return _side_by_side(texts, tones, sides, widths)


def _side_by_side(
    texts: list[list[str]], tones: Sequence[Tone], sides: Sequence[Side], widths: Sequence[int]
) -> list[Line]:
    levels = (zip(level, tones, sides, widths, strict=True) for level in zip_longest(*texts, fillvalue=""))
    return [[(padded(text, width, side), tone) for text, tone, side, width in level] for level in levels]


def _title_lines(title: str, width: int) -> list[str]:
    """A title folded at hyphens, its lines as full as they can be."""
    lines = [""]
    for part in _title_parts(title):
        if lines[-1] and columns_of(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return [piece for line in lines for piece in folded(line, width)]
