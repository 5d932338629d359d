"""The entry point: streams and signals are set up before anything is imported."""

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
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_received: list[int] = []


def main() -> None:
    """Run the command line."""
    with interruptible():
        _open_streams()
        _run()


@contextmanager
def interruptible() -> Iterator[None]:
    """Run the body: a signal ends it in good order, a second one at once; the exit code tells which."""
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    try:
        yield
    except (SystemExit, KeyboardInterrupt):
        if _received:
            exec("")  # after a signal that met an exec, as dataclasses have, Python would end itself by SIGINT
            raise SystemExit(128 + _received[0]) from None  # as shells have it
        raise


def _interrupt(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)
    with suppress(OSError):
        os.write(STDERR, b"\nInterrupted.\n")
    raise KeyboardInterrupt


def _open_streams() -> None:
    """Open the streams that the shell has closed; else the next opened file would be written to as stdout."""
    closed = []
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            closed.append(number)
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))
    if isinstance(sys.stdout.buffer, io.RawIOBase):  # python -u, which loses the rest of what a signal cuts short
        sys.stdout = os.fdopen(STDOUT, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False)
    if STDOUT in closed:
        from mlcli.core.errors import ExitCode

        sys.stderr.write("Error: stdout is closed, so that no result could be shown\n")
        raise SystemExit(ExitCode.STORE)


def _run() -> None:
    # Imports make many objects and free few: collecting at the usual 700 costs a tenth of the start-up.
    # pandas alone makes more than 100,000 of them.
    gc.set_threshold(500_000)
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
