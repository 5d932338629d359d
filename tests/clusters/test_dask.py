"""A Dask cluster of processes of its own: the answers of one process, whatever happens to a worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from distributed import LocalCluster

from mlcli.core.errors import UsageError
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import BatchProgress
from mlcli.experiment.spec.cells import ProtocolSpec
from mlcli.experiment.store.store import Store
from tests.experiment import toy

PATIENCE = 60.0
FEW = ("--no-dashboard",)
ONE_FAILURE = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}


class DaskProcesses:
    """A scheduler and two workers; the second starts anew when it dies."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._started: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        until = monotonic() + PATIENCE
        while not self._file.exists():
            assert monotonic() < until, "no scheduler came"
            sleep(0.05)
        self.address: str = json.loads(self._file.read_text())["address"]
        self.mortal = self._start("worker", "--nthreads", "1", "--no-nanny")
        self._start("worker", "--nthreads", "1", "--nworkers", "1")

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(self._file), *FEW]
        process = subprocess.Popen(command, env=os.environ | ONE_FAILURE, stderr=subprocess.DEVNULL)
        self._started.append(process)
        return process

    def end(self) -> None:
        for process in reversed(self._started):
            process.terminate()
        for process in self._started:
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def dask(fits: Path, tmp_path: Path) -> Iterator[DaskProcesses]:
    processes = DaskProcesses(tmp_path)
    yield processes
    processes.end()


def test_a_cluster_answers_as_one_process_does_though_a_worker_is_killed(
    dask: DaskProcesses, tmp_path: Path
) -> None:
    cells = [
        *(toy.troubled("slow", "always", seed=seed) for seed in range(3)),
        toy.cell("zero-r", toy.values(), kind="regression", protocol=ProtocolSpec("leave-one-out")),
        toy.cell("decision-tree"),
        toy.troubled("refuses"),
        toy.troubled("leaves", seed=9),
    ]
    killed: list[int] = []

    def kill_one(progress: BatchProgress) -> None:
        if progress.done_splits >= 5 and not killed:
            dask.mortal.kill()
            killed.append(dask.mortal.pid)

    with Store.open(tmp_path / "runs.db") as store:
        there = run(cells, store=store, backend="dask", address=dask.address, on_progress=kill_one)
        again = run(cells[:-1], store=store, backend="dask", address="tcp://127.0.0.1:1")
    assert killed
    assert [result.status for result in there] == [*["done"] * 5, "failed", "died"]
    assert toy.digest(there[:-1]) == toy.digest(run(cells[:-1], jobs=1))
    assert toy.digest(again) == toy.digest(there[:-1])
    assert {result.stored for result in again} == {True}


def test_work_that_waits_makes_an_adaptive_cluster_start_workers() -> None:
    cells = [toy.cell("decision-tree", seed=seed) for seed in range(3)]
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=None) as cluster:
        cluster.adapt(minimum=0, maximum=1)
        there = run(cells, backend="dask", address=cluster.scheduler_address)
    assert toy.digest(there) == toy.digest(run(cells, jobs=1))


def test_where_no_scheduler_is_it_is_said() -> None:
    with pytest.raises(UsageError, match="no Dask scheduler answers at nowhere"):
        run([toy.cell()], backend="dask", address="nowhere")


def test_budgets_are_kept_by_the_workers_of_a_cluster(fits: Path, tmp_path: Path) -> None:
    little = 250 * 2**20
    cells = [
        toy.troubled("endless in compiled code", budget=1.0),
        toy.troubled("hungry", memory=little),
        toy.troubled("leaves", budget=60.0),
        toy.cell("decision-tree", budget=60.0),
    ]
    with Store.open(tmp_path / "runs.db") as store:
        there = run(cells, store=store, jobs=2, backend="dask")
        stopped = run([toy.troubled("endless", "always")], jobs=1, backend="dask", total=8.0)
        again = run(cells[:2], store=store, backend="dask", address="tcp://127.0.0.1:1")
    here = run([cells[0], *cells[2:]], jobs=2)
    assert [result.status for result in there] == ["over-budget", "over-budget", "died", "done"]
    assert toy.digest([there[0], *there[2:]]) == toy.digest(here)
    assert [result.stored for result in again] == [True, True]
    assert stopped[0].why == "the 8 s for all cells were over"
