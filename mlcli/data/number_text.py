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
CODE = re.compile(r"\n[-+]?0[0-9]")
ANY_DIGIT = re.compile(r"[-+.,0]*[1-9]")
WHOLE = re.compile(r"[-+]?[0-9]+")
WHOLE_WITH_POINT = re.compile(r"[-+]?[0-9]+\.0*")
MAYBE_GROUPED = re.compile(r"[-+]?[0-9]{1,3}\.[0-9]{3}")
EXACT_BELOW = 2.0**53
SMALLEST = float(np.finfo(np.float64).smallest_normal)
"""Nearer to 0 a float holds fewer digits."""
GROUPING = " '’\u00a0\u202f\u2000-\u200a\u205f\u3000"
"""What stands between thousands, commas and points aside: apostrophes, and blanks of any width."""
DECORATED = re.compile(
    r"[-+−]?[$€£¥₹]? ?[-+−]?"
    rf"([0-9]+(\.[0-9]+)?|[0-9]{{1,3}}(,[0-9]{{3}})+(\.[0-9]+)?|[0-9]{{1,3}}([{GROUPING}][0-9]{{3}})+([.,][0-9]+)?"
    r"|([0-9]{1,3}(\.[0-9]{3})*|[0-9]+),[0-9]+|[0-9]{1,3}(\.[0-9]{3}){2,})"
    r" ?[%$€£¥₹]?"
)
"""Numbers as people write them in sheets: money, percent, a typeset minus, grouped digits, a decimal comma."""


def is_number(text: str) -> bool:
    """Whether one text is a finite number."""
    return NUMBER.fullmatch(text) is not None and abs(float(text)) != np.inf


def decorated_among(texts: Sequence[str]) -> str | None:
    """A text that is a number but for its decoration, where all texts are numbers, decorated or not."""
    if not all(DECORATED.fullmatch(text) for text in texts):
        return None
    return next((text for text in texts if not is_number(text)), None)


def as_numbers(texts: Sequence[str], decimal: str = ".") -> Array | None:
    """The numbers that all the texts are, or None when one of them is not a finite number."""
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
    """A text that a number would not keep: leading zeros, or more whole digits than a float holds."""
    match = CODE.search("\n" + "\n".join(texts))
    if match is not None:
        return next(text for text in texts if CODE.match("\n" + text))
    large = np.flatnonzero(np.abs(numbers) >= EXACT_BELOW)
    return next((texts[index] for index in large.tolist() if WHOLE.fullmatch(texts[index])), None)


def maybe_grouped(texts: Sequence[str]) -> str:
    """A number with a point, if in every one the point may as well group thousands: 1.234."""
    pointed = [text for text in texts if "." in text]
    return pointed[0] if pointed and all(MAYBE_GROUPED.fullmatch(text) for text in pointed) else ""


def rounded_among(texts: Sequence[str], numbers: Array) -> tuple[str, float] | None:
    """A text whose number a float does not keep, and the float: another whole number, or one too near to 0."""
    sizes = np.abs(numbers)
    for index in np.flatnonzero((sizes < SMALLEST) | (sizes >= EXACT_BELOW)).tolist():
        text, held = texts[index].replace(",", "."), float(numbers[index])
        lost = WHOLE_WITH_POINT.fullmatch(text) if abs(held) >= EXACT_BELOW else ANY_DIGIT.match(text)
        if lost and Decimal(text) != Decimal(held):
            return texts[index], held
    return None
