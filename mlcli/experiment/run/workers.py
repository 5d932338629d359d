"""Worker processes that joblib hands blocks to: forks of this one, with all that it has loaded, or new ones."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, suppress
from importlib import import_module
from io import BytesIO
from multiprocessing import active_children, get_context
from threading import Thread
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import ParallelBackendBase

from mlcli.core.threads import cores_for_a_fit, pinned_by_the_parent
from mlcli.experiment.run.judge import WorkerResult, worker_result
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.supervise import die_with

AHEAD = 2
"""Blocks per worker that are handed out: while one is judged the next lies ready."""
SHARED_FROM = "1M"
"""Arrays of at least this size are written to a file once, and mapped into the memory of every worker."""
_shared: Sequence[object] = ()
"""In a worker: what its parent shared when it was forked."""


class ForkWorkers:
    """Some forks of this process; what is ``shared`` with all of them is named by its number, not sent."""

    ready = True

    def __init__(self, jobs: int, shared: Sequence[object]) -> None:
        self._shared = shared
        before = set(active_children())
        self._executor = ProcessPoolExecutor(jobs, get_context("fork"), _start_fork, (os.getpid(), shared))
        with warnings.catch_warnings():
            # Python warns of any thread, those of BLAS included, which are prepared for this.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._executor.submit(os.getpid)
        self._processes = set(active_children()) - before
        with parallel_config(_ForkBackend(self._executor)):
            self._parallel = Parallel(jobs, return_as="generator_unordered", pre_dispatch=AHEAD * jobs)

    def results(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, WorkerResult]]:
        """Judge blocks; each tag comes back with its result, in any order."""
        tags: list[Any] = []
        for number, result in self._parallel(self._blocks_to_send(blocks, tags)):
            yield tags[number], result

    def _blocks_to_send(self, blocks: Iterable[tuple[Any, Block]], tags: list[Any]) -> Iterable[Any]:
        for number, (tag, block) in enumerate(blocks):
            tags.append(tag)
            yield delayed(_numbered_result)(number, packed(block, self._shared))

    def dismiss(self) -> None:
        """End them, whatever they do."""
        for process in self._processes:
            process.kill()
        self._executor.shutdown(wait=True, cancel_futures=True)


class _ForkBackend(ParallelBackendBase):  # type: ignore[misc]  # joblib has no types
    """How joblib hands work to them."""

    supports_retrieve_callback = True

    def __init__(self, executor: ProcessPoolExecutor) -> None:
        super().__init__()
        self._executor = executor

    def effective_n_jobs(self, n_jobs: int) -> int:
        return n_jobs

    def submit(self, func: Callable[[], Any], callback: Callable[[Any], Any] | None = None) -> Future[Any]:
        future = self._executor.submit(func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        return out.result()


def packed(thing: object, shared: Sequence[object]) -> bytes:
    """A thing as bytes, in which what is shared has only a number."""
    file = BytesIO()
    _Pickler(file, shared).dump(thing)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, file: BytesIO, shared: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._number_of = {id(thing): number for number, thing in enumerate(shared)}

    def persistent_id(self, thing: object) -> int | None:
        return self._number_of.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, number: int) -> object:
        return _shared[number]


def _start_fork(parent: int, shared: Sequence[object]) -> None:
    global _shared
    _shared = shared
    die_with(parent)
    gc.freeze()  # what is never looked at again is not copied either


def _numbered_result(number: int, block: bytes) -> tuple[int, WorkerResult]:
    with cores_for_a_fit(1):
        return number, worker_result(_Unpickler(BytesIO(block)).load())


class ProcessWorkers:
    """Some new processes: called early, since they need a while to come and to load what this one has loaded."""

    def __init__(self, jobs: int) -> None:
        workers = {"inner_max_num_threads": 1, "initializer": _start_process, "initargs": (os.getpid(),)}
        self._open = ExitStack()
        with parallel_config("loky", **workers):
            # Copies on writing: mapped arrays are of the type that kernels were compiled for.
            parallel = Parallel(jobs, return_as="generator_unordered", max_nbytes=SHARED_FROM, mmap_mode="c")
        self._parallel = self._open.enter_context(parallel)
        arrivals = self._parallel([delayed(_load)(_loaded_here()) for _ in range(jobs)])
        self._arriving = Thread(target=_wait_for, args=(arrivals,), daemon=True)
        self._arriving.start()

    @property
    def ready(self) -> bool:
        """Whether all of them are here."""
        return not self._arriving.is_alive()

    def results(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, WorkerResult]]:
        """Judge blocks; each tag comes back with its result, in any order."""
        self._arriving.join()
        yield from self._parallel(delayed(_tagged_result)(tag, block) for tag, block in blocks)

    def dismiss(self) -> None:
        """They would wait for a next call; here there is none, and after Ctrl-C none must linger."""
        get_reusable_executor(reuse=True, kill_workers=True).shutdown(wait=True, kill_workers=True)
        self._open.close()


def _start_process(parent: int) -> None:
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


def _tagged_result(tag: Any, block: Block) -> tuple[Any, WorkerResult]:
    return tag, worker_result(block)
