"""Workers that begin as copies of this process: here at once, with all that it has loaded, made and compiled."""

from __future__ import annotations

import gc
import os
import pickle
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from io import BytesIO
from multiprocessing import active_children, get_context
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import ParallelBackendBase

from mlcli.core.threads import cores_for_a_fit
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.supervise import die_with
from mlcli.experiment.run.worker_result import Parcel, judged

AHEAD = 2
"""Blocks per worker that are handed out: while one is judged the next lies ready."""
_known: Sequence[object] = ()
"""In a worker: what its parent knew when it was copied."""


class Copies:
    """Some copies of this process; what is ``known`` to all of them is named to them by its number, not sent."""

    ready = True

    def __init__(self, jobs: int, known: Sequence[object]) -> None:
        self._known = known
        before = set(active_children())
        self._executor = ProcessPoolExecutor(jobs, get_context("fork"), _begin, (os.getpid(), known))
        with warnings.catch_warnings():
            # Python warns of any thread, those of BLAS included, which are prepared for this.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._executor.submit(os.getpid)
        self._processes = set(active_children()) - before
        with parallel_config(_ByCopies(self._executor)):
            self._parallel = Parallel(jobs, return_as="generator_unordered", pre_dispatch=AHEAD * jobs)

    def judged(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, Parcel]]:
        """Judge blocks; each tag comes back with its parcel, in any order."""
        tags: list[Any] = []
        for number, parcel in self._parallel(self._handed_out(blocks, tags)):
            yield tags[number], parcel

    def _handed_out(self, blocks: Iterable[tuple[Any, Block]], tags: list[Any]) -> Iterable[Any]:
        for number, (tag, block) in enumerate(blocks):
            tags.append(tag)
            yield delayed(_judged)(number, packed(block, self._known))

    def dismiss(self) -> None:
        """End them, whatever they do."""
        for process in self._processes:
            process.kill()
        self._executor.shutdown(wait=True, cancel_futures=True)


class _ByCopies(ParallelBackendBase):  # type: ignore[misc]  # joblib has no types
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


def packed(thing: object, known: Sequence[object]) -> bytes:
    """A thing as bytes, in which what is known has only a number."""
    file = BytesIO()
    _Pickler(file, known).dump(thing)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, file: BytesIO, known: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._number_of = {id(thing): number for number, thing in enumerate(known)}

    def persistent_id(self, thing: object) -> int | None:
        return self._number_of.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, number: int) -> object:
        return _known[number]


def _begin(parent: int, known: Sequence[object]) -> None:
    global _known
    _known = known
    die_with(parent)
    gc.freeze()  # what is never looked at again is not copied either


def _judged(number: int, block: bytes) -> tuple[int, Parcel]:
    with cores_for_a_fit(1):
        return number, judged(_Unpickler(BytesIO(block)).load())
