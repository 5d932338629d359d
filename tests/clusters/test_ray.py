"""A Ray cluster on this machine: the answers of one process, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import BatchProgress
from mlcli.experiment.spec.cells import ProtocolSpec
from tests.experiment import toy

AT_WORK = b"ray::PoolActor.run_batch"


def kill_a_worker() -> bool:
    """Kill the first process that judges a block; Ray writes what a process does in its title."""
    for place in Path("/proc").iterdir():
        with suppress(OSError):
            if place.name.isdigit() and (place / "cmdline").read_bytes().startswith(AT_WORK):
                os.kill(int(place.name), signal.SIGKILL)
                return True
    return False


def test_a_cluster_answers_as_one_process_does_though_a_worker_is_killed(fits: Path) -> None:
    cells = [
        *(toy.troubled("slow", "always", seed=seed) for seed in range(4)),
        toy.cell("zero-r", toy.values(), kind="regression", protocol=ProtocolSpec("leave-one-out")),
        toy.cell("decision-tree"),
        toy.troubled("refuses"),
        toy.troubled("endless in compiled code", budget=1.0),
    ]
    killed: list[bool] = []

    def kill_one(progress: BatchProgress) -> None:
        if progress.done_splits >= 5 and not any(killed):
            killed.append(kill_a_worker())

    there = run(cells, jobs=2, backend="ray", on_progress=kill_one)
    assert any(killed)
    assert [result.status for result in there] == [*["done"] * 6, "failed", "over-budget"]
    assert toy.digest(there) == toy.digest(run(cells, jobs=1))
