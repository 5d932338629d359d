"""Blocks on a Ray cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of a default that changes
import ray
from ray.exceptions import RayActorError
from ray.util.joblib.ray_backend import RayBackend

from mlcli.core.errors import UsageError
from mlcli.core.processes import safe_import_path
from mlcli.experiment.run.clusters import Connection

ACTORS = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": 3}
"""A worker for each core; one that is lost is replaced, and its blocks are tried three times more."""


class _Backend(RayBackend):  # type: ignore[misc]  # Ray has no types
    """Ray's backend for joblib, which by itself would stop at the first block that is lost."""

    supports_return_generator = True

    def submit(self, func: Any, callback: Callable[[object], None]) -> Any:
        """Submit one block, and report it if Ray gives it up."""
        lost = [(func.items[0][1][0], None)]
        return super().submit(func, lambda done: callback(lost if isinstance(done, RayActorError) else done))

    def terminate(self) -> None:
        """End the workers; Ray would first ask them to end, and retry what they cannot answer any more."""
        if self._pool is not None:
            for actor, _ in self._pool._actor_pool:
                ray.kill(actor)
            self._pool._actor_pool.clear()
        super().terminate()


@contextmanager
def connected(address: str | None, jobs: int, name: str, content: bytes) -> Iterator[Connection]:
    """Connect to a Ray cluster, and put the content into its object store."""
    cores = None if address else max(2, jobs)  # with only one, joblib would work in this process
    quiet = {
        "include_dashboard": None if address else False,
        "log_to_driver": False,
        "logging_level": logging.ERROR,
    }
    try:
        with safe_import_path():
            ray.init(address=address, num_cpus=cores, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as problem:
        hint = "such as --address host:6379, where `ray start --head` runs"
        raise UsageError(f"no Ray cluster answers at {address}: {problem}", hint=hint) from None
    try:
        if ray.cluster_resources().get("CPU", 0) < 2:
            raise UsageError(
                "the Ray cluster has fewer than two cores", hint="run without --backend, or add cores"
            )
        yield partial(_Backend, ray_remote_args=ACTORS), partial(ray.get, ray.put(content))
    finally:
        ray.shutdown()
