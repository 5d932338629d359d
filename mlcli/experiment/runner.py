"""Many cells: what is stored is not run again; the rest runs here at first, then on several processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from time import perf_counter
from typing import TYPE_CHECKING

from mlcli.core.kinds import kind_named
from mlcli.experiment.cells import Cell, CellResult
from mlcli.experiment.course import Course
from mlcli.experiment.engine import judge
from mlcli.experiment.ledger import Ledger, OnProgress, Progress
from mlcli.experiment.preparation import Block

if TYPE_CHECKING:
    from mlcli.experiment.parcel import Parcel
    from mlcli.experiment.store import Store
    from mlcli.experiment.supervise import Order

__all__ = ["PATIENCE", "Progress", "run"]

PATIENCE = 1.0
"""Seconds of work in this process before others are started: small batches are done by then."""


def run(
    cells: Sequence[Cell],
    *,
    store: Store | None = None,
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
    fresh: bool = False,
    retry: bool = False,
    patience: float = PATIENCE,
) -> list[CellResult]:
    """Run cells and return what came of them, in their order.

    ``jobs`` is how many processes may work at once (None: as many as there are cores); ``fresh`` runs again what
    is stored, ``retry`` what is recorded as failed; ``patience`` is for how long work stays in this process.
    """
    ledger = Ledger(cells, store, on_progress, fresh=fresh, retry=retry)
    workers = workers_for(jobs)
    _run_here(ledger, patience if workers > 1 else float("inf"))
    if any(ledger.waiting(_is_ordinary)):
        _run_in_pool(ledger, workers)
    if any(ledger.waiting(lambda course: not _is_ordinary(course))):
        _run_supervised(ledger, _is_suspect, 1)
        _run_supervised(ledger, _has_budget, workers)
    return ledger.results()


def workers_for(jobs: int | None) -> int:
    """How many processes may work at once."""
    if jobs is not None and jobs > 0:
        return jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_suspect(course: Course) -> bool:
    return course.suspect and course.cell.budget is None


def _has_budget(course: Course) -> bool:
    return course.cell.budget is not None


def _is_ordinary(course: Course) -> bool:
    return not (_is_suspect(course) or _has_budget(course))


def _run_here(ledger: Ledger, patience: float) -> None:
    """Judge block after block in this process while patience lasts."""
    started, current = perf_counter(), None
    try:
        while any(ledger.waiting(_is_ordinary)):  # again, for those that could not be answered at once
            for course, first, block in ledger.waiting(_is_ordinary):
                if perf_counter() - started >= patience:
                    return
                if course is not current:
                    ledger.risk(course)
                    current = course
                ledger.receive(course, first, judge(block))
    finally:
        if current is not None:
            ledger.risk(None)


def _run_in_pool(ledger: Ledger, workers: int) -> None:
    """Hand out what is left; when a worker dies, whatever was under way is suspect and the others go on."""
    from mlcli.experiment.pool import WorkerDiedError, pooled

    under_way: dict[tuple[int, int], Course] = {}
    while any(ledger.waiting(_is_ordinary)):
        try:
            with closing(pooled(_handed_out(ledger, under_way), workers)) as parcels:
                for place, parcel in parcels:
                    _receive(ledger, under_way.pop(place), parcel)
        except WorkerDiedError:
            for course in under_way.values() or ledger.courses:
                course.suspect = True
            under_way.clear()


def _handed_out(
    ledger: Ledger, under_way: dict[tuple[int, int], Course]
) -> Iterator[tuple[tuple[int, int], Block]]:
    """Blocks as workers become free, each with its place (cell, first split), which is noted as under way."""
    number_of = {course: number for number, course in enumerate(ledger.courses)}
    for course, first, block in ledger.waiting(_is_ordinary):
        under_way[number_of[course], first] = course
        yield (number_of[course], first), block


def _run_supervised(ledger: Ledger, which: Callable[[Course], bool], workers: int) -> None:
    """Judge each of some cells in a child that can be killed."""
    from mlcli.experiment.supervise import Stopped, supervised

    with closing(supervised(_orders(ledger, which), workers)) as news:
        for course, said in news:
            if isinstance(said, Stopped):
                ledger.end(course, said.status, said.why)
            else:
                _receive(ledger, course, said)


def _orders(ledger: Ledger, which: Callable[[Course], bool]) -> Iterator[Order]:
    from mlcli.experiment.supervise import Order

    for course in filter(which, ledger.courses):
        left = None if course.cell.budget is None else course.cell.budget - course.seconds
        if left is not None and left <= 0 and course.blocks():
            ledger.end(course, "over-budget", "what is stored of it has taken all its seconds")
        elif course.made is not None and course.blocks():
            yield Order(course, course.made, tuple(course.blocks()), left)


def _receive(ledger: Ledger, course: Course, parcel: Parcel) -> None:
    answers = kind_named(course.cell.kind).answers
    ledger.receive(course, parcel.first, parcel.outcome(answers), parcel.payload)
