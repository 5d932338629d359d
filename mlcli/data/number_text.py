"""Which text is a number: decimal digits with a point and an exponent, and nothing else.

Not numbers: ``inf`` and ``nan``, ``1_000``, ``1,000``, ``0x1F``, digits of other scripts. Whole numbers with
leading zeros, or from 2^53 on, are codes: a float would change them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from mlcli.core.tables import Array

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
CODE = re.compile(r"\n[-+]?0[0-9]")
WHOLE = re.compile(r"[-+]?[0-9]+")
EXACT_BELOW = 2.0**53
DECORATED = re.compile(
    r"[-+]?[$€£¥₹]? ?[-+]?"
    r"([0-9]+(\.[0-9]+)?|[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|[0-9]{1,3}([ '’\u00a0\u202f][0-9]{3})+([.,][0-9]+)?"
    r"|[0-9]{1,3}(\.[0-9]{3})*,[0-9]+)"
    r" ?[%$€£¥₹]?"
)
"""Numbers as people write them in sheets: with a sign of money or percent, grouped digits, a decimal comma."""


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
    found = CODE.search("\n" + "\n".join(texts))
    if found is not None:
        return next(text for text in texts if CODE.match("\n" + text))
    large = np.flatnonzero(np.abs(numbers) >= EXACT_BELOW)
    return next((texts[index] for index in large.tolist() if WHOLE.fullmatch(texts[index])), None)
