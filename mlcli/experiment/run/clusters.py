"""Clusters: joblib's Dask and Ray backends evaluate blocks elsewhere, and only this process writes the store.

Each worker fetches the tables, splits and learners once; blocks refer to them by number.
A cell with a budget is sent whole: its worker evaluates it in a child process and stops that in time.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from math import inf
from multiprocessing import TimeoutError as JoblibTimeoutError
from threading import Lock
from time import monotonic, time
from typing import Any
from uuid import uuid4

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.backend.reduction import dumps

from mlcli.core.errors import ExitCode, MlcliError, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.processes import cores_for_a_fit
from mlcli.core.registry import allow_imports, allowed_imports
from mlcli.experiment.run import workers
from mlcli.experiment.run.batch_state import CellProgress
from mlcli.experiment.run.reproduction import versions

BACKENDS = {"dask": "mlcli.experiment.run.on_dask", "ray": "mlcli.experiment.run.on_ray"}
Fetch = Callable[[], bytes]
Connection = tuple[Callable[[], Any], Fetch]
"""How to make a joblib backend, and how a worker fetches the shared objects."""
Results = Sequence[workers.Message] | None
"""The results of a block; None if it took down several workers."""


class ClusterError(MlcliError):
    """A cluster that is lost, or would give other answers."""

    exit_code = ExitCode.CELLS


@dataclass(frozen=True)
class Cluster:
    """Workers elsewhere, which fetch the shared objects before their first block."""

    name: str
    make_backend: Callable[[], Any]
    fetch: Fetch
    shared: Sequence[object]

    def results(
        self, works: Iterable[tuple[CellProgress, workers.Work]], until: float
    ) -> Generator[tuple[CellProgress, Results]]:
        """Evaluate works in any order, until a time on the clock that ``monotonic`` reads."""
        seconds, cells, calls = until - monotonic(), list[CellProgress](), []
        for progress, work in works:  # at once: joblib would take them from a thread of its own
            content = workers.packed(work, self.shared)
            calls.append(
                delayed(_evaluated)(len(cells), self.name, self.fetch, content, versions(), time() + seconds)
            )
            cells.append(progress)
        if not calls:
            return
        # Workers stop in time by themselves; those that are silent are given up half a minute later.
        limit = None if until == inf else max(0.0, seconds) + 30.0
        options = {"return_as": "generator_unordered", "batch_size": 1, "pre_dispatch": "all", "timeout": limit}
        try:
            with closing(Parallel(n_jobs=-1, backend=self.make_backend(), **options)(calls)) as results:
                for number, messages in results:
                    yield cells[number], messages
        except JoblibTimeoutError:
            return
        except MlcliError:
            raise
        except (Exception, CancelledError) as problem:
            what = f"the cluster stopped: {type(problem).__name__}: {problem}"
            hint = "the answers received so far are stored: run the same command again to continue"
            raise ClusterError(what, hint=hint) from problem


def refuse_unknown_backend(backend: str) -> None:
    """Refuse a backend that does not exist."""
    if backend not in BACKENDS:
        raise UsageError(f"there is no backend '{backend}'", hint=did_you_mean(backend, BACKENDS, "backends"))


@contextmanager
def connected(backend: str, address: str | None, jobs: int, shared: Sequence[object]) -> Iterator[Cluster]:
    """Connect to the cluster at an address, or to a new one of ``jobs`` workers on this machine."""
    try:
        module = import_module(BACKENDS[backend])
    except ImportError as missing:
        hint = f"pip install 'mlcli[{backend}]', here and on the workers"
        what = f"--backend {backend} needs a package that is not installed: {missing.name}"
        raise UsageError(what, hint=hint) from None
    name = f"mlcli-{uuid4().hex}"
    classes = bytes(dumps(workers.main_classes()))
    content = pickle.dumps((allowed_imports(), classes, shared), protocol=5)
    with module.connected(address, jobs, name, content) as (make_backend, fetch):
        yield Cluster(name, make_backend, fetch, shared)


# What workers run.

_shared: dict[str, Sequence[object]] = {}
_one_at_a_time = Lock()


def _evaluated(
    number: int, name: str, fetch: Fetch, content: bytes, expected: Mapping[str, str], deadline: float
) -> tuple[int, Results]:
    """Evaluate a block here, or a cell with a budget in a child process."""
    if versions() != expected:
        what = f"a worker has {versions()}, this process {dict(expected)}: answers might differ"
        raise ClusterError(what, hint="install the same versions everywhere")
    # joblib would otherwise let scikit-learn send its own work to the cluster, and wait for this very worker.
    with _one_at_a_time, cores_for_a_fit(1), parallel_config(backend="sequential", n_jobs=1):
        if name not in _shared:
            imports, classes, objects = pickle.loads(fetch())
            allow_imports(imports)
            vars(sys.modules[workers.MAIN]).update(pickle.loads(classes))
            _shared.clear()
            _shared[name] = objects
        work = workers.unpacked(content, _shared[name])
        if not isinstance(work, workers.Assignment):
            return number, list(workers.results_of(work))
        with workers.WorkerPool(1, supervised=True) as pool:
            until = monotonic() + deadline - time()
            return number, [message for _, message in pool.results([(None, work)], until)]
