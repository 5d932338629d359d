"""Many cells at once: worker processes are handed blocks of splits, and give answers back as they come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from threading import active_count
from typing import TYPE_CHECKING, Any, Self

from mlcli.experiment.run.preparation import Block

if TYPE_CHECKING:
    from mlcli.experiment.run.fork_workers import Copies
    from mlcli.experiment.run.process_workers import Newcomers
    from mlcli.experiment.run.worker_result import Parcel


class WorkerDiedError(Exception):
    """A worker has ended without an answer; which block did it is not known."""


class Pool:
    """Up to ``jobs`` worker processes, called when they are needed and gone at the end.

    ``known`` says which tables and splits the blocks will be of.
    """

    def __init__(self, jobs: int, known: Callable[[], Sequence[object]] = tuple) -> None:
        self.jobs = jobs
        self._known = known
        self._workers: Copies | Newcomers | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._dismiss()

    @property
    def comes_at_once(self) -> bool:
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
        if self.comes_at_once:
            from mlcli.experiment.run.fork_workers import Copies

            self._workers = Copies(self.jobs, self._known())
        else:
            from mlcli.experiment.run.process_workers import Newcomers

            self._workers = Newcomers(self.jobs)

    def judged(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, Parcel]]:
        """Judge blocks; each tag comes back with its parcel, in any order."""
        from concurrent.futures.process import BrokenProcessPool

        if self._workers is None:
            self.call()
        assert self._workers is not None
        try:
            yield from self._workers.judged(blocks)
        except BrokenProcessPool as problem:
            self._dismiss()
            raise WorkerDiedError from problem

    def _dismiss(self) -> None:
        if self._workers is not None:
            self._workers.dismiss()
            self._workers = None
