"""Worker processes of this machine, called when the work is worth it and gone at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from threading import active_count
from typing import TYPE_CHECKING, Any, Self

from mlcli.core.processes import on_linux
from mlcli.experiment.run.preparation import Block

if TYPE_CHECKING:
    from mlcli.experiment.run.supervise import Results
    from mlcli.experiment.run.workers import Workers


class WorkerPool:
    """Up to ``jobs`` worker processes, called when they are needed and gone at the end.

    ``shared`` gives the tables, splits and learners of which the blocks will be.
    """

    def __init__(self, jobs: int, shared: Callable[[], Sequence[object]] = tuple) -> None:
        self.jobs = jobs
        self._shared = shared
        self._workers: Workers | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()

    @property
    def forks(self) -> bool:
        """Whether workers would be forks of this process, with all that it has loaded by then.

        Linux promises that a fork can go on, if no other thread may have held a lock at that moment.
        """
        return on_linux() and active_count() == 1

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
        forks = self.forks  # before joblib, which workers are handed blocks by, is loaded
        from mlcli.experiment.run.workers import ForkWorkers, ProcessWorkers

        self._workers = (ForkWorkers if forks else ProcessWorkers)(self.jobs, self._shared())

    def results(self, blocks: Iterable[tuple[Any, Block]]) -> Results:
        """Judge blocks; each tag comes back, in any order, and when a worker dies with None for all under way."""
        from concurrent.futures.process import BrokenProcessPool

        if self._workers is None:
            self.call()
        assert self._workers is not None
        under_way: dict[int, Any] = {}

        def sent() -> Iterator[Block]:
            for number, (tag, block) in enumerate(blocks):
                under_way[number] = tag
                yield block

        try:
            with closing(self._workers.results(sent())) as results:
                for number, result in results:
                    yield under_way.pop(number), [result]
        except BrokenProcessPool:
            self.dismiss()
            for tag in list(under_way.values()):
                yield tag, None

    def dismiss(self) -> None:
        """Send the workers away, whatever they do."""
        if self._workers is not None:
            self._workers.dismiss()
            self._workers = None
