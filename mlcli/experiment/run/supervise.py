"""Child processes that can be killed: for cells with a budget, and for cells that brought their process down."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from mlcli.experiment.run.preparation import Piece, ReadyCell
    from mlcli.experiment.run.worker_result import Parcel

# The engine is imported by the children's own functions, after one BLAS thread is asked for.

PR_SET_PDEATHSIG = 1
BEGUN, FINISHED = "begun", "finished"
SIGNAL_NAMES = {one.value: one.name for one in signal.Signals}


@dataclass(frozen=True, eq=False)
class Order:
    """Splits of one cell, and the seconds they may take."""

    tag: Any
    made: ReadyCell
    pieces: tuple[Piece, ...]
    seconds: float | None = None


@dataclass(frozen=True)
class Stopped:
    """A child that did not finish its order: the status of the cell, and why."""

    status: str
    why: str


class Child:
    """A process that judges one order at a time."""

    def __init__(self) -> None:
        from multiprocessing import get_context

        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=True)
        self.process.start()
        theirs.close()
        self.order: Order | None = None
        self.deadline: float | None = None

    def take(self, order: Order) -> None:
        """Hand over an order; its time runs from when the child says that it has begun."""
        self.order, self.deadline = order, None
        with suppress(OSError):  # it may have died; its news will say so
            self.connection.send((order.made, order.pieces))

    def news(self) -> Parcel | Stopped | None:
        """What the child has sent, if it matters; without an order it is free again."""
        assert self.order is not None
        try:
            said = self.connection.recv()
        except (EOFError, OSError):
            self.kill()
            self.order = None
            return Stopped("died", _how_it_died(self.process.exitcode))
        if said == BEGUN:
            self.deadline = None if self.order.seconds is None else monotonic() + self.order.seconds
        elif said == FINISHED:
            self.order = None
        else:
            return said  # type: ignore[no-any-return]
        return None

    def kill(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def supervised(orders: Iterable[Order], jobs: int) -> Generator[tuple[Any, Parcel | Stopped]]:
    """Judge orders in up to ``jobs`` children; yields (tag, what came of a block or how the child was stopped)."""
    waiting = iter(orders)
    children: list[Child] = []
    try:
        while _hand_out(waiting, children, jobs):
            for child in _with_news(children):
                order = child.order
                said = child.news()
                if order is not None and said is not None:
                    yield order.tag, said
            for child in _overdue(children):
                assert child.order is not None
                child.kill()
                yield child.order.tag, Stopped("over-budget", f"it took more than {_budget(child.order)}")
                child.order = None
            children = [child for child in children if child.order is not None or child.process.is_alive()]
    finally:
        for child in children:
            child.kill()


def die_with(parent: int) -> None:
    """Ask the system to end this process when its parent ends, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    else:
        _watch_from_a_thread(parent)


def _hand_out(waiting: Iterator[Order], children: list[Child], jobs: int) -> bool:
    """Give orders to free children, starting them as needed; whether anybody is at work."""
    while sum(child.order is not None for child in children) < jobs:
        order = next(waiting, None)
        if order is None:
            break
        free = next((child for child in children if child.order is None), None)
        if free is None:
            free = Child()
            children.append(free)
        free.take(order)
    return any(child.order is not None for child in children)


def _with_news(children: list[Child]) -> list[Child]:
    """The children that have said something (or died), waited for until the next deadline."""
    from multiprocessing.connection import wait

    busy = [child for child in children if child.order is not None]
    deadlines = [child.deadline for child in busy if child.deadline is not None]
    patience = max(0.0, min(deadlines) - monotonic()) if deadlines else None
    spoken = wait([child.connection for child in busy], patience)
    return [child for child in busy if child.connection in spoken]


def _overdue(children: list[Child]) -> list[Child]:
    now = monotonic()
    late = [child for child in children if child.deadline is not None and child.deadline <= now]
    return [child for child in late if child.order is not None]


def _budget(order: Order) -> str:
    return f"the {order.seconds:g} seconds that it had"


def _how_it_died(code: int | None) -> str:
    """The end of a process in words."""
    if code is None or code >= 0:
        return f"its process left with exit code {code}"
    name = SIGNAL_NAMES.get(-code, "of no name")
    perhaps = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
    return f"its process was ended by signal {-code} ({name}{perhaps})"


def _serve(connection: Connection, parent: int) -> None:
    """What a child does: judge the blocks of each order, one after another."""
    die_with(parent)
    from mlcli.core.threads import pin_blas_from_the_start

    pin_blas_from_the_start()
    while True:
        try:
            made, pieces = connection.recv()
        except EOFError:
            return
        connection.send(BEGUN)
        for parcel in _parcels(made, pieces):
            connection.send(parcel)
            if parcel.failure is not None:
                break
        connection.send(FINISHED)


def _parcels(made: ReadyCell, pieces: Sequence[Piece]) -> Iterator[Parcel]:
    """What comes of each piece; where nothing comes of asking for all at once, of the splits block by block."""
    from mlcli.experiment.run.preparation import Piece
    from mlcli.experiment.run.worker_result import judged

    for piece in pieces:
        parcel = judged(made.block(*piece))
        yield parcel
        if piece.at_once and parcel.is_empty:
            yield from _parcels(made, [Piece(*block) for block in made.blocks([True] * piece.splits)])


def _watch_from_a_thread(parent: int) -> None:
    from threading import Thread
    from time import sleep

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
