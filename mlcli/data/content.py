"""Where the bytes of a file are: in memory, or still in the file, to be read piece by piece."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from mlcli.core.errors import DataError


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


MOST_UNPACKED = 1 << 32
"""A few bytes may unpack to more than any memory holds."""


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
