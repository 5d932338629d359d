"""Documents as LaTeX: tables with booktabs, the best in bold; to be pasted into a paper.

Needs the package booktabs and no other; letters are UTF-8, signs are commands that every engine knows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mlcli.report.characters import drawn
from mlcli.report.document import Document, Element, Grid, Heading, Legend, Notes, Preformatted, Sentence
from mlcli.report.page import PLAIN_FORMS, Page

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
"""The LaTeX of a character, where it is not itself."""


class Signs(dict[int, str]):
    """The LaTeX of each character, found when it is first needed."""

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
    kind, _, codes = unicodedata.decomposition(sign).partition(" ")
    shift = {"<super>": "^", "<sub>": "_"}.get(kind)
    if shift is None:
        return sign
    return f"${shift}{{{''.join(chr(int(code, 16)) for code in codes.split())}}}$".replace("−", "-")


SIGNS = Signs()


def latex_of(document: Document, page: Page) -> str:
    """The whole document, an empty line between its elements."""
    elements = ("\n".join(_lines(element, page)) for element in document)
    return "\n\n".join(["% needs \\usepackage{booktabs}", *(text for text in elements if text)]) + "\n"


def _lines(element: Element, page: Page) -> Iterator[str]:
    match element:
        case Heading(text, level):
            section = "section*" if level == 1 else "subsection*"
            yield rf"\{section}{{{_escaped(text, page)}}}"
        case Sentence(text, style):
            sentence = _escaped(text, page)
            yield rf"\textbf{{{sentence}}}" if style in ("strong", "best") and sentence else sentence
        case Preformatted(lines):
            plain = ("".join(PLAIN_FORMS.get(sign, sign) for sign in page.shown(line)) for line in lines)
            yield from (r"\begin{verbatim}", *plain, r"\end{verbatim}")
        case Notes(items) if items:
            yield r"{\footnotesize"
            for mark, text in items:
                yield rf"\noindent {_escaped(f'{mark} {text}' if mark.strip('-') else text, page)}\par"
            yield "}"
        case Notes():
            return
        case Legend():
            yield from _lines(element.as_notes(), page)
        case Grid():
            yield from _table(element, page)
        case _:
            yield from _lines(drawn(element, None), page)


def _table(grid: Grid, page: Page) -> Iterator[str]:
    yield rf"\begin{{tabular}}{{{''.join('l' if side == 'left' else 'r' for side in grid.sides)}}}"
    yield r"\toprule"
    if any(grid.header):
        yield rf"{' & '.join(_escaped(title, page) for title in grid.header)} \\"
        yield r"\midrule"
    for row in grid.rows:
        cells: list[str] = []
        for cell in row:
            text = _escaped(cell.written, page)
            # Only the best is in bold; a share that shades a cell is no rank.
            is_best = cell.style == "best" and cell.shade is None
            cells.append(rf"\textbf{{{text}}}" if is_best and text else text)
        yield rf"{' & '.join(cells)} \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _escaped(text: str, page: Page) -> str:
    translated = page.shown(text).strip().translate(SIGNS)
    # LaTeX would draw two hyphens as one dash, and the minus of a number as a hyphen.
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", re.sub("-(?=-)", "-{}", translated))
