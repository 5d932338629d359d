"""The page that text is laid out for: how wide it is, and which characters it can show."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

from mlcli.core.tolerances import CLOSE

PLAIN_FORMS = {
    "Δ": "diff", "±": "+/-", "≥": ">=", "≤": "<=", "≠": "!=", "×": "x", "·": "*", "−": "-", "–": "-", "—": "-",
    "→": "->", "…": "...", "²": "^2", "√": "sqrt", "Σ": "sum", "σ": "sigma", "μ": "mu",
    "λ": "lambda", "─": "-", "│": "|", "├": "+", "┤": "+", "┐": "+", "┘": "+", "▁": "_", "▂": ".",
    "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#",
}  # fmt: skip
HEIGHTS = "▁▂▃▄▅▆▇█"
"""From 0 to 1."""
GAP = 2
"""Columns between those of a table."""


@dataclass(frozen=True)
class Page:
    """``width`` is in columns, None where nothing needs to fit; ``encoding`` is that of the stream.

    ``prose`` is how wide paragraphs are where the page has no width: tables stay whole, sentences readable.
    """

    width: int | None = None
    encoding: str = "utf-8"
    prose: int | None = None

    def shown(self, text: str) -> str:
        """Text as this page can show it: no control characters, nothing that the encoding lacks."""
        visible = text if text.isprintable() else "".join(map(_visible, text))
        return visible if visible.isascii() else self._encodable(visible)

    def _encodable(self, text: str) -> str:
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            plain = "".join(PLAIN_FORMS.get(character, character) for character in text)
            return plain.encode(self.encoding, "backslashreplace").decode(self.encoding)
        return text


def height(share: float) -> str:
    """A share from 0 to 1 as one character; a gap where it is no number. More than 0 is higher than 0."""
    return " " if math.isnan(share) else HEIGHTS[math.ceil(share * (len(HEIGHTS) - 1) - CLOSE)]


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def folded(text: str, width: int) -> list[str]:
    """Lines no wider than ``width``, broken at spaces where there are any, losing nothing else."""
    if columns_of(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.rstrip().split(" "):
        candidate = f"{line} {word}" if line else word
        if columns_of(candidate) <= width:
            line = candidate
            continue
        if line:
            lines.append(line)
        *full, line = _pieces(word, width)
        lines += full
    return [*lines, line]


def padded(text: str, width: int, side: str) -> str:
    """The text with spaces to fill ``width`` columns."""
    space = " " * (width - columns_of(text))
    return space + text if side == "right" else text + space


def _pieces(word: str, width: int) -> list[str]:
    pieces = [""]
    for character in word:
        if columns_of(pieces[-1] + character) > max(width, 2):
            pieces.append("")
        pieces[-1] += character
    return pieces


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
