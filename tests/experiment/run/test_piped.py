"""Workers with a pipe each: one that dies harms only what it was asked, and whoever waits hears of it."""

from __future__ import annotations

import os
import signal
import struct
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import active_children, get_context
from multiprocessing.connection import Connection
from pickle import PicklingError
from time import sleep

import pytest

from mlcli.experiment.run.piped import PipedExecutor, serve_calls

FORK = get_context("fork")
LONG_ENOUGH = 30.0


def half_an_answer(connection: Connection) -> None:
    """Begin an answer of a million bytes, and be killed after the first."""
    connection.send(None)
    connection.recv()
    os.write(connection.fileno(), struct.pack("!i", 1_000_000) + b"x")
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("calls", [1, 5])
def test_a_worker_that_is_killed_while_it_writes_ends_what_waits_for_it(calls: int) -> None:
    executor = PipedExecutor(FORK, 1, half_an_answer)
    futures = [executor.submit(os.getpid) for _ in range(calls)]
    for future in futures:
        with pytest.raises(BrokenProcessPool):
            future.result(LONG_ENOUGH)
    with pytest.raises(BrokenProcessPool):
        executor.submit(os.getpid).result(LONG_ENOUGH)
    executor.shutdown()
    assert active_children() == []


def test_the_others_finish_what_they_have_begun() -> None:
    executor = PipedExecutor(FORK, 2, serve_calls)
    slow, dying = executor.submit(partial(sleep, 0.5)), executor.submit(partial(os._exit, 3))
    with pytest.raises(BrokenProcessPool):
        dying.result(LONG_ENOUGH)
    assert slow.result(LONG_ENOUGH) is None
    executor.shutdown()


def test_what_cannot_be_sent_or_fails_is_told_and_the_worker_goes_on() -> None:
    executor = PipedExecutor(FORK, 1, serve_calls)
    with pytest.raises((AttributeError, PicklingError)):  # the second from Python 3.14 on
        executor.submit(lambda: 1).result(LONG_ENOUGH)
    with pytest.raises(ZeroDivisionError):
        executor.submit(partial(divmod, 1, 0)).result(LONG_ENOUGH)
    assert executor.submit(partial(divmod, 7, 2)).result(LONG_ENOUGH) == (3, 1)
    executor.shutdown()


def test_workers_leave_whatever_they_do() -> None:
    executor = PipedExecutor(FORK, 2, serve_calls)
    futures = [executor.submit(partial(sleep, 1000)) for _ in range(5)]
    executor.shutdown()
    assert active_children() == []
    for future in futures:
        with pytest.raises(BrokenProcessPool):
            future.result(LONG_ENOUGH)
