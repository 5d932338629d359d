"""Which sign stands between the cells of a line, found in the beginning of a file."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _csv import Reader

DELIMITERS = (",", ";", "\t", "|")
RARER = ("^", ":")
"""Found in names and cells as well: taken only where no other splits, and only evenly; a note says so."""
BLANK = " "
"""Never taken unasked: names and words are full of blanks. Several in a row are one."""
DELIMITER_WORDS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "pipe": "|",
    "caret": "^",
    "colon": ":",
    "space": BLANK,
}
SNIFFED_TEXT = 65536
"""How much of the beginning the delimiter is found in."""
BLANKS_AT_END = re.compile(r" +(?=[\r\n]|\Z)")


def sniffed(body: str) -> str:
    """The delimiter that gives every record of the beginning the same number of cells, and most of them."""
    widths = {delimiter: _widths(body, delimiter) for delimiter in DELIMITERS}
    several = [delimiter for delimiter in DELIMITERS if widths[delimiter][0] > 1]
    if not several:
        return next((delimiter for delimiter in RARER if _is_even(_widths(body, delimiter))), DELIMITERS[0])
    even = [delimiter for delimiter in several if len(set(widths[delimiter])) == 1]
    return max(even or several, key=lambda delimiter: widths[delimiter][0])


def doubts(body: str, delimiter: str) -> Iterator[str]:
    """What is said of a delimiter that was found: that it is a rare one, or that there may be one."""
    if delimiter in RARER:
        yield f"cells were split at '{delimiter}'; if they should not be, say delimiter: comma in the sidecar"
    elif _widths(body, delimiter)[0] == 1:
        signs = [sign for sign in RARER if _widths(body, sign)[0] > 1]
        signs += [BLANK] if _is_even(_widths(body, BLANK)) else []
        for word in (word for word, sign in DELIMITER_WORDS.items() if sign in signs):
            yield f"each line was read as one cell; if there are several, say delimiter: {word} in the sidecar"


def split(body: str, delimiter: str, strict: bool = False) -> Reader:
    """The records of a text, blank lines as empty ones."""
    blank = delimiter == BLANK
    lines = io.StringIO(BLANKS_AT_END.sub("", body) if blank else body, newline="")
    return csv.reader(lines, delimiter=delimiter, strict=strict, skipinitialspace=blank)


def _is_even(widths: list[int]) -> bool:
    """Whether there are some records, each of the same several cells."""
    return len(widths) > 1 and widths[0] > 1 and len(set(widths)) == 1


def _widths(body: str, delimiter: str) -> list[int]:
    """The number of cells of each record of the beginning; the last one may be cut, and does not count then."""
    widths = [len(record) for record in split(body[:SNIFFED_TEXT], delimiter) if record]
    return widths[:-1] if len(body) > SNIFFED_TEXT and len(widths) > 1 else widths
