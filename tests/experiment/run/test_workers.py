"""A worker that is killed while it writes harms only what it was given."""

from __future__ import annotations

import os
import signal
import struct
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from mlcli.experiment.run.workers import Stopped, Worker


def half_an_answer(connection: Connection) -> None:
    """Begin an answer of a million bytes, and be killed after the first."""
    connection.recv_bytes()
    os.write(connection.fileno(), struct.pack("!i", 1_000_000) + b"x")
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_while_it_writes_has_died() -> None:
    worker, work = Worker(get_context("fork"), half_an_answer), Any
    worker.take("tag", work, ())  # type: ignore[arg-type]
    why = "its process was ended by signal 9 (SIGKILL, perhaps for want of memory)"
    assert worker.receive() == Stopped("died", why)
    assert not worker.is_alive()
