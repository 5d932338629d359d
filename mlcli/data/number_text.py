"""Which text is a number: decimal digits with a point and an exponent, and nothing else.

Not numbers: ``inf`` and ``nan``, ``1_000``, ``1,000``, ``0x1F``, digits of other scripts. Whole numbers with
leading zeros, or from 2^53 on, are codes: a float would change them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from mlcli.core.tables import Array

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
LEADING_ZERO = re.compile(r"\n[-+]?0[0-9]")
"""Searched in texts with a line feed before each: a pattern that begins with a character is found fast."""
EXACT_BELOW = 2.0**53
"""From here on, not every whole number is a float."""
GROUPING = " '’\u00a0\u202f\u2000-\u200a\u205f\u3000"
"""What separates thousands besides commas and points: apostrophes, and blanks of any width."""
DECORATED = re.compile(
    r"[-+−]?[$€£¥₹]? ?[-+−]?"
    rf"([0-9]+(\.[0-9]+)?|[0-9]{{1,3}}(,[0-9]{{3}})+(\.[0-9]+)?|[0-9]{{1,3}}([{GROUPING}][0-9]{{3}})+([.,][0-9]+)?"
    r"|([0-9]{1,3}(\.[0-9]{3})*|[0-9]+),[0-9]+|[0-9]{1,3}(\.[0-9]{3}){2,})"
    r" ?[%$€£¥₹]?"
)
"""Numbers as people write them in sheets: money, percent, a typeset minus, grouped digits, a decimal comma."""


def is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    return NUMBER.fullmatch(text) is not None and abs(float(text)) != np.inf


def decorated_among(texts: Sequence[str]) -> str | None:
    """A text that is a number but for its decoration, if all texts are numbers, decorated or not."""
    if not all(DECORATED.fullmatch(text) for text in texts):
        return None
    return next((text for text in texts if not is_number(text)), None)


def as_numbers(texts: Sequence[str], decimal: str = ".") -> Array | None:
    """The texts as numbers, or None if one of them is not a finite number."""
    letters = "".join(texts).encode()
    if letters.translate(None, delete=f"0123456789{decimal}eE+-".encode()):
        return None
    pointed = [text.replace(decimal, ".") for text in texts] if decimal != "." else texts
    try:
        numbers = np.array(pointed, dtype=object).astype(np.float64)
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def code_among(texts: Sequence[str], numbers: Array) -> str | None:
    """A text that a float would not keep: leading zeros, or more whole digits than a float holds."""
    if LEADING_ZERO.search("\n" + "\n".join(texts)) is not None:
        return next(text for text in texts if LEADING_ZERO.match("\n" + text))
    large = np.flatnonzero(np.abs(numbers) >= EXACT_BELOW).tolist()
    return next((texts[index] for index in large if re.fullmatch(r"[-+]?[0-9]+", texts[index])), None)


def maybe_grouped(texts: Sequence[str]) -> str:
    """A number with a point, such as 1.234, if in every number with a point it may as well group thousands."""
    pointed = [text for text in texts if "." in text]
    grouped = re.compile(r"[-+]?[0-9]{1,3}\.[0-9]{3}")
    return pointed[0] if pointed and all(map(grouped.fullmatch, pointed)) else ""


def rounded_among(texts: Sequence[str], numbers: Array) -> tuple[str, float] | None:
    """A text whose number a float does not keep, and that float: another whole number, or one too near to 0."""
    sizes = np.abs(numbers)
    # subnormal floats hold fewer digits
    for index in np.flatnonzero((sizes < np.finfo(np.float64).smallest_normal) | (sizes >= EXACT_BELOW)).tolist():
        text, number = texts[index].replace(",", "."), float(numbers[index])
        if abs(number) >= EXACT_BELOW:
            may_be_rounded = re.fullmatch(r"[-+]?[0-9]+\.0*", text)
        else:
            may_be_rounded = re.match(r"[-+.,0]*[1-9]", text)  # 0 as it was written is exact
        if may_be_rounded and Decimal(text) != Decimal(number):
            return texts[index], number
    return None
