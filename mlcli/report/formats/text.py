"""Documents as text: for files and pipes as it is, for terminals with colour, by one layout.

A table that is too wide is cut into several or folded, never shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from mlcli.report.characters import drawn
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
)
from mlcli.report.page import GAP, Page, columns_of, folded, padded

SELECT_GRAPHIC = {
    "strong": "1", "best": "1;32", "weak": "2", "bad": "31", "best 0": "32", "best 1": "1;32",
    "best 2": "30;42", "weak 0": "2", "bad 0": "31", "bad 1": "1;31", "bad 2": "30;41",
}  # fmt: skip
"""ECMA-48 codes. Written here and not by rich, whose import alone takes a tenth of the time of a short command."""

NARROWEST = 8
READABLE = 24
"""A column of text is folded down to this width before a grid is cut."""
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
    parts: list[str] = []
    for element in document:
        text = "\n".join(_lines(element, page, paint))
        belongs_to_next = isinstance(element, Heading) and element.level > 1
        parts.append((text + ("\n" if belongs_to_next else "\n\n")) if text else "")
    return "".join(parts).rstrip("\n") + "\n"


def _lines(element: Element, page: Page, paint: Paint) -> Iterator[str]:
    match element:
        case Heading(text, level):
            title = _paragraph(text, page)
            rule = [page.shown("─") * max(map(columns_of, title))] if level == 1 else []
            yield from (paint(line, "strong") for line in (*title, *rule))
        case Sentence(text, style):
            yield from (paint(line, style) for line in _paragraph(text, page))
        case Preformatted(lines):
            yield from (piece for line in lines for piece in _folded_with_indent(page.shown(line), page.width))
        case Notes(items):
            for mark, text in items:
                start = f"{page.shown(mark)} " if mark else ""
                first, *rest = _paragraph(text, page, indent=columns_of(start))
                yield paint(start + first, "weak")
                yield from (paint(" " * columns_of(start) + line, "weak") for line in rest)
        case Legend():
            yield from _lines(element.as_notes(), page, paint)
        case Grid():
            for number, laid in enumerate(laid_out(element, page)):
                if number:
                    yield ""
                for line in laid.header:
                    yield paint(_joined_cells(line, unpainted), "strong")
                if laid.header:
                    yield paint((" " * GAP).join(page.shown("─") * width for width in laid.widths), "weak")
                yield from (_joined_cells(line, paint) for line in laid.body)
        case _:
            yield from _lines(drawn(element, page.width), page, paint)


def _paragraph(text: str, page: Page, indent: int = 0) -> list[str]:
    shown = page.shown(text)
    width = page.width or page.prose
    return [shown] if width is None else folded(shown, width - indent)


def _folded_with_indent(line: str, width: int | None) -> list[str]:
    """A line with its indent; what does not fit goes on below, a little further in."""
    if width is None or columns_of(line) <= width:
        return [line]
    start = line[: len(line) - len(line.lstrip(" |"))]
    start = start if len(start) < width // 2 else ""
    first, *_ = folded(line[len(start) :], width - len(start))
    rest = line[len(start) + len(first) :].lstrip(" ")
    further = start + "    "
    return [start + first, *(further + piece for piece in folded(rest, width - len(further)))]


def _joined_cells(line: Line, paint: Paint) -> str:
    """The cells of a line, without the spaces after the last."""
    *cells, (last, style) = line
    return (" " * GAP).join([*(paint(text, style) for text, style in cells), paint(last.rstrip(), style)]).rstrip()


def laid_out(grid: Grid, page: Page) -> Iterator[LaidGrid]:
    """The grid as one or more grids that fit the page; titles that are all empty give no header."""
    rows = tuple(
        tuple(GridCell(page.shown(cell.written), cell.style, shade=cell.shade) for cell in row)
        for row in grid.rows
    )
    shown = replace(grid, header=tuple(map(page.shown, grid.header)), rows=rows)
    for piece in _fitting_pieces(shown, page.width):
        widths = _needed_widths(piece, page.width)
        # Columns of text are made narrower, the widest first, until the grid fits.
        texts = [index for index, side in enumerate(piece.sides) if side == "left"]
        while page.width is not None and texts and _total_width(widths) > page.width:
            widest = max(texts, key=lambda text: widths[text])
            if widths[widest] <= NARROWEST:
                break
            widths[widest] -= 1
        header: list[Line] = []
        if any(piece.header):
            titles = [_title_lines(title, width) for title, width in zip(piece.header, widths, strict=True)]
            height = max(map(len, titles))
            lowered = [[""] * (height - len(lines)) + lines for lines in titles]
            header = _side_by_side(lowered, [""] * len(titles), piece, widths)
        body: list[Line] = []
        for row in piece.rows:
            cells = [folded(cell.text, width) for cell, width in zip(row, widths, strict=True)]
            # A shade is stronger from a tenth on, and strongest from a half on.
            tones = [
                cell.style if cell.shade is None else f"{cell.style} {sum(cell.shade >= at for at in (0.1, 0.5))}"
                for cell in row
            ]
            body += _side_by_side(cells, tones, piece, widths)
        yield LaidGrid(header, body, widths)


def _fitting_pieces(grid: Grid, width: int | None) -> Iterator[Grid]:
    """The grid itself where it fits, else as few grids as do, of about equal numbers of columns."""
    keys, others = range(grid.keys), range(grid.keys, len(grid.header))
    # Numbers stay whole, text may be folded.
    least = [
        min(needed, READABLE) if side == "left" else needed
        for needed, side in zip(_needed_widths(grid, width), grid.sides, strict=True)
    ]
    if width is None or not others or _total_width(least) <= width:
        yield grid
        return
    for count in range(1, len(others) + 1):
        size = -(-len(others) // count)
        shares = [others[start : start + size] for start in range(0, len(others), size)]
        totals = [_total_width([*least[: grid.keys], *(least[index] for index in share)]) for share in shares]
        # A share of one column may be folded instead.
        if all(len(share) == 1 or total <= width for share, total in zip(shares, totals, strict=True)):
            yield from (grid.columns([*keys, *share]) for share in shares)
            return


def _needed_widths(grid: Grid, width: int | None) -> list[int]:
    """The width each column needs: its widest cell, or the widest part of a title broken at hyphens."""
    needed = [
        max(map(columns_of, (*_title_parts(title), *(row[index].text for row in grid.rows))))
        for index, title in enumerate(grid.header)
    ]
    if width is not None and len(needed) > grid.keys and _total_width(needed) > width:
        # The repeated columns may take two fifths of the page before their text is folded.
        most = max(NARROWEST, int(width * 0.4) // max(grid.keys, 1))
        needed[: grid.keys] = [min(key, most) for key in needed[: grid.keys]]
    return needed


def _total_width(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _side_by_side(
    texts: Sequence[Sequence[str]], tones: Sequence[Tone], grid: Grid, widths: Sequence[int]
) -> list[Line]:
    return [
        [
            (padded(text, width, side), tone)
            for text, tone, side, width in zip(level, tones, grid.sides, widths, strict=True)
        ]
        for level in zip_longest(*texts, fillvalue="")
    ]


def _title_parts(title: str) -> list[str]:
    parts = title.split("-")
    return [*(f"{part}-" for part in parts[:-1]), parts[-1]]


def _title_lines(title: str, width: int) -> list[str]:
    """A title folded at hyphens, its lines as full as they can be."""
    lines = [""]
    for part in _title_parts(title):
        if lines[-1] and columns_of(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return [piece for line in lines for piece in folded(line, width)]
