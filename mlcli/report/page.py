"""The page that text is laid out for: how wide it is, and which characters it can show."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

from mlcli.core import CLOSE

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
        if not text.isprintable():
            text = "".join(
                sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text
            )
        if text.isascii():
            return text
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
    if text.isascii():
        return len(text)
    columns = 0
    for character in text:
        if not unicodedata.combining(character) and unicodedata.category(character) not in ("Mn", "Me", "Cf"):
            columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


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
        # A word that is wider than the page is broken anywhere.
        line = ""
        for character in word:
            if columns_of(line + character) > max(width, 2):
                lines.append(line)
                line = ""
            line += character
    return [*lines, line]


def padded(text: str, width: int, side: str) -> str:
    """The text with spaces to fill ``width`` columns."""
    space = " " * (width - columns_of(text))
    return space + text if side == "right" else text + space
