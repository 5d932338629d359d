"""How much memory something takes at most."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def peak_of(action: Callable[[], object]) -> int:
    """The most bytes that are held at once while it runs."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        # Tracing that goes on makes every later test several times as slow.
        tracemalloc.stop()
