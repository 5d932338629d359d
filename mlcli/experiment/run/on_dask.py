"""Blocks on a Dask cluster, including those made by dask-jobqueue or Kubernetes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

import dask
from distributed import Client, KilledWorker, LocalCluster, get_client
from joblib._dask import DaskDistributedBackend

from mlcli.core.errors import UsageError
from mlcli.core.processes import SAFE_PATH, safe_import_path
from mlcli.experiment.run.clusters import Connection


class _Backend(DaskDistributedBackend):  # type: ignore[misc]  # joblib has no types
    """joblib's backend, which by itself would wait forever for a task that Dask has given up."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """At least two: joblib would use this process instead of one worker, and wait seconds for the first."""
        return max(2, int(sum(self.client.ncores().values())))

    def submit(self, func: Any, callback: Callable[[object], None]) -> Any:
        """Submit one block, and report it if Dask gives it up."""
        future, number = super().submit(func, callback), func.items[0][1][0]

        def report(done: Any) -> None:
            if (problem := done.exception()) is not None:
                callback([(number, None)] if isinstance(problem, KilledWorker) else problem)

        future.add_done_callback(report)
        return future


@contextmanager
def connected(address: str | None, jobs: int, name: str, content: bytes) -> Iterator[Connection]:
    """Connect to a Dask scheduler, which keeps the content for all workers, also for those that join later."""
    # A worker that restarts must not have the working folder on its import path either.
    safe = {f"distributed.nanny.pre-spawn-environ.{SAFE_PATH}": "1"}
    with safe_import_path(), dask.config.set(safe):
        local = None if address else LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
    with local or nullcontext():
        try:
            client = Client(local or address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as problem:
            hint = "such as --address tcp://host:8786, where `dask scheduler` runs"
            raise UsageError(f"no Dask scheduler answers at {address}: {problem}", hint=hint) from None
        with client:
            client.set_metadata(name, content)
            yield partial(_Backend, client=client), partial(_fetched, name)
            with suppress(Exception):  # of a scheduler that is gone
                client.set_metadata(name, None)


def _fetched(name: str) -> bytes:
    content: bytes = get_client().get_metadata(name)
    return content
