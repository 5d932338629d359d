"""How far one long computation is, for who waits: a loop says it, and whoever shows progress looks at it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeVar

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


advancing = Advancing()
"""Of this process."""
