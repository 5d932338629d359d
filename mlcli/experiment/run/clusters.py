"""Clusters: workers elsewhere evaluate blocks, and only this process writes the store.

The tables, splits and learners of all blocks are sent once to each worker, then blocks that name them by number.
A cell with a budget is sent whole: the worker has a process of its own evaluate it, and stops that in time.
Whatever a worker had under way when it was lost is evaluated again by another.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from importlib import import_module
from threading import Lock
from time import monotonic
from typing import Any, Protocol

from joblib.externals.loky.backend.reduction import dumps

from mlcli.core.errors import ExitCode, MlcliError, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.plugins import allow_imports, allowed_imports
from mlcli.core.threads import cores_for_a_fit
from mlcli.experiment.run.reproduction import versions
from mlcli.experiment.run.workers import (
    MAIN,
    Assignment,
    Message,
    Work,
    WorkerPool,
    main_classes,
    results_of,
    unpacked,
)

BACKENDS = {"dask": "mlcli.experiment.run.on_dask:DaskCluster", "ray": "mlcli.experiment.run.on_ray:RayCluster"}
RESULTS = "the answers that have come are stored: the same command goes on from there"
Versions = Mapping[str, str]
AHEAD = 2
"""Blocks per worker that are handed out: while one is evaluated the next lies ready."""
Works = Iterable[tuple[Any, Work]]
ClusterResults = Generator[tuple[Any, Sequence[Message] | None]]
"""By the tag of some work, the results of it; None where it took workers with it."""


class ClusterError(MlcliError):
    """A cluster that cannot be reached, is lost, or would give other answers."""

    exit_code = ExitCode.CELLS


class Cluster(Protocol):
    """Workers somewhere else."""

    def share(self, shared: Sequence[object]) -> None:
        """Send to each worker, those that come later included, what blocks are made of."""

    def results(self, works: Works, until: float) -> ClusterResults:
        """Do works; each tag comes back, in any order, with None for one that took several workers with it.

        ``until`` is when they are stopped, on the clock that ``monotonic`` reads.
        """

    def close(self) -> None:
        """Let go of it; what belongs to this process ends."""


def refuse_unknown_backend(backend: str) -> None:
    """Refuse a name that is none of a cluster."""
    if backend not in BACKENDS:
        raise UsageError(f"there is no backend '{backend}'", hint=did_you_mean(backend, BACKENDS, "backends"))


def cluster_named(backend: str, address: str | None, jobs: int) -> Cluster:
    """A cluster at an address, or one of ``jobs`` workers on this machine where none is said."""
    module, _, name = BACKENDS[backend].partition(":")
    try:
        cluster: Cluster = getattr(import_module(module), name)(address, jobs)
    except ImportError as missing:
        hint = f"pip install 'mlcli[{backend}]', here and where the workers are"
        what = f"--backend {backend} needs a package that is not here: {missing.name}"
        raise UsageError(what, hint=hint) from None
    return cluster


def content_to_share(shared: Sequence[object]) -> bytes:
    """What each worker is sent: what the user has named to be imported, and what blocks are made of."""
    classes = bytes(dumps(main_classes()))
    return pickle.dumps((allowed_imports(), classes, shared), protocol=5)


class Shared:
    """In a worker: what was sent to it, by name; one block is evaluated at a time."""

    def __init__(self) -> None:
        self._objects: dict[str, Sequence[object]] = {}
        self._at_work = Lock()

    def put(self, name: str, content: bytes) -> None:
        """Unpack what was sent under a name; what was sent for an earlier batch is let go."""
        import_paths, classes, objects = pickle.loads(content)
        allow_imports(import_paths)
        vars(sys.modules[MAIN]).update(pickle.loads(classes))
        self._objects = {name: objects}

    def __contains__(self, name: str) -> bool:
        return name in self._objects

    def messages(self, name: str, work: bytes, expected: Versions, seconds: float) -> Sequence[Message]:
        """Judge a block, or a cell in a child, in a worker that computes with the same versions."""
        _refuse_other_versions(expected)
        until = monotonic() + seconds
        with self._at_work, cores_for_a_fit(1):
            asked = unpacked(work, self._objects[name])
            if isinstance(asked, Assignment):
                with WorkerPool(1, supervised=True) as pool:
                    return [message for _, message in pool.results([(None, asked)], until)]
            return list(results_of(asked))


in_this_worker = Shared()


def _refuse_other_versions(expected: Versions) -> None:
    here = versions()
    others = [f"{name} {here.get(name)} for {one}" for name, one in expected.items() if here.get(name) != one]
    if others:
        what = f"a worker has {', '.join(others)}: its answers might be others"
        raise ClusterError(what, hint="install the same versions everywhere")
