"""Workers that begin as copies of this process: here at once, with all that it has loaded, made and compiled."""

from __future__ import annotations

import gc
import os
import pickle
import warnings
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from io import BytesIO
from itertools import islice
from multiprocessing import active_children, get_context
from typing import Any

from mlcli.core.threads import cores_for_a_fit
from mlcli.experiment.parcel import Parcel, judged
from mlcli.experiment.preparation import Block
from mlcli.experiment.supervise import die_with

AHEAD = 2
"""Blocks per worker that are handed out: while one is judged the next lies ready."""
_known: Sequence[object] = ()
"""In a worker: what its parent knew when it was copied."""


class Copies:
    """Some copies of this process; what is ``known`` to all of them is named to them by its number, not sent."""

    ready = True

    def __init__(self, jobs: int, known: Sequence[object]) -> None:
        self._known = known
        self._most = AHEAD * jobs
        before = set(active_children())
        self._executor = ProcessPoolExecutor(jobs, get_context("fork"), _begin, (os.getpid(), known))
        with warnings.catch_warnings():
            # Python warns of any thread, those of BLAS included, which are prepared for this.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._executor.submit(os.getpid)
        self._processes = set(active_children()) - before

    def judged(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, Parcel]]:
        """Judge blocks; each tag comes back with its parcel, in any order."""
        waiting, under_way = iter(blocks), dict[Future[Parcel], Any]()
        while True:
            for tag, block in islice(waiting, self._most - len(under_way)):
                under_way[self._executor.submit(_judged, packed(block, self._known))] = tag
            if not under_way:
                return
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                yield under_way.pop(future), future.result()

    def dismiss(self) -> None:
        """End them, whatever they do."""
        for process in self._processes:
            process.kill()
        self._executor.shutdown(wait=True, cancel_futures=True)


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


def _judged(block: bytes) -> Parcel:
    with cores_for_a_fit(1):
        return judged(_Unpickler(BytesIO(block)).load())
