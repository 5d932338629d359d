"""Progress of one long computation, and the time to load or compile kernels.

Kernels are loaded and compiled once for all methods, so this is not part of the seconds of a method.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from time import perf_counter
from typing import Self, TypeVar

T = TypeVar("T")


class Advancing:
    """The outermost loop that says how far it is; one inside another is a part of its steps."""

    def __init__(self) -> None:
        self._share: float | None = None

    @property
    def share(self) -> float | None:
        """The share of the loop under way that is done; None where no loop says it."""
        return self._share

    def over(self, steps: Sequence[T]) -> Generator[T]:
        """The steps of a loop, one by one."""
        if self._share is not None:
            yield from steps
            return
        try:
            for done, step in enumerate(steps):
                self._share = done / len(steps)
                yield step
        finally:
            self._share = None


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
        if self.on_long is not None and self.seconds >= 1.0:
            tell, self.on_long = self.on_long, None
            tell()


advancing = Advancing()
"""Of this process."""
compiling, loading = Compiling(), Compiling()
"""Of this process: kernels that are not on disk; all kernels, and what they are compiled by."""


def seconds_of_work() -> float:
    """A clock that stands still while kernels are loaded or compiled."""
    return perf_counter() - loading.seconds
