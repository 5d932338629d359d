"""How many threads work: one for BLAS wherever a cell runs, and for a fit as many as nobody else uses.

Parallelism belongs to the runner: while it works in one process, a fit may use the cores that other processes
would get; in a worker beside others it has one. Results do not depend on either number.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
Each = Callable[..., Iterable[Any]]
"""A function of each of some things, as ``map`` has it."""
_pinned_from_the_start = False
_threads_of_a_fit = 1


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of_a_fit() -> int:
    """How many threads a fit may start: 1 unless somebody has said that the cores are free."""
    return _threads_of_a_fit


@contextmanager
def threads(most: int) -> Iterator[Each]:
    """A ``map`` by as many threads as a fit may start, at most so many."""
    count = min(threads_of_a_fit(), most)
    if count == 1:
        yield map
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as pool:
        yield pool.map


@contextmanager
def cores_for_a_fit(count: int) -> Iterator[None]:
    """Let fits in the body use ``count`` threads, since no other process works meanwhile."""
    global _threads_of_a_fit
    before, _threads_of_a_fit = _threads_of_a_fit, count
    try:
        yield
    finally:
        _threads_of_a_fit = before


def pin_blas_from_the_start() -> None:
    """Ask for one BLAS thread before numpy is imported (the shell does this); later it would be too late."""
    global _pinned_from_the_start
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(BLAS_VARIABLES, "1"))
        _pinned_from_the_start = True


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the body with one BLAS thread, in whatever process it is."""
    if _pinned_from_the_start:
        yield
        return
    with _libraries_of(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _libraries_of(modules: int) -> ThreadpoolController:
    """The libraries that are loaded; looked for again (some ms) when there are other modules than before."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
