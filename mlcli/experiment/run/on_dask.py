"""Blocks on a Dask cluster, also one that dask-jobqueue or Kubernetes has made."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from threading import Thread
from time import monotonic, sleep
from typing import Any

import dask
from distributed import Client, Future, KilledWorker, LocalCluster, WorkerPlugin, as_completed

from mlcli.core.errors import UsageError
from mlcli.core.processes import SAFE_PATH, safe_import_path
from mlcli.core.quantities import duration
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

PATIENCE = "10s"
"""For a scheduler to answer."""
STARTED_SAFELY = {f"distributed.nanny.pre-spawn-environ.{SAFE_PATH}": "1"}
"""So that a worker that is started again later has no working folder on its import path either."""
COUNT_EVERY = 5.0
"""Seconds after which workers are counted again: they may come and go, in a queue for as long as there is work."""


POLL_EVERY, LOOK_EVERY = 0.02, 5.0
"""Seconds after which it is asked whether a block is evaluated, and whether workers are heard of."""
MOST_SILENCE = 120.0
"""Seconds without a heartbeat after which a worker is taken as stopped; they come every few seconds at least."""
MOST_FOR_GOODBYE = 10.0
"""Seconds that workers have to let go of what they were sent."""


class _SharedObjects(WorkerPlugin):  # type: ignore[misc]  # Dask has no types
    """What a worker is given when it joins: the scheduler keeps it for those that come later."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self._content = name, content

    def setup(self, worker: Any) -> None:
        in_this_worker.put(self.name, self._content)


class _Call(Thread):
    """A call in a thread of its own, waited for only as long as one likes."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._call, self._problem = call, list[Exception]()
        self.start()

    def run(self) -> None:
        """Make the call, and keep what it ends in."""
        try:
            self._call()
        except Exception as problem:
            self._problem.append(problem)

    def is_done(self, within: float) -> bool:
        """Whether it is over within some seconds; what it has raised is raised."""
        self.join(within)
        for problem in self._problem:
            raise problem
        return not self.is_alive()


def _judged(name: str, work: bytes, expected: Versions, seconds: float) -> Sequence[Message]:
    return in_this_worker.messages(name, work, expected, seconds)


class DaskCluster:
    """The workers of a scheduler."""

    def __init__(self, address: str | None, jobs: int) -> None:
        self._local = None
        if address is None:
            with safe_import_path(), dask.config.set(STARTED_SAFELY):
                self._local = LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
        try:
            self._client = Client(self._local or address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as problem:
            hint = "such as --address tcp://host:8786, where `dask scheduler` runs"
            raise UsageError(f"no Dask scheduler answers at {address}: {problem}", hint=hint) from None
        self._name = f"mlcli-{uuid.uuid4().hex}"
        self._shared: Sequence[object] = ()
        self._counted, self._slots = 0.0, 0
        self._heard: dict[str, tuple[float, float]] = {}
        """By address the last heartbeat that the scheduler knows of, and when it was a new one by our clock."""

    def share(self, shared: Sequence[object]) -> None:
        """Send to each worker, those that come later included, what blocks are made of."""
        self._shared = shared
        plugin = _SharedObjects(self._name, content_to_share(shared))
        sending = _Call(partial(self._client.register_plugin, plugin))
        while not sending.is_done(LOOK_EVERY):
            self._refuse_silence(of_any=True)

    def results(self, works: Works, until: float) -> ClusterResults:
        """Do works; each tag comes back, in any order, with None for one that took several workers with it."""
        waiting, expected = iter(works), versions()
        tags: dict[Future, Any] = {}
        done = as_completed([], loop=self._client.loop)
        try:
            while True:
                for tag, work in islice(waiting, max(0, AHEAD * self._workers() - len(tags))):
                    given = (self._name, packed(work, self._shared), expected, until - monotonic())
                    future = self._client.submit(_judged, *given, pure=False)
                    tags[future] = tag
                    done.add(future)
                if not tags:
                    return
                future = self._next_done(done, until)
                yield tags.pop(future), _result_of(future)
        except TimeoutError:
            return
        finally:
            with suppress(Exception):  # of a scheduler that is gone
                self._client.cancel(list(tags))

    def close(self) -> None:
        """Let go of the scheduler; a cluster of our own ends."""
        with suppress(Exception):  # workers that are stopped would be waited for
            _Call(partial(self._client.unregister_worker_plugin, self._name)).is_done(MOST_FOR_GOODBYE)
        self._client.close()
        if self._local is not None:
            self._local.close()

    def _next_done(self, done: Any, until: float) -> Future:
        """The next block that is evaluated, waited for as long as one of its workers is heard of."""
        looked = monotonic()
        while not done.has_ready():
            if monotonic() >= until:
                raise TimeoutError
            if monotonic() - looked > LOOK_EVERY:
                self._refuse_silence()
                looked = monotonic()
            sleep(POLL_EVERY)
        return next(done)

    def _refuse_silence(self, *, of_any: bool = False) -> None:
        """Stop waiting where every worker that has a block has been silent for long, as one that is stopped is.

        While others work, Dask itself hands the blocks of a silent worker to them (``worker-ttl``). ``of_any``:
        what is waited for needs all workers.
        """
        try:
            heartbeats: dict[str, float] = self._client.run_on_scheduler(
                lambda dask_scheduler: {
                    worker.address: worker.last_seen
                    for worker in dask_scheduler.workers.values()
                    if of_any or worker.processing
                }
            )
        except Exception:  # a scheduler that is gone is told by the blocks
            return
        for address, heartbeat in heartbeats.items():
            if self._heard.get(address, (None, 0.0))[0] != heartbeat:
                self._heard[address] = (heartbeat, monotonic())
        silent = [address for address in heartbeats if monotonic() - self._heard[address][1] > MOST_SILENCE]
        if silent and (of_any or len(silent) == len(heartbeats)):
            what = f"workers that are needed were not heard of for {duration(MOST_SILENCE)}: {', '.join(silent)}"
            raise ClusterError(what, hint=f"let them go on (kill -CONT), or end them; {RESULTS}")

    def _workers(self) -> int:
        if not self._counted or monotonic() - self._counted > COUNT_EVERY:
            threads = self._client.nthreads().values()
            if max(threads, default=1) > 1:
                what = f"workers with {max(threads)} threads each would evaluate one block at a time"
                raise UsageError(what, hint="start them with one: dask worker ... --nworkers 8 --nthreads 1")
            self._slots, self._counted = max(1, len(threads)), monotonic()
        return self._slots


def _result_of(future: Future) -> Sequence[Message] | None:
    try:
        messages: Sequence[Message] = future.result()
        return messages
    except KilledWorker:
        return None
    except ClusterError:
        raise
    except Exception as problem:
        raise ClusterError(f"the Dask cluster: {type(problem).__name__}: {problem}", hint=RESULTS) from problem
