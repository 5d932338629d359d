"""Blocks on a Ray cluster."""

from __future__ import annotations

import logging
import os
import pickle
import uuid
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of a default that changes
import ray
from ray.exceptions import RayError, RayTaskError, WorkerCrashedError

from mlcli.core.errors import UsageError
from mlcli.experiment.run.clusters import AHEAD, ClusterError, Versions, in_this_worker
from mlcli.experiment.run.fingerprint import versions
from mlcli.experiment.run.judge import WorkerResult
from mlcli.experiment.run.preparation import Block
from mlcli.experiment.run.workers import packed

TRIES = 3
"""How often a block is judged again that took its worker with it."""
RESULTS = "the answers that have come are stored: the same command goes on from there"


def _judged(name: str, shared: Sequence[Any], block: bytes, expected: Versions) -> WorkerResult:
    """``shared`` is a list of one reference: Ray would fetch a bare one anew for every block."""
    if name not in in_this_worker:
        in_this_worker.put(name, ray.get(shared[0]))
    return in_this_worker.judge(name, block, expected)


class RayCluster:
    """The workers of a Ray cluster, a core for each block."""

    def __init__(self, address: str | None, jobs: int) -> None:
        try:
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
        self._reference = ray.put(pickle.dumps(shared, protocol=5))

    def results(self, blocks: Iterable[tuple[Any, Block]]) -> Generator[tuple[Any, WorkerResult | None]]:
        """Judge blocks; each tag comes back, in any order, with None for one that took several workers with it."""
        waiting, expected = iter(blocks), versions()
        tags: dict[Any, Any] = {}
        try:
            while True:
                for tag, block in islice(waiting, max(0, AHEAD * _cores() - len(tags))):
                    content = packed(block, self._shared)
                    tags[self._judge.remote(self._name, [self._reference], content, expected)] = tag
                if not tags:
                    return
                (reference,), _ = ray.wait(list(tags), num_returns=1)
                yield tags.pop(reference), _result_of(reference)
        finally:
            for reference in tags:
                with suppress(RayError):
                    ray.cancel(reference, force=True)

    def close(self) -> None:
        """Let go of the cluster; one of our own ends."""
        ray.shutdown()


def _cores() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _result_of(reference: Any) -> WorkerResult | None:
    try:
        result: WorkerResult = ray.get(reference)
        return result
    except WorkerCrashedError:
        return None
    except RayTaskError as problem:
        cause = problem.cause if isinstance(problem.cause, ClusterError) else None
        raise cause or ClusterError(f"a worker of Ray: {problem}", hint=RESULTS) from None
    except RayError as problem:
        raise ClusterError(f"the Ray cluster: {type(problem).__name__}: {problem}", hint=RESULTS) from problem
