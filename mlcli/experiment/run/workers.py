"""Worker processes that joblib hands blocks to: forks of this one, with all that it has loaded, or new ones."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from importlib import import_module
from io import BytesIO
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib.parallel import ParallelBackendBase

from mlcli.core.files import sweep, temporary_prefix
from mlcli.core.threads import cores_for_a_fit
from mlcli.experiment.run.judge import WorkerResult, worker_result
from mlcli.experiment.run.piped import PipedExecutor, serve_calls, serve_calls_in_new_process
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.worker_process import begin_worker, main_classes, new_process_context

AHEAD = 2
"""Blocks per worker that are handed out: while one is judged the next lies ready."""
SHARED_FROM = 1_000_000
"""Arrays of at least so many bytes are written to a file once, and mapped into the memory of every new process."""
_shared: Sequence[object] = ()
"""In a worker: what its parent shared when it was started."""


class _ExecutorWorkers:
    """Workers of an executor; what is ``shared`` with all of them is named by its number, not sent."""

    def __init__(self, executor: PipedExecutor, jobs: int, shared: Sequence[object]) -> None:
        self._executor, self._shared = executor, shared
        with parallel_config(_ExecutorBackend(executor)):
            self._parallel = Parallel(jobs, return_as="generator_unordered", pre_dispatch=AHEAD * jobs)

    def results(self, blocks: Iterable[Block]) -> Generator[tuple[int, WorkerResult]]:
        """Judge blocks; the number of each comes back with its result, in any order."""
        numbered = enumerate(blocks)
        calls = self._parallel(delayed(_numbered_result)(at, packed(one, self._shared)) for at, one in numbered)
        try:
            yield from calls
        finally:
            with warnings.catch_warnings():
                # Work that was ended is no reason for joblib's advice on how it is handed out.
                warnings.simplefilter("ignore", UserWarning)
                calls.close()

    def dismiss(self) -> None:
        """End them, whatever they do."""
        self._executor.shutdown()


class ForkWorkers(_ExecutorWorkers):
    """Some forks of this process."""

    ready = True

    def __init__(self, jobs: int, shared: Sequence[object]) -> None:
        with warnings.catch_warnings():
            # Python warns of any thread, those of BLAS included, which are prepared for this.
            warnings.simplefilter("ignore", DeprecationWarning)
            executor = PipedExecutor(get_context("fork"), jobs, _serve_as_fork, os.getpid(), shared)
        super().__init__(executor, jobs, shared)


class ProcessWorkers(_ExecutorWorkers):
    """Some new processes: called early, since they need a while to come and to load what this one has loaded."""

    def __init__(self, jobs: int, shared: Sequence[object]) -> None:
        sweep(Path(gettempdir()))
        self._folder = TemporaryDirectory(prefix=temporary_prefix())
        _write(shared, Path(self._folder.name))
        arguments = (os.getpid(), main_classes(), _loaded_here(), self._folder.name)
        executor = PipedExecutor(new_process_context(), jobs, serve_calls_in_new_process, *arguments)
        super().__init__(executor, jobs, shared)

    @property
    def ready(self) -> bool:
        """Whether all of them are here."""
        return self._executor.ready

    def dismiss(self) -> None:
        """End them, whatever they do."""
        super().dismiss()
        self._folder.cleanup()


Workers = ForkWorkers | ProcessWorkers


class _ExecutorBackend(ParallelBackendBase):  # type: ignore[misc]  # joblib has no types
    """How joblib hands work to an executor."""

    supports_retrieve_callback = True

    def __init__(self, executor: PipedExecutor) -> None:
        super().__init__()
        self._executor = executor

    def effective_n_jobs(self, n_jobs: int) -> int:
        return max(n_jobs, 2)  # for one, joblib would do the work in this very process

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


def unpacked(content: bytes, shared: Sequence[object]) -> Any:
    """The thing that was packed, with what is shared in its places."""
    return _Unpickler(BytesIO(content), shared).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, shared: Sequence[object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, number: int) -> object:
        return self._shared[number]


def _numbered_result(number: int, block: bytes) -> tuple[int, WorkerResult]:
    with cores_for_a_fit(1):
        return number, worker_result(unpacked(block, _shared))


def _serve_as_fork(connection: Connection, parent: int, shared: Sequence[object]) -> None:
    global _shared
    _shared = shared
    begin_worker(connection, parent)
    gc.freeze()  # what is never looked at again is not copied either
    serve_calls(connection)


def serve_new_process(connection: Connection, modules: Sequence[str], folder: str) -> None:
    """What a new process does: load what its parent has loaded, then make calls."""
    global _shared
    for module in modules:
        import_module(module)
    _shared = _read(Path(folder))
    serve_calls(connection)


def _loaded_here() -> list[str]:
    """Our modules that are loaded in this process, but for those of the shell."""
    return [name for name in sys.modules if name.startswith("mlcli.") and not name.startswith("mlcli.cli")]


def _write(shared: Sequence[object], folder: Path) -> None:
    """Write what is shared: large arrays to files of their own, and everything else to one."""

    def keep(buffer: pickle.PickleBuffer) -> bool:
        content = buffer.raw()
        if content.nbytes < SHARED_FROM:
            return True
        (folder / f"{len(list(folder.iterdir()))}.array").write_bytes(content)
        return False

    (folder / "shared").write_bytes(pickle.dumps(shared, protocol=5, buffer_callback=keep))


def _read(folder: Path) -> Any:
    """What was written; large arrays are mapped, and copied where they are written to."""
    count = len(list(folder.glob("*.array")))
    arrays = [np.memmap(folder / f"{number}.array", mode="c") for number in range(count)]
    return pickle.loads((folder / "shared").read_bytes(), buffers=arrays)
