"""The cells of a table that is read: in memory, or mapped from a nameless temporary file if they are many.

The file lies in the folder for temporary files (``TMPDIR``) and goes with the process.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
import weakref
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from mlcli.core.moments import memory
from mlcli.core.processes import on_linux
from mlcli.core.tables import Cell, Rows, blocks_of

_maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


class MappedArray(Generic[Cell]):
    """Rows of cells that can grow; in a file if they take more than a sixteenth of memory."""

    def __init__(self, rows: int, columns: int, dtype: type[Cell]) -> None:
        self.columns, self.dtype = columns, np.dtype(dtype)
        is_large = rows * columns * self.dtype.itemsize > memory() // 16
        self._file = tempfile.TemporaryFile() if is_large else None  # noqa: SIM115
        self.cells: NDArray[Cell] = np.empty((0, columns), self.dtype)
        self.resize(rows)

    def resize(self, rows: int) -> None:
        """Keep the first ``rows`` rows, or make space for more."""
        size = rows * self.columns * self.dtype.itemsize
        if self._file is None and not len(self.cells):
            self.cells = np.empty((rows, self.columns), self.dtype)
        elif self._file is None:
            self.cells.resize((rows, self.columns), refcheck=False)
        elif size:
            self.cells = np.empty((0, self.columns), self.dtype)  # Windows shortens no file that is mapped
            # A full disk is reported now, since writing to a map cannot report it.
            file, folder = self._file.fileno(), tempfile.gettempdir()
            if size - os.fstat(file).st_size > shutil.disk_usage(folder).free:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)
            os.ftruncate(file, size)
            if on_linux():
                os.posix_fallocate(file, 0, size)
            mapped = mmap.mmap(file, size)
            _maps.add(mapped)
            self.cells = np.ndarray((rows, self.columns), self.dtype, buffer=mapped)

    def keep(self, columns: Rows) -> None:
        """Keep some of the columns."""
        rows, flat = len(self.cells), self.cells.reshape(-1)
        for block in blocks_of(rows, self.columns, 1 << 20):
            kept = np.take(self.cells[block], columns, axis=1)
            flat[block.start * len(columns) : block.stop * len(columns)] = kept.reshape(-1)
        del flat
        self.columns = len(columns)
        self.resize(rows)


def give_pages_back() -> None:
    """Let the system take the pages of mapped arrays; they come back when they are read."""
    for mapped in _maps if on_linux() else ():
        mapped.madvise(mmap.MADV_DONTNEED)
