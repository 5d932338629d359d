"""Where rows come from: a CSV file with its sidecar, or a data frame with what is declared about its columns.

Files are read piece by piece. A frame is read as the CSV file of its cells would be, so that the same cells give
the same dataset. Only what text cannot express is declared about it: the levels of a categorical column and their
order, and text that looks like numbers.

Text is a number if it has decimal digits with a point and an exponent, and nothing else. Not numbers: ``inf`` and
``nan``, ``1_000``, ``1,000``, ``0x1F``, digits of other scripts. Whole numbers with leading zeros, or from 2^53
on, are codes: a float would change them.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.errors import DataError, MlcliWarning, UsageError
from mlcli.core.names import listed
from mlcli.core.strict_yaml import Document, parse
from mlcli.core.tables import Array
from mlcli.data.shipped import find
from mlcli.data.sidecar import sidecar_document

if TYPE_CHECKING:
    import pandas as pd

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


FRAME = "frame"
"""What messages call a data frame."""
MOST_UNPACKED = 1 << 32
"""Bytes: a small packed file may unpack to more than any memory holds."""


@dataclass(frozen=True)
class InMemory:
    """Bytes in memory."""

    content: bytes

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.content)

    def piece(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to before ``end``."""
        return self.content[start:end]


@dataclass(frozen=True)
class InFile:
    """The bytes of a file, which must not change while it is read."""

    path: Path
    size: int
    modified: int

    @staticmethod
    def of(path: Path) -> InFile:
        """A file as it is now."""
        status = path.stat()
        return InFile(path, status.st_size, status.st_mtime_ns)

    def piece(self, start: int, end: int) -> bytes:
        """The bytes from ``start`` to before ``end``."""
        with self.path.open("rb") as file:
            status = os.fstat(file.fileno())
            if (status.st_size, status.st_mtime_ns) != (self.size, self.modified):
                raise DataError("was changed while it was read", where=str(self.path), hint="run it again")
            file.seek(start)
            return file.read(min(end, self.size) - start)


Content = InMemory | InFile


def content_of(path: Path) -> Content:
    """The bytes of a file."""
    try:
        return InFile.of(path)
    except OSError as problem:
        raise unreadable(problem, str(path)) from None


def unreadable(problem: OSError, name: str) -> DataError:
    """The error for a file that cannot be read."""
    return DataError(f"cannot be read: {problem.strerror}", where=name)


def unpacked(source: Content, name: str) -> Content:
    """The unpacked content of a gzip file, in memory."""
    packed = source.path.open("rb") if isinstance(source, InFile) else io.BytesIO(source.content)
    try:
        with packed, gzip.GzipFile(fileobj=packed) as file:
            content = file.read(MOST_UNPACKED + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        hint = "it was cut or damaged on its way: fetch it again"
        raise DataError(f"cannot be unpacked with gzip: {problem}", where=name, hint=hint) from None
    if len(content) > MOST_UNPACKED:
        what = f"unpacks to more than {MOST_UNPACKED >> 30} GiB, which are not held in memory"
        raise DataError(what, where=name, hint="unpack it first, and it is read piece by piece: gunzip -k FILE")
    return InMemory(content)


@dataclass(frozen=True, eq=False)
class Source:
    """The bytes of a CSV file, its sidecar, and its path if it is a file."""

    name: str
    content: Content
    document: Document | None = None
    path: Path | None = None


def source_of_file(reference: str, base: Path | None = None) -> Source:
    """The file that a reference means, with the sidecar beside it."""
    path = find(reference, base)
    document = sidecar_document(path)
    return Source(str(path), content_of(path), document, path)


def source_of_frame(frame: pd.DataFrame, declared: Mapping[str, object] | None = None) -> Source:
    """The rows of a data frame without its index; ``declared`` is what a sidecar would say about it."""
    if not (hasattr(frame, "to_csv") and hasattr(frame, "columns")):
        what = f"data are a data frame, a path, or the name of a shipped dataset; this is {type(frame).__name__}"
        raise UsageError(what, hint="make a frame of it with pandas.DataFrame(...)")
    import yaml

    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    infinite = [
        str(name)
        for name, cells in frame.select_dtypes("number").items()
        if np.isinf(cells.to_numpy(np.float64, na_value=np.nan)).any()
    ]
    if infinite:
        hint = "leave them out, or write them as missing (NaN)"
        raise DataError(f"not every number is finite in {listed(infinite)}", where=FRAME, hint=hint)
    frame = _with_whole_numbers(frame)
    # the layout of the text is declared, so that nothing about it is guessed
    sidecar = {**(declared or {}), "delimiter": "comma", "header": True, "encoding": "utf-8"}
    columns = {**_declarations(frame), **(sidecar.get("columns") or {})}  # type: ignore[dict-item]
    text = yaml.safe_dump({**sidecar, "columns": columns}, allow_unicode=True, sort_keys=False)
    document = parse(text, f"what is declared of the {FRAME}", DataError)
    return Source(FRAME, InMemory(frame.to_csv(index=False).encode()), document)


def _with_whole_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with whole numbers as integers also where a gap made pandas hold them as floats.

    Warns where these are so large that floats may have lost digits.
    """
    lost = []
    for index, (name, cells) in enumerate(frame.items()):
        if cells.dtype.kind != "f":
            continue
        sizes = cells.dropna().abs()
        if not (sizes % 1 == 0).all():
            continue
        if (sizes < EXACT_BELOW).all():
            frame.isetitem(index, cells.astype("Int64").array)
        elif ((sizes >= EXACT_BELOW) & (sizes <= 2.0**64)).any():  # larger ones were never 64-bit integers
            lost.append(str(name))
    if lost:
        text = f"{listed(lost)}: whole numbers beyond 2^53 are floats in the {FRAME}, and may have lost digits"
        hint = 'read with pandas.read_csv(..., dtype={NAME: "string"}) they are as in the file'
        warnings.warn(f"{text}; {hint}", MlcliWarning, stacklevel=2)
    return frame


def _declarations(frame: pd.DataFrame) -> dict[str, dict[str, object]]:
    """By column, what its type says and the text of its cells would not."""
    import pandas as pd

    declarations: dict[str, dict[str, object]] = {}
    for name, cells in frame.items():
        if isinstance(cells.dtype, pd.CategoricalDtype):
            levels = [str(level) for level in cells.dtype.categories]
            if levels:
                kind = "ordinal" if cells.dtype.ordered else "nominal"
                declarations[str(name)] = {"kind": kind, "levels": levels}
        elif pd.api.types.is_string_dtype(cells.dtype):
            text = cells.dropna().astype(str)
            if len(text) and pd.to_numeric(text, errors="coerce").notna().all():
                declarations[str(name)] = {"kind": "nominal"}
    return declarations
