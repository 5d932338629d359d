"""How far one driver reaches: what a block costs it, how busy workers are, and a simulation of many.

    .venv/bin/python -m benchmarks.scaling        # writes benchmarks/scaling.md in a minute or two

Seconds are of the processor for the driver, and of the clock for workers, whose share of work is a ratio of two
clocks: both are little moved by what else the machine does.
"""

from __future__ import annotations

import heapq
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np

from benchmarks.timing import markdown

FOLDER = Path(__file__).parent
PAGE = FOLDER / "scaling.md"
WORKERS = (1, 2, 4)
SIMULATED = (10, 100, 1_000)
BLOCK_SECONDS = (0.1, 1.0, 10.0, 60.0)
MILLION = 1_000_000
BLOCKS = 100_000
"""Simulated: the end of so many weighs little."""
LATENCY = 0.001
"""Seconds from one machine to another and through its queues, each way."""
AHEAD = 2


@dataclass(frozen=True)
class Measured:
    """What a driver spent on some blocks, and for which share of the time its workers were at work."""

    backend: str
    workers: int
    blocks: int
    driver: float
    busy: float
    sizes: float


def main() -> None:
    """Measure, simulate, write the page."""
    from mlcli.experiment.run.batch import run

    small, large = cells(5, "one-r"), cells(1, "random-forest", trees=10)
    run([*small[:1], *large[:1]], jobs=1)  # loads and compiles, for forks and for the cache of others
    cost = {backend: measured(backend, 2, small) for backend in ("forks", "dask")}
    busy = [measured(backend, count, large) for backend in ("forks", "dask") for count in WORKERS]
    prepared = preparation(small)
    text = page(cost, busy, prepared)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def cells(seeds: int, model: str, **params: object) -> list[Any]:
    """Cells of 60 splits each, which are 60 blocks."""
    from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec
    from mlcli.experiment.spec.plan import plan

    folds = ProtocolSpec("k-fold", {"folds": 10, "repeats": 6})
    asked = [
        Experiment((DataSpec("segment"),), (ModelSpec(model, params),), folds, seed=seed, shortcuts=False)
        for seed in range(seeds)
    ]
    return [cell for one in asked for cell in plan(one) if cell.model.use == model]


def measured(by: str, workers: int, of: Sequence[Any]) -> Measured:
    """Run cells into a store of their own."""
    from mlcli.experiment.results import each
    from mlcli.experiment.run.batch import run
    from mlcli.experiment.store.store import Store

    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "runs.db") as store:
        with dask_cluster(Path(folder), workers) if by == "dask" else nothing() as address:
            backend = "dask" if by == "dask" else None
            processor, clock = process_time(), perf_counter()
            results = run(of, store=store, jobs=workers, patience=0.0, backend=backend, address=address)
            processor, clock = process_time() - processor, perf_counter() - clock
        seconds = [one for result in results for one in each(result.splits, "seconds")]
        (size,) = store.database.one("SELECT avg(length(payload)) FROM blocks")
    blocks = len(seconds)
    return Measured(by, workers, blocks, processor / blocks, sum(seconds) / workers / clock, size)


@contextmanager
def nothing() -> Iterator[None]:
    """No cluster."""
    yield None


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[str]:
    """A scheduler and workers as processes of their own, ready to work."""
    file = folder / "scheduler.json"
    words = [sys.executable, "-m", "dask"]
    place = ["--scheduler-file", str(file), "--no-dashboard"]
    quiet = subprocess.DEVNULL
    scheduler = subprocess.Popen([*words, "scheduler", "--host", "127.0.0.1", "--port", "0", *place], stderr=quiet)
    started = [scheduler]
    try:
        while not file.exists():
            sleep(0.05)
        started += [
            subprocess.Popen([*words, "worker", "--nthreads", "1", "--no-nanny", *place], stderr=quiet)
            for _ in range(workers)
        ]
        address = str(json.loads(file.read_text())["address"])
        from distributed import Client

        with Client(address) as client:
            client.wait_for_workers(workers)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()


def preparation(of: Sequence[Any]) -> tuple[float, float]:
    """Seconds and bytes of one more cell in the books of the driver, tables and splits of its own left out."""
    from mlcli.experiment.run.batch_state import BatchState

    many = [of[0]] * 1
    BatchState(many, None, None)
    tracemalloc.start()
    started = process_time()
    state = BatchState(list(of) * 10, None, None)
    spent, (held, _) = process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    count = len(state.all_progress)
    return spent / count, held / count


def simulated(workers: int, seconds: np.ndarray[Any, Any], cost: float) -> tuple[float, float]:
    """The efficiency of workers, and the share of its time that the driver is at work.

    The driver handles one block after another: it stores what has come and sends the next. Each worker has one
    block at work and one waiting.
    """
    driver, count = 0.0, 0
    free = [0.0] * workers
    coming: list[tuple[float, int]] = []

    def send(worker: int) -> None:
        nonlocal count
        free[worker] = max(free[worker], driver + LATENCY) + float(seconds[count])
        heapq.heappush(coming, (free[worker], worker))
        count += 1

    for place in range(min(AHEAD * workers, len(seconds))):
        driver += cost / 2
        send(place % workers)
    while coming:
        finished, worker = heapq.heappop(coming)
        driver = max(driver, finished + LATENCY) + cost
        if count < len(seconds):
            send(worker)
    return float(seconds.sum()) / workers / driver, len(seconds) * cost / driver


def page(cost: Mapping[str, Measured], busy: Sequence[Measured], prepared: tuple[float, float]) -> str:
    """The page."""
    spread = np.random.default_rng(1).lognormal(0.0, 1.0, BLOCKS)
    spread /= spread.mean()
    dask, (seconds, size) = cost["dask"], prepared
    costs = [
        (
            one.backend,
            f"{one.blocks:,}",
            f"{1000 * one.driver:.2f} ms",
            f"{1 / one.driver:,.0f}",
            f"{one.sizes:,.0f}",
        )
        for one in cost.values()
    ]
    shares = [(name, *(f"{one.busy:.0%}" for one in busy if one.backend == name)) for name in cost]
    simulations = [
        (f"{mean:g} s", *(_share(*simulated(workers, mean * spread, dask.driver)) for workers in SIMULATED))
        for mean in BLOCK_SECONDS
    ]
    return TEMPLATE.format(
        costs=markdown(("backend", "blocks", "a block", "blocks a second, at most", "bytes of answers"), costs),
        shares=markdown(("backend", *(f"by {count}" for count in WORKERS)), shares),
        cores=os.cpu_count(),
        blocks=f"{BLOCKS:,}",
        latency=f"{1000 * LATENCY:g}",
        simulations=markdown(("mean of a block", *(f"{count:,} workers" for count in SIMULATED)), simulations),
        rate=f"{1 / dask.driver:,.0f}",
        long_enough=f"{1000 * dask.driver:.1f}",
        cell=f"{1000 * seconds:.2f} ms and {size / 1000:.1f} kB",
        cells=f"{seconds * MILLION / 60:.0f} min and {size * MILLION / 1e9:.1f} GB",
        answers=f"{dask.sizes * MILLION / 1e9:.1f} GB",
    )


def _share(efficiency: float, driver: float) -> str:
    return f"{efficiency:.0%} ({driver:.0%})"


TEMPLATE = """\
# How far one driver reaches

Written by `python -m benchmarks.scaling`. One process plans, hands out blocks and writes the store; workers
only judge.

## What a block costs the driver

Seconds of the processor for handing out a block, receiving its answers and storing them: 60 splits of
`one-r` on segment in each of 5 cells, 2 workers.

{costs}

## How busy workers are

The share of the clock for which workers were judging: `random-forest` of 10 trees, 60 blocks, on {cores}
cores. Starting workers of one's own counts as idle time; those of Dask were there already. Measured beside
other work on the machine, which the shares do not quite leave out.

{shares}

## Simulated

{blocks} blocks: the efficiency of workers, and in brackets how busy the driver is, with the measured cost
of a block on Dask, times of blocks spread as exp(N(0, 1)), and {latency} ms to a worker and as long back.

{simulations}

## What breaks first

The driver. It handles about {rate} blocks a second: workers wait for it as soon as their number divided by
the mean seconds of a block is more than that. A thousand workers are kept busy from blocks of about
{long_enough} s on. Next come its books: a cell takes {cell} before anything runs, besides tables and
splits, which is {cells} for a million cells. The store grows by the answers: a million blocks like these
are {answers}. Beyond these limits, [shards](../docs/guides/clusters.md) divide driver, books and store.
"""


if __name__ == "__main__":
    main()
