"""Where rows come from: a CSV file with its sidecar, or a data frame with what is declared of its columns.

The bytes of a file are read piece by piece, those of a frame are held. A frame is read as the CSV file of its
cells would be, so that the same cells give the same dataset: only what a text cannot say (the levels of a
categorical column and their order, numbers that are text) is declared of it.
"""

from __future__ import annotations

import gzip
import io
import os
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlcli.core.errors import DataError, MlcliWarning, UsageError
from mlcli.core.names import listed
from mlcli.core.strict_yaml import Document, parse
from mlcli.data.shipped import find
from mlcli.data.sidecar import sidecar_document

if TYPE_CHECKING:
    import pandas as pd

FRAME = "frame"
"""What messages call a data frame."""
AS_WRITTEN = {"delimiter": "comma", "header": True, "encoding": "utf-8"}
"""How the text of a frame is laid out, so that nothing of it is guessed."""
WHOLE_AT_MOST = 2.0**53
"""Beyond it, not every whole number is a float."""
LARGEST_INTEGER = 2.0**64
"""Beyond it, pandas does not hold whole numbers as integers."""
MOST_UNPACKED = 1 << 32
"""A few bytes may unpack to more than any memory holds."""


@dataclass(frozen=True)
class InMemory:
    """Bytes that are held."""

    content: bytes

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.content)

    def piece(self, start: int, end: int) -> bytes:
        """Those from one place to before another, or to the end."""
        return self.content[start:end]


@dataclass(frozen=True)
class InFile:
    """The bytes of a file, which must not change while it is read."""

    path: Path
    size: int
    changed: int

    @staticmethod
    def of(path: Path) -> InFile:
        """A file as it is now."""
        known = path.stat()
        return InFile(path, known.st_size, known.st_mtime_ns)

    def piece(self, start: int, end: int) -> bytes:
        """Those from one place to before another, or to the end."""
        with self.path.open("rb") as file:
            known = os.fstat(file.fileno())
            if (known.st_size, known.st_mtime_ns) != (self.size, self.changed):
                raise DataError("was changed while it was read", where=str(self.path), hint="run it again")
            file.seek(start)
            return file.read(min(end, self.size) - start)


Content = InMemory | InFile


def content_of(path: Path) -> Content:
    """The bytes of a file, or a DataError that says why not."""
    try:
        return InFile.of(path)
    except OSError as problem:
        raise unreadable(problem, str(path)) from None


def unreadable(problem: OSError, name: str) -> DataError:
    """Why a file cannot be read."""
    return DataError(f"cannot be read: {problem.strerror}", where=name)


def unpacked(source: Content, name: str) -> Content:
    """What is packed with gzip, held in memory."""
    packed = source.path.open("rb") if isinstance(source, InFile) else io.BytesIO(source.piece(0, source.size))
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
    """The bytes of a CSV file, what is declared of it, and the file itself where there is one."""

    name: str
    content: Content
    document: Document | None = None
    path: Path | None = None


def source_of_file(reference: str, base: Path | None = None) -> Source:
    """The file that a reference means, with the sidecar beside it."""
    path = find(reference, base)
    document = sidecar_document(path)
    return Source(str(path), content_of(path), document, path)


def source_of_frame(frame: pd.DataFrame, declared: Mapping[str, Any] | None = None) -> Source:
    """The rows of a data frame; its index is left out. ``declared`` is what a sidecar would say of it."""
    if not (hasattr(frame, "to_csv") and hasattr(frame, "columns")):
        what = f"data are a data frame, a path, or the name of a shipped dataset; this is {type(frame).__name__}"
        raise UsageError(what, hint="make a frame of it with pandas.DataFrame(...)")
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    numbers = frame.select_dtypes("number").items()
    infinite = [
        str(name) for name, cells in numbers if np.isinf(cells.to_numpy(np.float64, na_value=np.nan)).any()
    ]
    if infinite:
        hint = "leave them out, or write them as missing (NaN)"
        raise DataError(f"not every number is finite in {listed(infinite)}", where=FRAME, hint=hint)
    _warn_of_lost_digits(frame)
    frame = frame.apply(_whole_where_possible) if len(frame.columns) else frame
    sidecar = {**(declared or {}), **AS_WRITTEN}
    declarations = {**_declarations(frame), **(sidecar.get("columns") or {})}
    import yaml

    text = yaml.safe_dump({**sidecar, "columns": declarations}, allow_unicode=True, sort_keys=False)
    document = parse(text, f"what is declared of the {FRAME}", DataError)
    return Source(FRAME, InMemory(frame.to_csv(index=False).encode()), document)


def _warn_of_lost_digits(frame: pd.DataFrame) -> None:
    """Say so where floats are whole numbers, some too large to have every digit; a gap makes them floats."""
    floats = frame.select_dtypes("float").items()
    known = {str(name): cells.dropna() for name, cells in floats}
    lost = [name for name, cells in known.items() if (cells % 1 == 0).all() and _beyond(cells.abs()).any()]
    if lost:
        text = f"{listed(lost)}: whole numbers beyond 2^53 are floats in the {FRAME}, and may have lost digits"
        hint = 'read with pandas.read_csv(..., dtype={NAME: "string"}) they are as in the file'
        warnings.warn(f"{text}; {hint}", MlcliWarning, stacklevel=2)


def _beyond(sizes: pd.Series[Any]) -> pd.Series[Any]:
    """Which are whole numbers that a float may not hold, but an integer of 64 bits."""
    return (sizes >= WHOLE_AT_MOST) & (sizes <= LARGEST_INTEGER)


def _whole_where_possible(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Whole numbers that pandas holds as floats, since some are missing, are written as whole numbers."""
    if cells.dtype.kind != "f":
        return cells
    whole = cells.isna() | ((cells % 1 == 0) & (cells.abs() < WHOLE_AT_MOST))
    return cells.astype("Int64") if whole.all() else cells


def _declarations(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """By column, what its type says and its cells as text would not."""
    results = {str(name): _declaration(frame[name]) for name in frame.columns}
    return {name: declaration for name, declaration in results.items() if declaration}


def _declaration(cells: pd.Series[Any]) -> dict[str, Any]:
    import pandas as pd

    if isinstance(cells.dtype, pd.CategoricalDtype):
        levels = [str(level) for level in cells.dtype.categories]
        kind = "ordinal" if cells.dtype.ordered else "nominal"
        return {"kind": kind, "levels": levels} if levels else {}
    if pd.api.types.is_string_dtype(cells.dtype):
        text = cells.dropna().astype(str)
        as_numbers = pd.to_numeric(text, errors="coerce")
        return {"kind": "nominal"} if len(text) and as_numbers.notna().all() else {}
    return {}
