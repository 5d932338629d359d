"""Many cells: what is stored is not run again; the rest runs here at first, then on several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing
from itertools import islice
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from mlcli.core.compiling import compiling
from mlcli.core.threads import cores, cores_for_a_fit
from mlcli.experiment.run.cell_progress import Course
from mlcli.experiment.run.judge import judge
from mlcli.experiment.run.ledger import Ledger, OnProgress, Progress
from mlcli.experiment.run.pace import ENOUGH, largest_of_each_method, longest_first, seconds_left
from mlcli.experiment.run.pool import Pool
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.experiment.run.supervise import Order
    from mlcli.experiment.run.worker_result import Parcel
    from mlcli.experiment.store.store import Store

__all__ = ["PATIENCE", "Progress", "run"]

PATIENCE = 1.0
"""Seconds of work for which this process is enough: small batches never pay for a pool."""
EARLY = 0.25
"""The share of patience after which it is asked how much work is left."""
WORTH_CALLING = 2.0
"""How many times patience must be left for workers to be called that take most of a second to come."""
WORTH_COPYING = 0.5
"""The same for those that are here at once."""
Place = tuple[int, int, bool]
"""A block that is handed out: its cell, its first split, and whether it is to be answered at once."""


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
    if workers == 1:
        _run_here(ledger, None, patience)
    else:
        with Pool(workers, ledger.made) as pool:
            with cores_for_a_fit(workers):
                _run_here(ledger, pool, patience)
            _run_in_pool(ledger, pool)
    if any(ledger.waiting(lambda course: not _is_ordinary(course))):
        _run_supervised(ledger, _is_suspect, 1)
        _run_supervised(ledger, _has_budget, workers)
    return ledger.results()


def workers_for(jobs: int | None) -> int:
    """How many processes may work at once."""
    if jobs is not None and jobs > 0:
        return jobs
    return cores()


def _is_suspect(course: Course) -> bool:
    return course.suspect and course.cell.budget is None


def _has_budget(course: Course) -> bool:
    return course.cell.budget is not None


def _is_ordinary(course: Course) -> bool:
    return not (_is_suspect(course) or _has_budget(course))


def _run_here(ledger: Ledger, pool: Pool | None, patience: float) -> None:
    """Judge block after block in this process, to the end or until the workers of a pool are here."""
    started, current, tried = perf_counter(), None, set[str]()
    try:
        for course, first, block in _in_turn(ledger):
            to_compile = compiling.seconds > 0 and course.cell.model.use not in tried
            elapsed = perf_counter() - started - compiling.seconds
            if pool and not to_compile and _takes_over(pool, ledger, tried, elapsed, patience):
                return
            if course is not current:
                ledger.risk(course)
                current = course
            ledger.receive(course, first, judge(block))
            tried.add(course.cell.model.use)
    finally:
        if current is not None:
            ledger.risk(None)


def _in_turn(ledger: Ledger) -> Iterator[tuple[Course, int, Block]]:
    """Two blocks of each method, so that kernels are compiled and times are known; then cell after cell."""
    for course in largest_of_each_method(ledger.courses):
        yield from islice(ledger.waiting(_is_ordinary, [course]), ENOUGH)
    while any(ledger.waiting(_is_ordinary)):  # again, for those that could not be answered at once
        yield from ledger.waiting(_is_ordinary)


def _takes_over(pool: Pool, ledger: Ledger, tried: Set[str], elapsed: float, patience: float) -> bool:
    """Whether workers are here; they are called once it is foreseen that the work will outlast patience."""
    if not pool.called and elapsed >= EARLY * patience and _is_time(pool, ledger, tried, elapsed < patience):
        unknown, worth = (
            (0.0 if elapsed < patience else inf),
            WORTH_COPYING if pool.comes_at_once else WORTH_CALLING,
        )
        if seconds_left(ledger.courses, unknown) > max(worth * patience, patience - elapsed):
            pool.call()
    return pool.ready or patience == 0


def _is_time(pool: Pool, ledger: Ledger, tried: Set[str], early: bool) -> bool:
    """Copies have loaded and compiled what this process has: better what every method needs."""
    waiting = (course for course in ledger.courses if not course.status and _is_ordinary(course))
    return not (early and pool.comes_at_once and any(course.cell.model.use not in tried for course in waiting))


def _run_in_pool(ledger: Ledger, pool: Pool) -> None:
    """Hand out what is left; when a worker dies, whatever was under way is suspect and the others go on."""
    from mlcli.experiment.run.pool import WorkerDiedError

    under_way: dict[Place, Course] = {}
    while any(ledger.waiting(_is_ordinary)):
        try:
            with closing(pool.judged(_handed_out(ledger, under_way))) as parcels:
                for place, parcel in parcels:
                    _receive(ledger, under_way.pop(place), parcel)
        except WorkerDiedError:
            for course in under_way.values() or ledger.courses:
                course.suspect = True
            under_way.clear()


def _handed_out(ledger: Ledger, under_way: dict[Place, Course]) -> Iterator[tuple[Place, Block]]:
    """Blocks as workers become free, longest first, each with its place, which is noted as under way."""
    number_of = {course: number for number, course in enumerate(ledger.courses)}
    given: set[Place] = set()
    before = -1
    while len(given) > before:  # again, for those that could not be answered at once
        before = len(given)
        for course, first, block in ledger.waiting(_is_ordinary, longest_first(ledger.courses)):
            place = number_of[course], first, block.at_once
            if place not in given:
                given.add(place)
                under_way[place] = course
                yield place, block


def _run_supervised(ledger: Ledger, which: Callable[[Course], bool], workers: int) -> None:
    """Judge each of some cells in a child that can be killed."""
    from mlcli.experiment.run.supervise import Stopped, supervised

    with closing(supervised(_orders(ledger, which), workers)) as news:
        for course, said in news:
            if isinstance(said, Stopped):
                ledger.end(course, said.status, said.why)
            else:
                _receive(ledger, course, said)


def _orders(ledger: Ledger, which: Callable[[Course], bool]) -> Iterator[Order]:
    from mlcli.experiment.run.supervise import Order

    for course in filter(which, ledger.courses):
        left = None if course.cell.budget is None else course.cell.budget - course.seconds
        if left is not None and left <= 0 and course.blocks():
            ledger.end(course, "over-budget", "what is stored of it has taken all its seconds")
        elif course.made is not None and course.blocks():
            yield Order(course, course.made, tuple(course.blocks()), left)


def _receive(ledger: Ledger, course: Course, parcel: Parcel) -> None:
    answers = kind_named(course.cell.kind).answers
    ledger.receive(course, parcel.first, parcel.outcome(answers), parcel.payload)
