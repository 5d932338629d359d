"""Child processes that can be killed: for cells with a budget, and for cells that brought their process down."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from mlcli.core.processes import own_bytes
from mlcli.core.quantities import duration, size
from mlcli.experiment.run.worker_process import WorkerProcess, begin_new_process, main_classes, new_process_context

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from mlcli.experiment.run.judge import WorkerResult
    from mlcli.experiment.run.preparation import BlockRange, ReadyCell

# The engine is imported by the children's own functions, after one BLAS thread is asked for.

LOOK_EVERY = 0.05
"""Seconds after which it is looked again how much memory a child holds."""
BEGUN, FINISHED = "begun", "finished"
SIGNAL_NAMES = {one.value: one.name for one in signal.Signals}


@dataclass(frozen=True, eq=False)
class Assignment:
    """Splits of one cell, and what they may take: seconds from when they are begun, bytes of the process."""

    tag: Any
    ready: ReadyCell
    ranges: tuple[BlockRange, ...]
    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Stopped:
    """A child that did not finish its assignment: the status of the cell, and why."""

    status: str
    why: str
    limit: str = ""
    """What there was too little of: seconds, memory, or the total of seconds."""


Message: TypeAlias = "WorkerResult | Stopped"
"""What comes of a block, or how the child that judged it was stopped."""
Results: TypeAlias = "Generator[tuple[Any, Sequence[Message] | None]]"
"""By the tag of some work, what came of it; None where it took workers with it."""


class Child(WorkerProcess):
    """A process that judges one assignment at a time."""

    def __init__(self) -> None:
        super().__init__(new_process_context(), _serve, os.getpid(), main_classes())
        self.assignment: Assignment | None = None
        self.deadline = inf

    def take(self, assignment: Assignment) -> None:
        """Hand over an assignment; its time runs from when the child says that it has begun."""
        self.assignment, self.deadline = assignment, inf
        with suppress(OSError):  # it may have died; receiving from it will say so
            self.connection.send((assignment.ready, assignment.ranges))

    def receive(self) -> Message | None:
        """What the child has sent, if it matters; without an assignment it is free again."""
        assert self.assignment is not None
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.end()
            return Stopped("died", _exit_reason(self.process.exitcode))
        if message == BEGUN:
            self.deadline = inf if self.assignment.seconds is None else monotonic() + self.assignment.seconds
        elif message == FINISHED:
            self.assignment = None
        else:
            return message  # type: ignore[no-any-return]
        return None

    def exceeded_limit(self) -> Stopped | None:
        """What it has had too much of, if anything."""
        if self.assignment is None:
            return None
        if self.deadline <= monotonic():
            why = f"it took more than the {duration(self.assignment.seconds or 0.0)} that it had"
            return Stopped("over-budget", why, "seconds")
        most, held = self.assignment.memory, None
        if most is not None and (held := own_bytes(self.process.pid)) is not None and held > most:
            why = f"it took more than the {size(most)} of memory that it had"
            return Stopped("over-budget", why, "memory")
        return None

    def end(self) -> None:
        """End the process, whatever it does, and what it has begun with it."""
        self.kill()
        self.close()
        self.assignment = None


def supervised(assignments: Iterable[Assignment], jobs: int, until: float = inf) -> Generator[tuple[Any, Message]]:
    """Judge in up to ``jobs`` children; yields (tag, what came of a block or how the child was stopped).

    ``until`` is when all of them are stopped, on the clock that ``monotonic`` reads.
    """
    waiting = iter(assignments)
    children: list[Child] = []
    try:
        while monotonic() < until and _assign(waiting, children, jobs):
            for child in _readable_children(children, until):
                assignment = child.assignment
                message = child.receive()
                if assignment is not None and message is not None:
                    yield assignment.tag, message
            for child in children:
                assignment, stopped = child.assignment, child.exceeded_limit()
                if assignment is not None and stopped is not None:
                    child.end()
                    yield assignment.tag, stopped
            children = [child for child in children if child.assignment is not None or child.process.is_alive()]
    finally:
        for child in children:
            child.end()


def _assign(waiting: Iterator[Assignment], children: list[Child], jobs: int) -> bool:
    """Give assignments to free children, starting them as needed; whether anybody is at work."""
    while sum(child.assignment is not None for child in children) < jobs:
        assignment = next(waiting, None)
        if assignment is None:
            break
        free = next((child for child in children if child.assignment is None), None)
        if free is None:
            free = Child()
            children.append(free)
        free.take(assignment)
    return any(child.assignment is not None for child in children)


def _readable_children(children: list[Child], until: float) -> list[Child]:
    """The children that have sent something (or died), waited for until the next deadline."""
    from multiprocessing.connection import wait

    busy = [child for child in children if child.assignment is not None]
    patience = max(0.0, min([until, *(child.deadline for child in busy)]) - monotonic())
    if any(child.assignment is not None and child.assignment.memory is not None for child in busy):
        patience = min(patience, LOOK_EVERY)
    readable = wait([child.connection for child in busy], None if patience == inf else patience)
    return [child for child in busy if child.connection in readable]


def _exit_reason(code: int | None) -> str:
    if code is None or code >= 0:
        return f"its process left with exit code {code}"
    name = SIGNAL_NAMES.get(-code, "of no name")
    perhaps = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
    return f"its process was ended by signal {-code} ({name}{perhaps})"


def _serve(connection: Connection, parent: int, classes: Mapping[str, type]) -> None:
    """What a child does: judge the blocks of each assignment, one after another."""
    begin_new_process(connection, parent, classes)
    with suppress(EOFError, OSError):  # it is no longer needed, or a fork of a worker, whose pipe is closed
        while True:
            _judge_assignment(connection, *connection.recv())
    os._exit(0)


def _judge_assignment(connection: Connection, ready: ReadyCell, ranges: Sequence[BlockRange]) -> None:
    connection.send(BEGUN)
    for result in _worker_results(ready, ranges):
        connection.send(result)
        if result.failure is not None:
            break
    connection.send(FINISHED)


def _worker_results(ready: ReadyCell, ranges: Sequence[BlockRange]) -> Iterator[WorkerResult]:
    """What comes of each block; where the closed form gives nothing, of the splits block by block."""
    from mlcli.experiment.run.judge import worker_result

    for block_range in ranges:
        result = worker_result(ready.block(*block_range))
        yield result
        if block_range.closed_form and result.is_empty:
            yield from _worker_results(ready, ready.blocks([True] * block_range.splits))
