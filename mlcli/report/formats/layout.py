"""How a grid fits a page: what is too wide is cut into several grids or folded, never shortened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from mlcli.report.document import Field, Grid, Side
from mlcli.report.page import Page, columns_of, folded, padded

GAP = 2
NARROWEST = 8
READABLE = 24
"""A column of text is folded down to this width before a grid is cut."""
KEYS_SHARE = 0.4
"""The share of a page's width that the repeated columns may take before their text is folded."""
STRONGER = (0.1, 0.5)
"""The shares from which a shade is stronger, and strongest."""
Tone = str
"""A style, and after it how strongly it is shaded where it is: "best 2"."""

Line = Sequence[tuple[str, Tone]]
"""One line of a laid-out grid: padded texts with their tones, one per column."""


@dataclass(frozen=True)
class LaidGrid:
    """A grid that fits: header lines, then the lines of each row."""

    header: Sequence[Line]
    body: Sequence[Line]
    widths: Sequence[int]


def laid_out(grid: Grid, page: Page) -> Iterator[LaidGrid]:
    """The grid as one or more grids that fit the page; titles that are all empty give no header."""
    for piece in _pieces(_shown(grid, page), page.width):
        widths = _squeezed(_widths(piece, page.width), piece, page.width)
        header = _header_lines(piece, widths) if any(piece.header) else ()
        body = [line for row in piece.rows for line in _row_lines(row, piece.sides, widths)]
        yield LaidGrid(header, body, widths)


def _shown(grid: Grid, page: Page) -> Grid:
    rows = tuple(tuple(replace(one, text=page.shown(one.written), heights=()) for one in row) for row in grid.rows)
    return replace(grid, header=tuple(page.shown(title) for title in grid.header), rows=rows)


def _pieces(grid: Grid, width: int | None) -> Iterator[Grid]:
    """The grid itself where it fits, else as few grids as do, of about equal numbers of columns."""
    keys, others = range(grid.keys), range(grid.keys, len(grid.header))
    if width is None or not others or _total(_least_widths(grid, width)) <= width:
        yield grid
        return
    count = next(count for count in range(1, len(others) + 1) if _fits(grid, _shares(others, count), width))
    for share in _shares(others, count):
        yield grid.columns([*keys, *share])


def _fits(grid: Grid, shares: list[Sequence[int]], width: int) -> bool:
    """Whether every share fits beside the keys; a share of one column may be folded instead."""
    widths = _least_widths(grid, width)
    keys = widths[: grid.keys]
    return all(len(share) == 1 or _total((*keys, *(widths[at] for at in share))) <= width for share in shares)


def _shares(places: Sequence[int], count: int) -> list[Sequence[int]]:
    size = -(-len(places) // count)
    return [places[start : start + size] for start in range(0, len(places), size)]


def _widths(grid: Grid, width: int | None) -> tuple[int, ...]:
    """The width each column needs: its widest cell, or the widest part of a title broken at hyphens."""
    needed = [
        max([max(map(columns_of, _title_parts(title))), *(columns_of(row[place].text) for row in grid.rows)])
        for place, title in enumerate(grid.header)
    ]
    if width is not None and len(needed) > grid.keys and _total(needed) > width:
        most = max(NARROWEST, int(width * KEYS_SHARE) // max(grid.keys, 1))
        needed[: grid.keys] = [min(one, most) for one in needed[: grid.keys]]
    return tuple(needed)


def _least_widths(grid: Grid, width: int | None) -> tuple[int, ...]:
    """The widths at which the grid is still readable: numbers whole, text folded."""
    needed = zip(_widths(grid, width), grid.sides, strict=True)
    return tuple(min(one, READABLE) if side == "left" else one for one, side in needed)


def _title_parts(title: str) -> list[str]:
    parts = title.split("-")
    return [*(f"{part}-" for part in parts[:-1]), parts[-1]]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _squeezed(widths: tuple[int, ...], grid: Grid, width: int | None) -> tuple[int, ...]:
    """Columns of text made narrower, the widest first, until the grid fits."""
    fitted = list(widths)
    texts = [place for place, side in enumerate(grid.sides) if side == "left"]
    while width is not None and texts and _total(fitted) > width:
        widest = max(texts, key=lambda place: fitted[place])
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


def _row_lines(row: tuple[Field, ...], sides: tuple[Side, ...], widths: tuple[int, ...]) -> list[Line]:
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
