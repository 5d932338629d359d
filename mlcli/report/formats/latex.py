"""Documents as LaTeX: tables with booktabs, the best in bold; to be pasted into a paper.

Needs the package booktabs and no other; letters are UTF-8, signs are commands that every engine knows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from mlcli.report.document import Document, Element, Grid, GridCell, Heading, Legend, Notes, Preformatted, Sentence
from mlcli.report.page import PLAIN_FORMS, Page
from mlcli.report.pictures.characters import drawn

COMMANDS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}", "]": "{]}",
    "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "≠": r"$\neq$", "×": r"$\times$",
    "·": r"$\cdot$", "−": "$-$", "→": r"$\rightarrow$", "²": "$^2$", "√": r"$\surd$",
    "ŷ": r"$\hat y$", "…": r"\ldots{}", "‖": r"$\|$", "∂": r"$\partial$", "∈": r"$\in$",
    "∪": r"$\cup$", "∩": r"$\cap$", "∝": r"$\propto$", "≈": r"$\approx$", "∞": r"$\infty$",
    "∫": r"$\int$", "⊥": r"$\perp$", "←": r"$\leftarrow$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "⌈": r"$\lceil$", "⌉": r"$\rceil$", "⌊": r"$\lfloor$", "⌋": r"$\rfloor$", "○": r"$\circ$",
    "●": r"$\bullet$", "\u0302": r"$\hat{}$", "\u0303": r"$\tilde{}$", "\u0304": r"$\bar{}$",
}  # fmt: skip
"""What a character is in LaTeX, where it is not itself."""
LIFTED = {"<super>": "^", "<sub>": "_"}
MINUS = re.compile(r"(?<![\w-])-(?=\d)")
DASH = re.compile("-(?=-)")
"""A hyphen before another: LaTeX would draw both as one dash."""
SECTIONS = {1: "section*", 2: "subsection*"}
STRONG = ("strong", "best")
SIDES = {"left": "l", "right": "r"}


class Signs(dict[int, str]):
    """What each character is in LaTeX, found when it is first asked for."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        result = _command(sign)
        if result == sign:
            result = "".join(COMMANDS.get(name, name) for name in PLAIN_FORMS.get(sign, sign))
        self[code] = result
        return result


def _command(sign: str) -> str:
    """Greek letters by their names, raised and lowered characters by what they are made of."""
    if sign in COMMANDS:
        return COMMANDS[sign]
    words = unicodedata.name(sign, "?").split(" ")
    if words[0] == "GREEK":
        word = words[-1].replace("LAMDA", "LAMBDA").lower()
        return rf"$\{word if sign.islower() else word.capitalize()}$"
    lift, _, codes = unicodedata.decomposition(sign).partition(" ")
    if lift in LIFTED:
        return f"${LIFTED[lift]}{{{''.join(chr(int(code, 16)) for code in codes.split())}}}$".replace("−", "-")
    return sign


SIGNS = Signs()


def latex_of(document: Document, page: Page) -> str:
    """The whole document, an empty line between its elements."""
    elements = ("\n".join(_lines(element, page)) for element in document)
    return "\n\n".join(["% needs \\usepackage{booktabs}", *(text for text in elements if text)]) + "\n"


def _lines(element: Element, page: Page) -> Iterator[str]:
    match element:
        case Heading(text, level):
            yield rf"\{SECTIONS[min(level, 2)]}{{{_plain(text, page)}}}"
        case Sentence(text, style):
            yield _strong(_plain(text, page), style in STRONG)
        case Preformatted(lines):
            plain = ("".join(PLAIN_FORMS.get(sign, sign) for sign in page.shown(line)) for line in lines)
            yield from (r"\begin{verbatim}", *plain, r"\end{verbatim}")
        case Notes(items):
            yield from _notes([f"{mark} {text}" if mark.strip("-") else text for mark, text in items], page)
        case Legend():
            yield from _lines(element.as_notes(), page)
        case Grid():
            yield from _table(element, page)
        case _:
            yield from _lines(drawn(element, None), page)


def _notes(items: list[str], page: Page) -> Iterator[str]:
    if items:
        yield r"{\footnotesize"
        yield from (rf"\noindent {_plain(item, page)}\par" for item in items)
        yield "}"


def _table(grid: Grid, page: Page) -> Iterator[str]:
    yield rf"\begin{{tabular}}{{{''.join(SIDES[side] for side in grid.sides)}}}"
    yield r"\toprule"
    if any(grid.header):
        yield _row(_plain(title, page) for title in grid.header)
        yield r"\midrule"
    yield from (_row(_cell(cell, page) for cell in row) for row in grid.rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _cell(cell: GridCell, page: Page) -> str:
    """Only the best is in bold; a share that shades a field is no rank."""
    return _strong(_plain(cell.written, page), cell.style == "best" and cell.shade is None)


def _strong(text: str, wanted: bool) -> str:
    return rf"\textbf{{{text}}}" if wanted and text else text


def _plain(text: str, page: Page) -> str:
    return MINUS.sub("$-$", DASH.sub("-{}", page.shown(text).strip().translate(SIGNS)))
