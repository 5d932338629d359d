"""Room for tables that memory cannot hold several times: arrays in a file that nobody else sees.

Whoever copies a whole table asks here for the copy. What is small is held as usual; what is large beside the
memory that mlcli may take is paged by the system, lies in the folder for temporary files (``TMPDIR``), and goes
with the process.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import UsageError
from mlcli.core.processes import on_linux
from mlcli.core.quantities import bytes_in, number_in

Cell = TypeVar("Cell", bound=np.generic)

VARIABLE = "MLCLI_MEMORY"
SHARE = 16
"""A table that takes more than such a part of memory is not copied in it."""
CELLS_AT_ONCE, LEAST_ROWS = 1 << 20, 16
CELLS_OF_A_CACHE = 1 << 14
"""What is done to so many cells step by step is read from memory once."""
BLOCKS_UNTIL_PAGES_GO = 16
CELLS_TO_MIX, RUN = 1 << 25, 1 << 8
_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
"""The rooms that lie in files."""


def memory() -> int:
    """How many bytes of memory may be taken: as the environment says, else what the machine has."""
    stated = os.environ.get(VARIABLE, "").strip()
    if not stated:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 33
    found = bytes_in(f"{stated}B" if number_in(stated) else stated)
    if found is None:
        raise UsageError(f"{VARIABLE} is no amount of memory: '{stated}'", hint="such as 4GiB or 800 MB")
    return found


def is_large(size: int) -> bool:
    """Whether so many bytes are too many to be held more than once."""
    return size > memory() // SHARE


class Room:
    """Rows of cells that can become more; in a file if they are large, where only what is written takes place."""

    def __init__(self, rows: int, columns: int, dtype: type[np.generic] = np.float64) -> None:
        self.columns, self.dtype = columns, np.dtype(dtype)
        self._file = tempfile.TemporaryFile() if is_large(rows * columns * self.dtype.itemsize) else None  # noqa: SIM115
        self.cells: NDArray[Any] = np.empty((0, columns), dtype)
        self.resize(rows)

    def resize(self, rows: int) -> None:
        """Keep the first so many rows, or make room for more."""
        size = rows * self.columns * self.dtype.itemsize
        if self._file is None and not len(self.cells):
            self.cells = np.empty((rows, self.columns), self.dtype)
        elif self._file is None:
            self.cells.resize((rows, self.columns), refcheck=False)
        elif size:
            self.cells = np.empty((0, self.columns), self.dtype)  # Windows shortens no file that is mapped
            _reserve(self._file.fileno(), size)
            mapped = mmap.mmap(self._file.fileno(), size)
            _mapped.add(mapped)
            self.cells = np.ndarray((rows, self.columns), self.dtype, buffer=mapped)

    def keep(self, places: NDArray[np.intp]) -> None:
        """Keep some of the columns, moved together where they are."""
        rows, flat = len(self.cells), self.cells.reshape(-1)
        for some in blocks_of(rows, self.columns):
            kept = np.take(self.cells[some], places, axis=1)
            flat[some.start * len(places) : some.stop * len(places)] = kept.reshape(-1)
        del flat
        self.columns = len(places)
        self.resize(rows)


def _reserve(file: int, size: int) -> None:
    """Give a file its length; a disk too full for it is told of now, since a write to a map could not tell."""
    folder = tempfile.gettempdir()
    if size - os.fstat(file).st_size > shutil.disk_usage(folder).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)
    os.ftruncate(file, size)
    if size and on_linux():
        os.posix_fallocate(file, 0, size)


def filled(shape: tuple[int, ...], dtype: type[Cell], part: Callable[[slice], NDArray[Any]]) -> NDArray[Cell]:
    """Rows that are made some at a time."""
    rows, columns = shape
    cells = Room(rows, columns, dtype).cells
    for place, some in enumerate(blocks_of(rows, columns)):
        cells[some] = part(some)
        if place % BLOCKS_UNTIL_PAGES_GO == 0:
            give_pages_back()
    return cells


def shuffled(rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.intp]:
    """The rows of a table in an order drawn at random, by its shape alone.

    Of very many cells, some runs of rows after others are mixed, so that a file is read piece by piece.
    """
    window = max(1, CELLS_TO_MIX // max(1, columns))
    if rows <= window:
        return rng.permutation(rows)
    starts = RUN * rng.permutation(-(-rows // RUN))
    order = (starts[:, None] + np.arange(RUN)).ravel()
    order = order[order < rows]
    for first in range(0, rows, window):
        rng.shuffle(order[first : first + window])
    return order


def give_pages_back() -> None:
    """Let go of the pages of rooms that lie in files; they come back when they are looked at."""
    for mapped in _mapped if on_linux() else ():
        mapped.madvise(mmap.MADV_DONTNEED)


def blocks_of(rows: int, columns: int = 1, cells: int | None = None) -> list[slice]:
    """Some rows at a time, of about so many cells; if not said otherwise, so many that nobody notices."""
    size = max(LEAST_ROWS, (cells or CELLS_AT_ONCE) // max(1, columns))
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]
