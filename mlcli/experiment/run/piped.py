"""An executor whose workers have a pipe each: one that dies, even while it writes, takes nothing with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from mlcli.experiment.run.worker_process import WorkerProcess, begin_new_process

Call = Callable[[], Any]
DIED = "a worker process has died"
_Waiting = tuple[Future[Any], Call]


class PipedExecutor:
    """Some worker processes; ``serve(connection, *arguments)`` is what each of them runs.

    A queue that all share would be left locked, and half a message in it, by a worker that is killed while it
    writes. Here a thread for each worker waits for the end of its own pipe.
    """

    def __init__(self, context: BaseContext, jobs: int, serve: Callable[..., None], *arguments: Any) -> None:
        self._calls: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._lock = Lock()
        self._broken = False
        self._workers = [WorkerProcess(context, serve, *arguments) for _ in range(jobs)]
        self._arrived = [Event() for _ in self._workers]
        self._threads = [
            Thread(target=self._serve_worker, args=(worker.connection, arrived), daemon=True)
            for worker, arrived in zip(self._workers, self._arrived, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def ready(self) -> bool:
        """Whether all workers have said that they are here."""
        return all(arrived.is_set() for arrived in self._arrived)

    def submit(self, call: Call) -> Future[Any]:
        """Have a call made by the next worker that is free."""
        future: Future[Any] = Future()
        with self._lock:
            if self._broken:
                future.set_exception(BrokenProcessPool(DIED))
            else:
                self._calls.put((future, call))
        return future

    def shutdown(self) -> None:
        """End the workers, whatever they do."""
        self._break()
        for worker in self._workers:
            worker.kill()
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.close()

    def _serve_worker(self, connection: Connection, arrived: Event) -> None:
        """Hand one call after another to a worker, until it dies or is no longer needed."""
        try:
            connection.recv()
            arrived.set()
            while (waiting := self._calls.get()) is not None:
                _make_call(waiting, connection)
        except (EOFError, OSError):
            self._break()

    def _break(self) -> None:
        """Take no more calls, and tell those who wait for theirs."""
        with self._lock:
            self._broken = True
        with suppress(Empty):
            while (waiting := self._calls.get_nowait()) is not None:
                waiting[0].set_exception(BrokenProcessPool(DIED))
            self._calls.put(None)  # it was meant for another thread


def serve_calls_in_new_process(
    connection: Connection, parent: int, classes: Mapping[str, type], modules: Sequence[str], folder: str
) -> None:
    """What a worker runs that is a new process."""
    begin_new_process(connection, parent, classes)
    from mlcli.experiment.run.workers import serve_new_process

    serve_new_process(connection, modules, folder)


def serve_calls(connection: Connection) -> None:
    """What a worker does once it is prepared: say so, then make each call that it is sent."""
    connection.send(None)
    while True:
        try:
            connection.send(_outcome_of(connection.recv()))
        except (EOFError, OSError):  # it is no longer needed, or a fork of a worker, whose pipe is closed
            os._exit(0)


def _outcome_of(call: Call) -> tuple[Any, BaseException | None]:
    try:
        return call(), None
    except Exception as problem:  # the caller is told
        return None, problem


def _make_call(waiting: _Waiting, connection: Connection) -> None:
    """Have a call made; whoever waits for it hears of its end, however it came."""
    future, call = waiting
    try:
        connection.send(call)
        result, problem = connection.recv()
    except (EOFError, OSError):
        future.set_exception(BrokenProcessPool(DIED))
        raise
    except Exception as unsendable:  # what cannot be pickled is the caller's fault
        future.set_exception(unsendable)
        return
    if problem is None:
        future.set_result(result)
    else:
        future.set_exception(problem)
