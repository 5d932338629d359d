"""One method or its peer in a process of its own: what the first call costs, and how much memory a fit takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

ROOT = Path(__file__).parent.parent
FIRST_ON = (2_000, 20)
MEMORY_ON = (20_000, 20)


def measured(family: str, number: int, whose: str, *, cold: bool = False) -> dict[str, float]:
    """Run this file in a child; ``cold``: where no kernel has been compiled yet."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)} | ({"NUMBA_CACHE_DIR": empty} if cold else {})
        command = [sys.executable, "-m", "benchmarks.alone", family, str(number), whose, "cold" * cold]
        done = subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main(family: str, number: str, whose: str, cold: str) -> None:
    """Print what was measured as JSON."""
    from benchmarks.rows import Made

    pair = import_module(f"benchmarks.families.{family}").PAIRS[int(number)]
    learner = pair.learners()[whose]
    few, _ = Made(*FIRST_ON).halves(pair.kind, 0)
    times = [seconds(learner, few) for _ in range(3)]
    found = {"first call": times[0] - min(times[1:])}
    if not cold:
        rows, columns = MEMORY_ON
        many, _ = Made(min(rows, pair.most), columns).halves(pair.kind, 0)
        before = resident("VmRSS")
        forget_the_peak()
        learner(many)
        found["memory"] = max(0, resident("VmHWM") - before) / 1024
    print(json.dumps(found))


def seconds(learner: Any, rows: Any) -> float:
    """Processor time of one fit."""
    started = process_time()
    learner(rows)
    return process_time() - started


def forget_the_peak() -> None:
    """Let Linux count the peak of resident memory from now on."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def resident(what: str) -> int:
    """Resident memory in KiB: now (VmRSS), or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))


if __name__ == "__main__":
    main(*sys.argv[1:])
