"""Many cells: what is stored is not run again; the rest runs here at first, then on several processes."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence, Set
from contextlib import closing
from itertools import islice
from math import inf
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from mlcli.core.errors import UsageError
from mlcli.core.names import duration
from mlcli.core.processes import cores, cores_for_a_fit, stdout_as_stderr
from mlcli.core.progress import compiling
from mlcli.experiment.run.batch_state import (
    MIN_SPLITS,
    BatchState,
    CellProgress,
    OnProgress,
    largest_of_each_method,
    longest_first,
    seconds_left,
)
from mlcli.experiment.run.evaluation import WorkerResult, evaluate
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.experiment.run.clusters import Results
    from mlcli.experiment.run.workers import Assignment, Message, WorkerPool
    from mlcli.experiment.store.store import Store

PATIENCE = 1.0
"""Seconds of work after which work of unknown length is shared; what is known to be left is shared before."""


def run(
    cells: Sequence[Cell],
    *,
    store: Store | None = None,
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
    fresh: bool = False,
    retry: bool = False,
    patience: float = PATIENCE,
    total: float | None = None,
    backend: str | None = None,
    address: str | None = None,
) -> list[CellResult]:
    """Run cells and return their results, in the order of the cells.

    ``jobs`` processes may work at once (None: one for each core); ``fresh`` runs again what is stored, ``retry``
    what is recorded as failed; work stays in this process for ``patience`` seconds, and is stopped after
    ``total``. ``backend`` names a cluster, at an ``address``, that does all the work.
    """
    if address is not None and backend is None:
        raise UsageError(f"whose workers are at {address}?", hint="say it with --backend dask or ray")
    until = monotonic() + total if total is not None else inf
    state = BatchState(cells, store, on_progress, fresh=fresh, retry=retry, watched=total is not None)
    workers = workers_for(jobs)
    if backend is not None:
        _run_on_cluster(state, backend, address, workers, until)
    elif workers == 1:
        _run_in_process(state, None, patience)
    if any(state.waiting()):
        from mlcli.experiment.run.workers import WorkerPool

        splits = sum(progress.total for progress in state.all_progress if not progress.status)
        with WorkerPool(min(workers, max(1, splits)), state.shared_objects) as pool:
            if workers > 1 and backend is None:
                with cores_for_a_fit(workers):
                    _run_in_process(state, pool, patience)
            while any(state.waiting()):  # a cell whose worker has died is suspect, and the others go on
                _keep_results(state, pool.results(_blocks_to_send(state)))
    special = [progress for progress in state.all_progress if not progress.ordinary and progress.blocks()]
    if special:
        _run_supervised(state, [progress for progress in special if progress.suspect], 1, until)
        others = [progress for progress in special if not progress.suspect]
        _run_supervised(state, others, workers, until)
        _run_supervised(state, [progress for progress in others if progress.suspect], 1, until)
    if total is not None:
        from mlcli.experiment.run.workers import Stopped

        for progress in state.all_progress:
            if not progress.status:
                why = f"the {duration(total)} for all cells were over"
                state.end(progress, Stopped("over-budget", why, "total"))
    return state.results()


def workers_for(jobs: int | None) -> int:
    """How many processes may work at once."""
    return jobs if jobs is not None and jobs > 0 else cores()


def _run_in_process(state: BatchState, pool: WorkerPool | None, patience: float) -> None:
    """Evaluate block after block in this process, to the end or until the workers of a pool are ready."""
    started, current, tried = perf_counter(), None, set[str]()
    try:
        for progress, first, block in _blocks_in_order(state):
            to_compile = compiling.seconds > 0 and progress.cell.model.use not in tried
            elapsed = perf_counter() - started - compiling.seconds
            if pool and not to_compile and _pool_is_ready(pool, state, tried, elapsed, patience):
                return
            if progress is not current:
                state.risk(progress)
                current = progress
            state.receive(progress, first, evaluate(block))
            tried.add(progress.cell.model.use)
    finally:
        if current is not None:
            state.risk(None)


def _blocks_in_order(state: BatchState) -> Iterator[tuple[CellProgress, int, Block]]:
    """Two blocks of each method, so that kernels are compiled and times are known; then cell after cell."""
    own = [progress for progress in state.all_progress if not progress.foreign]
    for progress in largest_of_each_method(own):
        yield from islice(state.waiting([progress]), MIN_SPLITS)
    while any(state.waiting(own)):  # again, for leave-one-out that could not be computed at once
        yield from state.waiting(own)


def _pool_is_ready(pool: WorkerPool, state: BatchState, tried: Set[str], elapsed: float, patience: float) -> bool:
    """Whether workers are ready; they are started as soon as the work is expected to outlast patience."""
    if not pool.called and elapsed >= 0.25 * patience:
        # Forks share what this process has loaded and compiled: better wait until each method was tried, longer
        # while kernels are compiled, as each fork would compile them again.
        own = (progress for progress in state.all_progress if progress.ordinary and not progress.foreign)
        is_untried = any(progress.cell.model.use not in tried for progress in own if not progress.status)
        is_early = elapsed < patience * (10.0 if compiling.seconds else 1.0)
        if not (pool.forks and is_early and is_untried):
            unknown = 0.0 if elapsed < patience else inf
            # New processes take most of a second to start, forks no time.
            worth = 0.25 if pool.forks else 2.0
            if seconds_left(state.all_progress, unknown) > worth * patience:
                pool.call()
    return pool.ready or patience == 0


def _run_on_cluster(state: BatchState, backend: str, address: str | None, workers: int, until: float) -> None:
    """Send all blocks to a cluster; a cell whose blocks take down workers is left to a child process here."""
    from mlcli.experiment.run.clusters import connected

    if not any(progress.blocks() for progress in state.all_progress):
        return
    with stdout_as_stderr(), connected(backend, address, workers, state.shared_objects()) as cluster:
        watched = [progress for progress in state.all_progress if progress.watched and not progress.suspect]
        _keep_cluster_results(state, cluster.results(_assignments(state, watched), until))
        while any(state.waiting()):
            _keep_cluster_results(state, cluster.results(_blocks_to_send(state), until))


def _keep_results(state: BatchState, messages: Generator[tuple[CellProgress, Message]]) -> None:
    with closing(messages):
        for progress, message in messages:
            _keep(state, progress, message)


def _keep_cluster_results(state: BatchState, results: Generator[tuple[CellProgress, Results]]) -> None:
    """Keep the results of cells; None: that cell took down several workers of the cluster."""
    with closing(results):
        for progress, messages in results:
            if messages is None:
                progress.suspect = True
            for message in messages or ():
                _keep(state, progress, message)


def _keep(state: BatchState, progress: CellProgress, message: Message) -> None:
    if isinstance(message, WorkerResult):
        outcome = message.outcome(kind_named(progress.cell.kind).answers)
        state.receive(progress, message.first, outcome, message.payload)
    elif message.status == "died" and not progress.suspect:
        progress.suspect = True  # it is tried once more, by itself
    else:
        state.end(progress, message)


def _blocks_to_send(state: BatchState) -> Iterator[tuple[CellProgress, Block]]:
    """Blocks as workers become free, longest first."""
    sent: set[tuple[CellProgress, int, bool]] = set()
    before = -1
    while len(sent) > before:  # again, for leave-one-out that could not be computed at once
        before = len(sent)
        for progress, first, block in state.waiting(longest_first(state.all_progress)):
            key = progress, first, block.closed_form
            if key not in sent:
                sent.add(key)
                yield progress, block


def _run_supervised(state: BatchState, cells: Sequence[CellProgress], workers: int, until: float) -> None:
    """Evaluate each of some cells in a process of its own."""
    from mlcli.experiment.run.workers import WorkerPool

    with WorkerPool(workers, supervised=True) as pool:
        _keep_results(state, pool.results(_assignments(state, cells), until))


def _assignments(state: BatchState, cells: Sequence[CellProgress]) -> Iterator[tuple[CellProgress, Assignment]]:
    from mlcli.experiment.run.workers import Assignment, Stopped

    for progress in cells:
        left = None if progress.cell.budget is None else progress.cell.budget - progress.seconds
        if left is not None and left <= 0:
            why = "its stored splits have taken all its seconds"
            state.end(progress, Stopped("over-budget", why, "seconds"))
        elif progress.ready is not None:
            blocks = tuple(progress.blocks())
            yield progress, Assignment(progress.ready, blocks, left, progress.cell.memory)
