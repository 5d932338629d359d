"""Many cells in parallel: worker processes are handed blocks of splits, and give answers back as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from threading import active_count
from typing import TYPE_CHECKING, Any, Self

from mlcli.core.answers import Answers
from mlcli.experiment.run.judge import Failure, Outcome, judge
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.store.codec import decoded, encoded

if TYPE_CHECKING:
    from mlcli.experiment.run.workers import ForkWorkers, ProcessWorkers


class WorkerDiedError(Exception):
    """A worker has ended without an answer; which block did it is not known."""


@dataclass(frozen=True, eq=False)
class WorkerResult:
    """The outcome of the block that begins with split ``first``: its answers as bytes, ready to be stored."""

    first: int
    payload: bytes
    failure: Failure | None
    is_empty: bool = False
    """Whether the block was to be answered in closed form and could not be."""

    def outcome(self, answers: type[Answers]) -> Outcome:
        """What came of the block."""
        return Outcome(decoded(self.payload, answers), self.failure)


def worker_result(block: Block) -> WorkerResult:
    """Judge a block where it lies, and encode the answers there too."""
    outcome = judge(block)
    is_empty = not outcome.results and outcome.failure is None
    return WorkerResult(block.first, encoded(outcome.results), outcome.failure, is_empty)


class Pool:
    """Up to ``jobs`` worker processes, called when they are needed and gone at the end.

    ``shared`` gives the tables, splits and learners of which the blocks will be.
    """

    def __init__(self, jobs: int, shared: Callable[[], Sequence[object]] = tuple) -> None:
        self.jobs = jobs
        self._shared = shared
        self._workers: ForkWorkers | ProcessWorkers | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._dismiss()

    @property
    def forks(self) -> bool:
        """Whether workers would be copies of this process, with all that it has loaded by then.

        Linux promises that a copy can go on, if no other thread may have held a lock at that moment.
        """
        return sys.platform == "linux" and active_count() == 1

    @property
    def called(self) -> bool:
        """Whether workers are on their way or here."""
        return self._workers is not None

    @property
    def ready(self) -> bool:
        """Whether all workers are here."""
        return self._workers is not None and self._workers.ready

    def call(self) -> None:
        """Ask for workers, and do not wait."""
        if self.forks:
            from mlcli.experiment.run.workers import ForkWorkers

            self._workers = ForkWorkers(self.jobs, self._shared())
        else:
            from mlcli.experiment.run.workers import ProcessWorkers

            self._workers = ProcessWorkers(self.jobs)

    def results(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, WorkerResult]]:
        """Judge blocks; each tag comes back with its result, in any order."""
        from concurrent.futures.process import BrokenProcessPool

        if self._workers is None:
            self.call()
        assert self._workers is not None
        try:
            yield from self._workers.results(blocks)
        except BrokenProcessPool as problem:
            self._dismiss()
            raise WorkerDiedError from problem

    def _dismiss(self) -> None:
        if self._workers is not None:
            self._workers.dismiss()
            self._workers = None
