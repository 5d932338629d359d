"""Many cells at once: joblib hands blocks of splits to worker processes and gives answers back as they come."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mlcli.experiment.parcel import Parcel, judged
from mlcli.experiment.preparation import Block
from mlcli.experiment.supervise import die_with


class WorkerDiedError(Exception):
    """A worker has ended without an answer; which block did it is not known."""


def pooled(blocks: Iterable[tuple[Any, Block]], jobs: int) -> Generator[tuple[Any, Parcel]]:
    """Judge blocks on ``jobs`` processes; each tag comes back with its parcel, in any order."""
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed, parallel_config

    workers = {"inner_max_num_threads": 1, "initializer": die_with, "initargs": (os.getpid(),)}
    with _pool_closed_at_the_end(), parallel_config("loky", **workers):
        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
        try:
            yield from parallel(delayed(_tagged)(tag, block) for tag, block in blocks)
        except BrokenProcessPool as problem:
            raise WorkerDiedError from problem


def _tagged(tag: Any, block: Block) -> tuple[Any, Parcel]:
    return tag, judged(block)


@contextmanager
def _pool_closed_at_the_end() -> Iterator[None]:
    """Workers would wait for a next call; here there is none, and after Ctrl-C none must linger."""
    from joblib.externals.loky import get_reusable_executor

    try:
        yield
    finally:
        get_reusable_executor(reuse=True, kill_workers=True).shutdown(wait=True, kill_workers=True)
