"""Workers that begin as new processes: joblib starts them, and maps large tables into their memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from threading import Thread
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor

from mlcli.core.threads import pinned_by_the_parent
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.supervise import die_with
from mlcli.experiment.run.worker_result import Parcel, judged

SHARED_FROM = "1M"
"""Arrays of at least this size are written to a file once, and mapped into the memory of every worker."""


class Newcomers:
    """Some new processes: called early, since they need a while to come and to load what this one has loaded."""

    def __init__(self, jobs: int) -> None:
        workers = {"inner_max_num_threads": 1, "initializer": _begin, "initargs": (os.getpid(),)}
        self._open = ExitStack()
        with parallel_config("loky", **workers):
            # Copies on writing: mapped arrays are of the type that kernels were compiled for.
            made = Parallel(jobs, return_as="generator_unordered", max_nbytes=SHARED_FROM, mmap_mode="c")
        self._parallel = self._open.enter_context(made)
        arrivals = self._parallel([delayed(_load)(_loaded_here()) for _ in range(jobs)])
        self._coming = Thread(target=_wait_for, args=(arrivals,), daemon=True)
        self._coming.start()

    @property
    def ready(self) -> bool:
        """Whether all of them are here."""
        return not self._coming.is_alive()

    def judged(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, Parcel]]:
        """Judge blocks; each tag comes back with its parcel, in any order."""
        self._coming.join()
        yield from self._parallel(delayed(_tagged)(tag, block) for tag, block in blocks)

    def dismiss(self) -> None:
        """They would wait for a next call; here there is none, and after Ctrl-C none must linger."""
        get_reusable_executor(reuse=True, kill_workers=True).shutdown(wait=True, kill_workers=True)
        self._open.close()


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


def _tagged(tag: Any, block: Block) -> tuple[Any, Parcel]:
    return tag, judged(block)
