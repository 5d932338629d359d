"""Loading and compiling of kernels as it happens: how long it has taken in this process, and who is told of it.

Both are done once, for all methods that come after, so that they are not among the seconds of a method.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Self

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

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, *problem: object) -> None:
        self.end()

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


compiling, loading = Compiling(), Compiling()
"""Of this process: kernels that are not on disk; all kernels, and what they are compiled by."""


def seconds_of_work() -> float:
    """A clock that stands still while kernels are loaded or compiled."""
    return perf_counter() - loading.seconds
