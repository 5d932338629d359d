"""Compiling of kernels as it happens: how long it has taken in this process, and who is told if it takes long."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import perf_counter

LONG = 1.0
"""Seconds after which somebody who waits should know why."""


class Compiling:
    """Kernels are compiled when they are first called after an install, and kept on disk from then on."""

    def __init__(self) -> None:
        self.on_long: Callable[[], None] | None = None
        self._seconds = 0.0
        self._depth = 0
        self._started = 0.0

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return self._seconds + (perf_counter() - self._started if self._depth else 0.0)

    def begin(self) -> None:
        """A kernel is being compiled, perhaps while another is."""
        if not self._depth:
            self._started = perf_counter()
        self._depth += 1
        self._tell()

    def end(self) -> None:
        """It is done."""
        self._depth -= 1
        if not self._depth:
            self._seconds += perf_counter() - self._started
        self._tell()

    def _tell(self) -> None:
        if self.on_long is not None and self.seconds >= LONG:
            tell, self.on_long = self.on_long, None
            tell()


compiling = Compiling()
"""Of this process."""


@cache
def kept_on_disk(module: str) -> bool:
    """Whether kernels of a module in ``mlcli.kernels`` have been compiled since the install."""
    index = f"{module}.*.nbi"
    if elsewhere := os.environ.get("NUMBA_CACHE_DIR"):
        return any(Path(elsewhere).rglob(index))
    return any((Path(__file__).parents[1] / "kernels").rglob(f"__pycache__/{index}"))
