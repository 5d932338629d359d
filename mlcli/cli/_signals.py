"""Ctrl-C and SIGTERM: the first ends the work in good order, a second one at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
AFTER_A_SIGNAL = 128
"""Added to the number of a signal, as shells do, it is the exit code."""
STDERR = 2
_received: list[int] = []


@contextmanager
def interruptible() -> Iterator[None]:
    """Run the body, which a signal interrupts; the exit code says by which."""
    for one in SIGNALS:
        signal.signal(one, _interrupt)
    try:
        yield
    except (SystemExit, KeyboardInterrupt):
        if _received:
            exec("")  # after a signal that met an exec, as dataclasses have, Python would end itself by SIGINT
            raise SystemExit(AFTER_A_SIGNAL + _received[0]) from None
        raise


def _interrupt(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    for one in SIGNALS:
        signal.signal(one, signal.SIG_DFL)
    with suppress(OSError):
        os.write(STDERR, b"\nInterrupted.\n")
    raise KeyboardInterrupt
