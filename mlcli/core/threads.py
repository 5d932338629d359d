"""One BLAS thread wherever a cell runs: parallelism belongs to the runner, and equal sums need equal threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_pinned_from_the_start = False


def pin_blas_from_the_start() -> None:
    """Ask for one BLAS thread before numpy is imported (the shell does this); later it would be too late."""
    import sys

    global _pinned_from_the_start
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(BLAS_VARIABLES, "1"))
        _pinned_from_the_start = True


def pinned_by_the_parent() -> None:
    """In a worker: the environment that it was started with may have asked for one BLAS thread already."""
    global _pinned_from_the_start
    _pinned_from_the_start = all(os.environ.get(variable) == "1" for variable in BLAS_VARIABLES)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the body with one BLAS thread, in whatever process it is."""
    if _pinned_from_the_start:
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield
