"""Runs that are killed, interrupted or out of disk at random moments: the next one finishes alike."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.soak.results import EXPERIMENT, same_scores, scores_of
from tests.soak.subject import BrokenPromiseError

LONGEST = 600.0
LEFT_ALONE = {"MLCLI_DEBUG": "1", "NO_COLOR": "1"}
ENDED_BY = {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}
MOST_BYTES = 300_000
Process = subprocess.Popen[str]


@dataclass
class Kills:
    """Runs of two workers that somebody disturbs."""

    promise: str = (
        "A run whose process or workers are killed (SIGKILL), which is interrupted (SIGINT, SIGTERM), or whose "
        "disk is full loses no stored block; the same command finishes it, with scores equal to the last digit."
    )
    scores: Any = field(default=None, init=False)
    seconds: float = field(default=1.0, init=False)

    def prepare(self, folder: Path) -> None:
        """What comes of it undisturbed, and how long that takes."""
        (folder / "e.yaml").write_text(EXPERIMENT)
        started = time.monotonic()
        process = _started(folder, "undisturbed.db")
        self.scores = scores_of(_finished(process, (0,)))
        self.seconds = time.monotonic() - started

    def attempt(self, folder: Path, rng: Random) -> None:
        """Disturb a run, and let the next one finish."""
        for left_over in folder.glob("disturbed.db*"):
            left_over.unlink()
        how = rng.choice(WAYS)
        if how is None:
            stopped = _finished(_started(folder, "disturbed.db", rng.randrange(1, MOST_BYTES)), (0, 6))
        else:
            process = _started(folder, "disturbed.db")
            time.sleep(rng.uniform(0.1, 0.9) * self.seconds)
            codes = how(process, rng)
            stopped = _finished(process, codes)
        before = _blocks(folder / "disturbed.db")
        if stopped:
            same_scores(self.scores, scores_of(stopped))
        same_scores(self.scores, scores_of(_finished(_started(folder, "disturbed.db"), (0,))))
        if not before <= _blocks(folder / "disturbed.db"):
            raise BrokenPromiseError("a block that was stored is gone")


def _started(folder: Path, store: str, most_bytes: int | None = None) -> Process:
    """A run as a process of its own, whose files may be limited in size as by a disk."""

    def limited() -> None:
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    words = ["run", "e.yaml", "-j", "2", "--store", store, "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "mlcli", *words],
        cwd=folder,
        env=os.environ | LEFT_ALONE | {"PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,
    )


def _finished(process: Process, codes: tuple[int, ...]) -> str:
    """What it printed, if it came to its end."""
    try:
        printed, said = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        raise BrokenPromiseError("it hangs") from None
    if process.returncode not in codes:
        raise BrokenPromiseError(f"exit code {process.returncode}, not one of {codes}: {said[-2000:]}")
    return printed if process.returncode == 0 else ""


def _end(number: signal.Signals, process: Process, rng: Random) -> tuple[int, ...]:
    process.send_signal(number)
    return ENDED_BY[number], 0


def _kill_a_worker(process: Process, rng: Random) -> tuple[int, ...]:
    workers = _children_of(process.pid)
    if workers:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(workers), signal.SIGKILL)
    return (0,)


def _kill_a_worker_behind_its_back(process: Process, rng: Random) -> tuple[int, ...]:
    """The driver is stopped meanwhile, so that the worker may be killed while it waits to write."""
    process.send_signal(signal.SIGSTOP)
    time.sleep(rng.uniform(0, 0.3))
    _kill_a_worker(process, rng)
    process.send_signal(signal.SIGCONT)
    return (0,)


WAYS: tuple[Callable[[Process, Random], tuple[int, ...]] | None, ...] = (
    *(partial(_end, number) for number in ENDED_BY),
    _kill_a_worker,
    _kill_a_worker_behind_its_back,
    None,
)
"""None: its files reach a limit."""


def _children_of(process: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def _blocks(store: Path) -> set[tuple[int, int]]:
    """The blocks that a store holds."""
    import sqlite3

    if not store.exists():
        return set()
    connection = sqlite3.connect(store)
    try:
        return set(connection.execute("SELECT cell, first FROM blocks"))
    except sqlite3.OperationalError:  # it was ended before there were any tables
        return set()
    finally:
        connection.close()
