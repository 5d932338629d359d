"""Where the shell enters: what must be settled before anything is imported: streams, Ctrl-C and SIGTERM."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

STDOUT, STDERR = 1, 2
OBJECTS_BETWEEN_COLLECTIONS = 500_000
SIGNALS = (signal.SIGINT, signal.SIGTERM)
AFTER_A_SIGNAL = 128
"""Added to the number of a signal, as shells do, it is the exit code."""
_received: list[int] = []


def main() -> None:
    """Run the command line, from its first import to its last word."""
    with interruptible():
        _open_streams()
        _run()


@contextmanager
def interruptible() -> Iterator[None]:
    """Run the body, whose work a signal ends in good order, a second one at once; the exit code says by which."""
    for signals in SIGNALS:
        signal.signal(signals, _interrupt)
    try:
        yield
    except (SystemExit, KeyboardInterrupt):
        if _received:
            exec("")  # after a signal that met an exec, as dataclasses have, Python would end itself by SIGINT
            raise SystemExit(AFTER_A_SIGNAL + _received[0]) from None
        raise


def _interrupt(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    for signals in SIGNALS:
        signal.signal(signals, signal.SIG_DFL)
    with suppress(OSError):
        os.write(STDERR, b"\nInterrupted.\n")
    raise KeyboardInterrupt


def _open_streams() -> None:
    """Open what the shell has closed, or the next file that is opened would be written to as if it were stdout."""
    closed = [number for number in range(3) if _is_closed(number)]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if number in closed:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))
    if isinstance(sys.stdout.buffer, io.RawIOBase):  # python -u, which loses the rest of what a signal cuts short
        sys.stdout = os.fdopen(STDOUT, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False)
    if STDOUT in closed:
        from mlcli.core.errors import ExitCode

        sys.stderr.write("Error: stdout is closed, so that no result could be shown\n")
        raise SystemExit(ExitCode.STORE)


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def _run() -> None:
    # Imports make many objects and free few: collecting at the usual 700 costs a tenth of the start-up.
    # pandas alone makes more than 100,000 of them.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    from mlcli.core.processes import pin_blas_from_the_start
    from mlcli.core.progress import compiling

    pin_blas_from_the_start()
    compiling.on_long = _remark_on_compiling
    from mlcli.cli._app import app

    try:
        app(prog_name="mlcli")
    finally:
        # The interpreter's last collections would walk every object of pandas: another tenth of a short command.
        gc.freeze()


def _remark_on_compiling() -> None:
    from mlcli.cli._console import remark

    remark("compiling for this machine, once after an install, up to half a minute; later commands find it done")
