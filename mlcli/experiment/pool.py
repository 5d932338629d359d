"""Many cells at once: joblib hands blocks of splits to worker processes and gives answers back as they come."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from threading import Thread
from typing import Any, Self

from mlcli.core.threads import pinned_by_the_parent
from mlcli.experiment.preparation import Block
from mlcli.experiment.supervise import die_with

SHARED_FROM = "1M"
"""Arrays of at least this size are written to a file once, and mapped into the memory of every worker."""


class WorkerDiedError(Exception):
    """A worker has ended without an answer; which block did it is not known."""


class Pool:
    """Up to ``jobs`` worker processes: called early, since they need a while to come, and gone at the end."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._open = ExitStack()
        self._parallel: Any = None
        self._coming: Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Workers would wait for a next call; here there is none, and after Ctrl-C none must linger."""
        self._dismiss()

    @property
    def called(self) -> bool:
        """Whether workers are on their way or here."""
        return self._parallel is not None

    @property
    def ready(self) -> bool:
        """Whether all workers are here."""
        return self.called and (self._coming is None or not self._coming.is_alive())

    def call(self) -> None:
        """Ask for workers, and do not wait: they load what this process has loaded."""
        from joblib import Parallel, delayed, parallel_config

        workers = {"inner_max_num_threads": 1, "initializer": _begin, "initargs": (os.getpid(),)}
        with parallel_config("loky", **workers):
            # Copies on writing: mapped arrays are of the type that kernels were compiled for.
            made = Parallel(self.jobs, return_as="generator_unordered", max_nbytes=SHARED_FROM, mmap_mode="c")
        self._parallel = self._open.enter_context(made)
        arrivals = self._parallel([delayed(_load)(_loaded_here()) for _ in range(self.jobs)])
        self._coming = Thread(target=_wait_for, args=(arrivals,), daemon=True)
        self._coming.start()

    def judged(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, Any]]:
        """Judge blocks; each tag comes back with its parcel, in any order."""
        from concurrent.futures.process import BrokenProcessPool

        from joblib import delayed

        if not self.called:
            self.call()
        assert self._coming is not None
        self._coming.join()
        try:
            yield from self._parallel(delayed(_tagged)(tag, block) for tag, block in blocks)
        except BrokenProcessPool as problem:
            self._dismiss()
            raise WorkerDiedError from problem

    def _dismiss(self) -> None:
        if self._parallel is None:
            return
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor(reuse=True, kill_workers=True).shutdown(wait=True, kill_workers=True)
        self._open.close()
        self._parallel = None


def _begin(parent: int) -> None:
    die_with(parent)
    pinned_by_the_parent()


def _loaded_here() -> list[str]:
    """Our modules that are loaded in this process, but for those of the shell."""
    return [name for name in sys.modules if name.startswith("mlcli.") and not name.startswith("mlcli.cli")]


def _load(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)


def _wait_for(arrivals: Iterable[object]) -> None:
    with suppress(Exception):  # they may be sent away before they are here; if they died, the work will tell
        for _ in arrivals:
            pass


def _tagged(tag: Any, block: Block) -> tuple[Any, Any]:
    from mlcli.experiment.parcel import judged

    return tag, judged(block)
