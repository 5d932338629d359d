"""Blocks on a Ray cluster."""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from math import inf
from time import monotonic
from typing import Any

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of a default that changes
import ray
from ray.exceptions import RayError, RayTaskError, WorkerCrashedError

from mlcli.core.errors import UsageError
from mlcli.core.processes import safe_import_path
from mlcli.experiment.run.clusters import (
    AHEAD,
    RESULTS,
    ClusterError,
    ClusterResults,
    Versions,
    Works,
    content_to_share,
    in_this_worker,
)
from mlcli.experiment.run.reproduction import versions
from mlcli.experiment.run.workers import Message, packed

TRIES = 3
"""How often a block is evaluated again that took its worker with it."""


def _judged(
    name: str, shared: Sequence[Any], work: bytes, expected: Versions, seconds: float
) -> Sequence[Message]:
    """``shared`` is a list of one reference: Ray would fetch a bare one anew for every block."""
    if name not in in_this_worker:
        in_this_worker.put(name, ray.get(shared[0]))
    return in_this_worker.messages(name, work, expected, seconds)


class RayCluster:
    """The workers of a Ray cluster, a core for each block."""

    def __init__(self, address: str | None, jobs: int) -> None:
        try:
            with safe_import_path():
                ray.init(
                    address=address,
                    num_cpus=None if address else jobs,
                    include_dashboard=None if address else False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
        except (ConnectionError, ValueError, RuntimeError) as problem:
            hint = "such as --address host:6379, where `ray start --head` runs"
            raise UsageError(f"no Ray cluster answers at {address}: {problem}", hint=hint) from None
        self._name = uuid.uuid4().hex
        self._judge = ray.remote(num_cpus=1, max_retries=TRIES)(_judged)
        self._shared: Sequence[object] = ()
        self._reference: Any = None

    def share(self, shared: Sequence[object]) -> None:
        """Put what blocks are made of where each machine fetches it once."""
        self._shared = shared
        self._reference = ray.put(content_to_share(shared))

    def results(self, works: Works, until: float) -> ClusterResults:
        """Do works; each tag comes back, in any order, with None for one that took several workers with it."""
        waiting, expected = iter(works), versions()
        tags: dict[Any, Any] = {}
        try:
            while True:
                for tag, work in islice(waiting, max(0, AHEAD * _cores() - len(tags))):
                    given = ([self._reference], packed(work, self._shared), expected, until - monotonic())
                    tags[self._judge.remote(self._name, *given)] = tag
                limit = None if until == inf else max(0.0, until - monotonic())
                done, _ = ray.wait(list(tags), num_returns=1, timeout=limit) if tags else ([], [])
                if not done:
                    return
                yield tags.pop(done[0]), _result_of(done[0])
        finally:
            for reference in tags:
                with suppress(RayError):
                    ray.cancel(reference, force=True)

    def close(self) -> None:
        """Let go of the cluster; one of our own ends."""
        ray.shutdown()


def _cores() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _result_of(reference: Any) -> Sequence[Message] | None:
    try:
        messages: Sequence[Message] = ray.get(reference)
        return messages
    except WorkerCrashedError:
        return None
    except RayTaskError as problem:
        cause = problem.cause if isinstance(problem.cause, ClusterError) else None
        raise cause or ClusterError(f"a worker of Ray: {problem}", hint=RESULTS) from None
    except RayError as problem:
        raise ClusterError(f"the Ray cluster: {type(problem).__name__}: {problem}", hint=RESULTS) from problem
